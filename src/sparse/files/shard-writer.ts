/**
 * @file Writes one shard of a table to a new file.
 *
 * Left alone, the system would keep most of a file in memory until it is forced to disk at the end, and the disk would
 * idle until then. So every so many bytes are sent on their way while the next rows are encoded.
 */
import { FileSink } from '../../base/files/atomic-file.js';
import type { FileSystem } from '../../base/files/file-system.js';
import type { RowRange } from '../../io/shard-files.js';
import { ShardEncoder, writeChunks } from './shard-encoder.js';
import type { TableImage } from './stored-table.js';

/** Enough to keep a disk busy, and few enough that little is left to do at the end. */
const SYNC_BYTES = 32 << 20;

export interface WriteShardOptions {
  readonly bufferBytes?: number | undefined;
  readonly sync?: boolean | undefined;
  /** Bytes after which what is written is forced to disk while more is encoded. Default: 32 MiB. */
  readonly syncBytes?: number | undefined;
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
  { bufferBytes, sync = true, syncBytes = SYNC_BYTES, checksum = false }: WriteShardOptions = {},
): Promise<WrittenShard> {
  const encoder = new ShardEncoder(image, range, bufferBytes === undefined ? {} : { bufferBytes });
  const sink = await FileSink.create(path, fs, { checksum });
  const behind = new SyncBehind(sink, syncBytes);
  try {
    await writeChunks(encoder.chunks(), async (bytes) => {
      await sink.write(bytes);
      if (sync) behind.begin();
    });
    await behind.end();
    if (sync) await sink.finish();
  } finally {
    encoder.close();
    await behind.settled();
    await sink.close();
  }
  return { rows: encoder.count, bytes: sink.sizeBytes, crc: sink.crc };
}

/** Forces a file to disk while it is being written, one go at a time. */
class SyncBehind {
  readonly #sink: FileSink;
  readonly #everyBytes: number;
  #syncedBytes = 0;
  #pending: Promise<void> | null = null;
  #failure: { readonly cause: unknown } | null = null;

  constructor(sink: FileSink, everyBytes: number) {
    this.#sink = sink;
    this.#everyBytes = everyBytes;
  }

  /** Begins another go if there is enough to write and the last one is through. */
  begin(): void {
    if (this.#pending !== null || this.#sink.sizeBytes - this.#syncedBytes < this.#everyBytes) return;
    this.#syncedBytes = this.#sink.sizeBytes;
    this.#pending = this.#run();
  }

  /** Waits for the go under way. An error of any of them is thrown: the system tells of a lost page only once. */
  async end(): Promise<void> {
    await this.settled();
    if (this.#failure !== null) throw this.#failure.cause;
  }

  async settled(): Promise<void> {
    await this.#pending;
  }

  async #run(): Promise<void> {
    try {
      await this.#sink.sync();
    } catch (cause) {
      this.#failure ??= { cause };
    }
    this.#pending = null;
  }
}
