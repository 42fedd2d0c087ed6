/** @file Writes one shard of a table to a new file. */
import { FileSink } from '../../io/atomic-file.js';
import type { FileSystem } from '../../io/file-system.js';
import { type RowRange, ShardEncoder, writeChunks } from './shard-encoder.js';
import type { TableImage } from './stored-table.js';

export interface WriteShardOptions {
  readonly bufferBytes?: number | undefined;
  readonly sync?: boolean | undefined;
  /** Also sums the bytes of the whole file. */
  readonly checksum?: boolean | undefined;
}

export interface WrittenShard {
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32C of the file, 0 unless asked for. */
  readonly crc: number;
}

export async function writeShard(
  image: TableImage,
  range: RowRange,
  path: string,
  fs: FileSystem,
  { bufferBytes, sync = true, checksum = false }: WriteShardOptions = {},
): Promise<WrittenShard> {
  const encoder = new ShardEncoder(image, range, bufferBytes === undefined ? {} : { bufferBytes });
  const sink = await FileSink.create(path, fs, { checksum });
  try {
    await writeChunks(encoder.chunks(), (bytes) => sink.write(bytes));
    if (sync) await sink.finish();
  } finally {
    encoder.close();
    await sink.close();
  }
  return { rows: encoder.count, bytes: sink.sizeBytes, crc: sink.crc };
}
