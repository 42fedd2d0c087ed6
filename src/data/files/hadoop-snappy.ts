/**
 * @file Snappy as Hadoop writes it: blocks of a big-endian length, and chunks with a length each until so many bytes
 * came out. It is not the form that TensorFlow writes, nor snappy's own framing.
 */
import { MonolithError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { snappyUncompress } from '../../io/snappy.js';
import { snappyMaxBytes } from '../../io/snappy-writer.js';
import { PieceBuffer } from './piece-buffer.js';

const LENGTH = 4;

/** The bytes that were compressed; ML_SNAPPY for a stream that is cut or says what cannot be. */
export async function* hadoopSnappy(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const buffer = new PieceBuffer(pieces);
  try {
    for (;;) {
      const first = await buffer.fill(LENGTH);
      if (first === 0) return;
      let left = await length(buffer, LIMITS.recordBytes);
      while (left > 0) {
        const size = await length(buffer, snappyMaxBytes(LIMITS.snappyBlockBytes));
        if ((await buffer.fill(size)) < size) throw refused('a chunk is cut off');
        const chunk = snappyUncompress(buffer.take(size));
        if (chunk.length > left || chunk.length === 0) {
          throw refused(`a chunk of ${chunk.length} bytes where ${left} are left`);
        }
        left -= chunk.length;
        yield Buffer.from(chunk.buffer);
      }
    }
  } finally {
    await buffer.close();
  }
}

async function length(buffer: PieceBuffer, most: number): Promise<number> {
  if ((await buffer.fill(LENGTH)) < LENGTH) throw refused('a length is cut off');
  const bytes = buffer.take(LENGTH);
  const found = new DataView(bytes.buffer, bytes.byteOffset, LENGTH).getUint32(0);
  if (found > most) throw refused(`a length of ${found} is over the limit of ${most}`);
  return found;
}

const refused = (reason: string) => new MonolithError('ML_SNAPPY', { reason });
