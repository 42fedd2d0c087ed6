/**
 * @file The one way a table becomes shards of records: of a single table and of a checkpoint alike, from its memory or
 * from rows that somebody hands out. Where files are written, and when they take their names, is up to the caller.
 */
import { MonolithError } from '../../base/errors.js';
import { FileSink, writingTo } from '../../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { EntryDumpCodec, type EntryRow } from '../../io/entry-dump.js';
import type { DumpSegment } from '../../io/optimizer-dump.js';
import { RecordWriter } from '../../io/record-writer.js';
import { type RowRange, shardCountOf, shardFileName, shardRange } from '../../io/shard-files.js';
import { changedTable } from './shard-encoder.js';
import { ShardThreads } from './shard-threads.js';
import { type WriteShardOptions, type WrittenShard, writeShard } from './shard-writer.js';
import { TableImage } from './stored-table.js';

/** Shards are numbered with five digits. */
const SHARDS_MAX = 99999;

/** A table that is no memory, such as that of a checkpoint that was read. */
export interface RowSource {
  readonly name: string;
  readonly segments: readonly DumpSegment[];
  readonly rowCount: number;
  /** Exactly `rowCount` rows. The object may be the same for all rows. */
  rows(): Iterable<EntryRow>;
}

export interface WriteTableOptions extends Omit<WriteShardOptions, 'syncBytes'> {
  /** Files to split the rows into. Default: one per million rows, from one to four. */
  readonly nshards?: number | undefined;
  readonly fileSystem?: FileSystem | undefined;
  /** Rows the table had when the save was asked for. Default: those it has now. */
  readonly rows?: number;
  /** Threads that write at the same time. Default: as many as there are processors for large tables. */
  readonly threads?: number | undefined;
}

export interface TableShard extends WrittenShard {
  /** The name it is to have. */
  readonly file: string;
}

/**
 * Writes the rows of a table as the shards of `base`, each to the path that `pathOf` has for its name. ML_CKPT_WRITE
 * names the shard; what was written until then is the caller's to remove.
 */
export async function writeTable(
  table: TableImage | RowSource,
  base: string,
  pathOf: (file: string) => string,
  options: WriteTableOptions = {},
): Promise<TableShard[]> {
  const rows = options.rows ?? (table instanceof TableImage ? table.size : table.rowCount);
  const count = checkedShardCount(rows, options.nshards, base);
  const shards = Array.from({ length: count }, (_, shard) => {
    const file = shardFileName(base, shard, count);
    return { file, path: pathOf(file), range: shardRange(rows, shard, count) };
  });
  const write = table instanceof TableImage ? writeImage : writeRowSource;
  return write(table as TableImage & RowSource, base, shards, { ...options, rows });
}

export function checkedShardCount(rows: number, nshards: number | undefined, base: string): number {
  const count = shardCountOf(rows, nshards);
  if (Number.isSafeInteger(count) && count >= 1 && count <= SHARDS_MAX) return count;
  throw new MonolithError('ML_CKPT_WRITE', { file: base, reason: `rows cannot be split into ${nshards} files` });
}

interface PlacedShard {
  readonly file: string;
  readonly path: string;
  readonly range: RowRange;
}

/** From where the rows are, shards at the same time when there are many. */
async function writeImage(
  image: TableImage,
  base: string,
  shards: readonly PlacedShard[],
  { fileSystem: fs = nodeFileSystem, threads: wanted, rows, ...options }: WriteTableOptions & { readonly rows: number },
): Promise<TableShard[]> {
  // A file system of the caller's cannot follow into threads.
  const threads = ShardThreads.start(image, shards.length, rows, fs === nodeFileSystem ? wanted : 1);
  try {
    const written = await threads.each(shards, ({ file, path, range }, thread) =>
      writingTo(file, async () => {
        const shard = thread?.writeShard(range, path, options) ?? writeShard(image, range, path, fs, options);
        return { file, ...(await shard) };
      }),
    );
    if (image.size !== rows) throw changedTable(base);
    return written;
  } finally {
    await threads.close();
  }
}

/** One shard after the other, in the order the rows come. */
async function writeRowSource(
  table: RowSource,
  base: string,
  shards: readonly PlacedShard[],
  { fileSystem: fs = nodeFileSystem }: WriteTableOptions,
): Promise<TableShard[]> {
  const codec = new EntryDumpCodec(table.segments);
  const rows = table.rows()[Symbol.iterator]();
  const written: TableShard[] = [];
  let finished = false;
  try {
    for (const { file, path, range } of shards) {
      const count = range.end - range.begin;
      const { sizeBytes, crc } = await writingTo(file, () => writeRows(path, codec, rows, count, fs));
      written.push({ file, rows: count, bytes: sizeBytes, crc });
    }
    finished = rows.next().done === true;
    if (!finished) {
      const reason = `table ${table.name} gave more than the ${table.rowCount} rows it announced`;
      throw new MonolithError('ML_CKPT_WRITE', { file: base, reason });
    }
  } finally {
    // A generator may hold a lock on the table until it is told that nobody wants more.
    if (!finished) rows.return?.();
  }
  return written;
}

async function writeRows(
  path: string,
  codec: EntryDumpCodec,
  rows: Iterator<EntryRow>,
  count: number,
  fs: FileSystem,
): Promise<FileSink> {
  const sink = await FileSink.create(path, fs);
  try {
    const writer = new RecordWriter(sink);
    for (let i = 0; i < count; i++) {
      const next = rows.next();
      if (next.done) throw new RangeError(`the table ended after ${i} of the ${count} rows of this file`);
      const at = writer.begin(codec.maxBytes);
      writer.end(codec.encode(next.value, writer.bytes, writer.view, at));
      if (writer.full) await writer.flush();
    }
    await writer.flush();
    await sink.finish();
    return sink;
  } finally {
    await sink.close();
  }
}
