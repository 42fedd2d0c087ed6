/**
 * @file The bytes of a data file or of standard input, in pieces, decompressed by what the first of them are: gzip (of
 * several members too), zlib, zstd; and snappy as Hadoop writes it by the ending `.snappy`.
 */
import { createReadStream, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { MonolithError, messageOf } from '../../base/errors.js';
import { openRegularHandle } from '../../base/files/read-file.js';

/** Name of standard input. */
export const STDIN = '-';

const READ_BYTES = 1 << 18;
const NO_ZSTD = `zstd cannot come from standard input on Node.js ${process.versions.node}: 22.15 and later can`;

/** How a file is compressed, by its first bytes. */
export type Compression = 'gzip' | 'zlib' | 'zstd' | 'snappy' | 'none';

/** What the first bytes of a file say. */
export function compressionOf(start: Uint8Array, file: string): Compression {
  const [a = 0, b = 0, c = 0, d = 0] = start;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  // Levels of zlib whose second byte no text has: `x^`, the fourth, could be one.
  if (a === 0x78 && [0x01, 0x9c, 0xda].includes(b)) return 'zlib';
  // Hadoop's snappy begins with a length, as anything may: its name says what it is.
  return file.endsWith('.snappy') ? 'snappy' : 'none';
}

/** The file's bytes; what goes wrong is ML_FILE_READ, and it is closed when the reader stops early. */
export async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const { source, stat } = await openSource(file);
  const opened = await stat?.();
  let decoded: Readable = source;
  try {
    const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await iterator.next();
    if (first.done === true) return;
    const compression = compressionOf(first.value, file);
    const transform = decoderOf(compression);
    if (transform !== undefined) {
      decoded = decode(iterator, first.value, transform);
      for await (const piece of decoded) yield piece as Buffer;
    } else if (compression === 'zstd') {
      if (file === STDIN) throw new Error(NO_ZSTD);
      yield* (await import('./zstd-pieces.js')).zstdPieces(file);
    } else if (compression === 'snappy') {
      yield* (await import('./hadoop-snappy.js')).hadoopSnappy(withFirst(iterator, first.value));
    } else {
      for await (const piece of withFirst(iterator, first.value)) yield piece;
    }
    if (opened !== undefined) checkUnchanged(file, opened, await stat!());
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  } finally {
    decoded.destroy();
    source.destroy();
  }
}

async function openSource(file: string): Promise<{ readonly source: Readable; readonly stat?: () => Promise<Stats> }> {
  if (file === STDIN) return { source: process.stdin };
  const handle = await openRegularHandle(file);
  const source = createReadStream(basename(file), { fd: handle, highWaterMark: READ_BYTES, autoClose: false });
  source.on('close', () => void handle.close().catch(() => undefined));
  return { source, stat: () => handle.stat() };
}

/** ML_DATASET for a file that somebody wrote to while it was read: its rows are of two states. */
export function checkUnchanged(file: string, before: FileState, after: FileState): void {
  if (before.size === after.size && before.mtimeMs === after.mtimeMs) return;
  const hint = 'write a new file beside it and rename it when it is whole, or read it when nobody writes';
  throw new MonolithError('ML_DATASET', { reason: `${file} changed while it was read` }, { hint });
}

interface FileState {
  readonly size: number | bigint;
  readonly mtimeMs: number | bigint;
}

/** What Node.js decompresses itself, in other threads. */
function decoderOf(compression: Compression): Transform | undefined {
  switch (compression) {
    case 'gzip':
      return zlib.createGunzip();
    case 'zlib':
      return zlib.createInflate();
    case 'zstd':
      return (zlib as { readonly createZstdDecompress?: () => Transform }).createZstdDecompress?.();
    case 'snappy':
    case 'none':
      return undefined;
    default:
      return compression satisfies never;
  }
}

function decode(rest: AsyncIterator<Buffer>, first: Buffer, transform: Transform): Readable {
  const out = new PassThrough({ highWaterMark: READ_BYTES });
  // The error of any of them destroys `out`, whose reader throws it.
  pipeline(
    () => withFirst(rest, first),
    transform,
    out,
    () => {},
  );
  return out;
}

async function* withFirst(rest: AsyncIterator<Buffer>, first: Buffer): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
