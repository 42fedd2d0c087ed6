/**
 * @file Restores several tables from one set of files. Tables are not cleared, as in the reference: rows of the files
 * go over what is there. All files are checked before the first row changes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MonolithError } from '../../base/errors.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { SnappyRecordReader } from '../../io/snappy-record-reader.js';
import { DUMP_SLACK_BYTES } from '../../memory/dump-layout.js';
import { HashTable } from '../table/hash-table.js';
import { FreshPartitions } from './fresh-partitions.js';
import { META_SUFFIX, readMeta, type TableMeta } from './multi-meta.js';
import { type PendingRows, shardFilesOf } from './restore-table.js';
import { cutRecord, RowDecoder } from './row-decoder.js';
import { asTableFile, corruptRecord } from './row-errors.js';
import type { NamedTable } from './save-multi-table.js';
import type { TableImage } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';

/** Records that are passed over between two looks at other work. */
const SKIPS_PER_TURN = 16384;

export interface RestoredMultiTable {
  /** Rows read, by table. */
  readonly featureCounts: ReadonlyMap<string, number>;
  /** Tables of the files that nobody asked for. */
  readonly skipped: readonly string[];
  /** Tables that the files do not have; they stay as they were. A line for the log each. */
  readonly warnings: readonly string[];
}

interface Shard {
  readonly file: string;
  readonly metas: readonly TableMeta[];
}

/**
 * Puts the rows of `<base>-*` into those of `tables` that the files name.
 *
 * ```ts
 * const files = 'model.ckpt-10.assets/MonolithMultiHashTable_';
 * const { warnings } = await restoreMultiTable([{ name: 'slot0', table }], files);
 * ```
 */
export async function restoreMultiTable(
  tables: readonly NamedTable[],
  base: string,
  { fileSystem: fs = nodeFileSystem }: { readonly fileSystem?: FileSystem } = {},
): Promise<RestoredMultiTable> {
  const images = imagesOf(tables);
  const shards = await shardsOf(base, fs);
  for (const shard of shards) await takeShard(shard, images, null);
  const newest: Newest = new Map();
  for (const shard of shards) await takeShard(shard, images, newest);
  for (const [image, timeSec] of newest) image.raiseMaxUpdateSec(timeSec);
  const featureCounts = countsOf(shards);
  const missing = [...images.keys()].filter((name) => !featureCounts.has(name));
  return {
    featureCounts,
    skipped: [...featureCounts.keys()].filter((name) => !images.has(name)),
    warnings: missing.map((name) => `table ${name} is not in ${base}; it keeps its rows`),
  };
}

/**
 * Reads the rows of `<base>-*`, of each of the bases, beside those of `tables`: nothing has changed until they are
 * kept. ML_MEMORY when there is no room for both.
 */
export async function readMultiTableBeside(
  tables: readonly NamedTable[],
  bases: readonly string[],
  { fileSystem: fs = nodeFileSystem }: { readonly fileSystem?: FileSystem } = {},
): Promise<PendingRows> {
  const images = imagesOf(tables);
  const shards = (await Promise.all(bases.map((base) => shardsOf(base, fs)))).flat();
  const fresh: FreshPartitions[] = [];
  const newest: Newest = new Map();
  const discard = () => {
    for (const partitions of fresh.splice(0)) partitions.discard();
  };
  try {
    for (const image of images.values()) fresh.push(FreshPartitions.beginOrFail(image));
    for (const shard of shards) await takeShard(shard, images, newest);
  } catch (cause) {
    discard();
    throw cause;
  }
  const counts = countsOf(shards);
  return {
    rows: [...images.keys()].reduce((sum, name) => sum + (counts.get(name) ?? 0), 0),
    keep: () => {
      for (const partitions of fresh.splice(0)) partitions.keep();
      for (const [image, timeSec] of newest) image.raiseMaxUpdateSec(timeSec);
      for (const image of images.values()) image.noteRemovals();
    },
    discard,
  };
}

/** The newest time of the rows that were loaded, by table. */
type Newest = Map<TableImage, number>;

function imagesOf(tables: readonly NamedTable[]): Map<string, TableImage> {
  for (const { table } of tables) if (table instanceof HashTable) table.changed();
  return new Map(tables.map(({ name, table }) => [name, tableImageOf(table)]));
}

async function shardsOf(base: string, fs: FileSystem): Promise<Shard[]> {
  const files = await shardFilesOf(base, fs);
  const metaFiles = await shardFilesOf(`${base}${META_SUFFIX}`, fs);
  if (files.length !== metaFiles.length) {
    const reason = `Filename ${metaFiles[0]} doesn't match nshards. ${files.length}`;
    throw new MonolithError('ML_CKPT_SHARDS', { reason });
  }
  return files.map((file, index): Shard => ({ file, metas: readMeta(metaFiles[index]!) }));
}

function countsOf(shards: readonly Shard[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, entries } of shards.flatMap(({ metas }) => metas)) {
    counts.set(name, (counts.get(name) ?? 0) + entries);
  }
  return counts;
}

/** Loads the rows of a shard and notes the newest times, or only checks them when there is nowhere to note. */
async function takeShard(
  { file, metas }: Shard,
  images: ReadonlyMap<string, TableImage>,
  newest: Newest | null,
): Promise<void> {
  const records = asTableFile(() => new SnappyRecordReader(file));
  try {
    for (const { name, entries } of metas) {
      const image = images.get(name);
      if (image === undefined) await skipRows(records, entries);
      else await takeRows(records, image, entries, newest);
    }
    if (records.peek(1).length > 0 || asTableFile(() => records.fill())) {
      throw corruptRecord(records, 'payload', 'the metadata tells of fewer records than there are');
    }
  } finally {
    records.close();
  }
}

/** Passes over records, whose checksums are checked all the same. */
async function skipRows(records: SnappyRecordReader, entries: number): Promise<void> {
  for (let left = entries; left > 0; left--) {
    if (left % SKIPS_PER_TURN === 0) await nextTurn();
    if (asTableFile(() => records.next()) === null) throw endsEarly(records);
  }
}

async function takeRows(
  records: SnappyRecordReader,
  image: TableImage,
  entries: number,
  newest: Newest | null,
): Promise<void> {
  const decoder = new RowDecoder(image, newest !== null);
  try {
    const { u8 } = decoder.scratch.bank.views;
    const roomBytes = Math.max(1 << 17, decoder.recordBytesMax);
    const room = decoder.alloc(roomBytes + DUMP_SLACK_BYTES);
    for (let left = entries; left > 0; ) {
      const part = records.peek(roomBytes);
      u8.set(part, room);
      const { at, count } = decoder.take(
        room,
        room + part.length,
        { file: records.file, record: records.record },
        left,
      );
      records.consume(at - room, count);
      left -= count;
      if (left > 0 && (count === 0 || records.peek(1).length === 0)) {
        // Blocks are read and decoded on this thread, which others may be waiting for.
        await nextTurn();
        if (!asTableFile(() => records.fill())) throw endsEarly(records);
      }
    }
    decoder.flush();
    newest?.set(image, Math.max(newest.get(image) ?? 0, decoder.maxUpdateSec));
  } finally {
    decoder.close();
  }
}

/** The error of a file that has fewer records than it was said to. */
function endsEarly(records: SnappyRecordReader): MonolithError {
  const left = records.peek(Number.POSITIVE_INFINITY);
  if (left.length > 0) return cutRecord(left.length, left, records);
  return corruptRecord(records, 'payload', 'Parse entry failed! the file ends early');
}
