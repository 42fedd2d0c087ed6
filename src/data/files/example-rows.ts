/**
 * @file Rows of a TFRecord file of `tensorflow.Example`, compressed or not: one value of a feature is a cell, several
 * are a list.
 */
import { crc32c, maskCrc } from '../../base/crc32c.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { ExampleRows } from './example-row.js';
import { PieceBuffer, u64 } from './piece-buffer.js';
import { type DataRow, withPlace } from './place.js';
import { readBytes } from './read-bytes.js';

/** Rows that are handed on together. */
const BLOCK_ROWS = 512;

export async function* exampleRows(file: string, onBadRow: (error: MonolithError) => void): AsyncGenerator<DataRow[]> {
  const buffer = new PieceBuffer(readBytes(file));
  try {
    const made = new ExampleRows();
    let rows: DataRow[] = [];
    let record = 0;
    for (; ; record++) {
      const byte = buffer.offset;
      const payload = await nextPayload(file, buffer, record);
      if (payload === undefined) break;
      try {
        rows.push(withPlace(made.row(payload), { file, line: record, byte, unit: 'record' }));
      } catch (cause) {
        const where = `${file} record ${record}, byte ${byte}`;
        const fields = { where, row: record, column: '(all)', reason: messageOf(cause) };
        onBadRow(new MonolithError('ML_DATA', fields, { cause }));
      }
      if (rows.length < BLOCK_ROWS) continue;
      yield rows;
      rows = [];
    }
    if (record === 0) throw new MonolithError('ML_DATASET', { reason: `${file} is empty` });
    if (rows.length > 0) yield rows;
  } finally {
    await buffer.close();
  }
}

/** The next record of the file; undefined at its end. ML_RECORD for one that is cut or damaged. */
async function nextPayload(file: string, buffer: PieceBuffer, record: number): Promise<Uint8Array | undefined> {
  const { offset } = buffer;
  const refused = (field: string, reason: string) =>
    new MonolithError('ML_RECORD', { file, record, field, offset, reason });
  const found = Math.min(RECORD_HEADER_BYTES, await buffer.fill(RECORD_HEADER_BYTES));
  if (found === 0) return undefined;
  if (found < RECORD_HEADER_BYTES) {
    throw refused('length', `file ends after ${found} of ${RECORD_HEADER_BYTES} header bytes`);
  }
  const header = buffer.take(RECORD_HEADER_BYTES);
  const size = Number(u64(header));
  if (word(header, 8) !== maskCrc(crc32c(header.subarray(0, 8)))) throw refused('length checksum', 'it does not match');
  checkLimit('recordBytes', size, (reason) => {
    throw refused('length', reason);
  });
  const bytes = size + RECORD_FOOTER_BYTES;
  const left = await buffer.fill(bytes);
  if (left < bytes) throw refused('payload', `file ends after ${left} of ${bytes} bytes`);
  const payload = buffer.take(size);
  if (word(buffer.take(RECORD_FOOTER_BYTES), 0) !== maskCrc(crc32c(payload))) {
    throw refused('payload checksum', 'it does not match');
  }
  return payload;
}

const word = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
