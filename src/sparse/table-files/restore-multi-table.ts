/**
 * @file Restores several tables from one set of files. Tables are not cleared, as in the reference: rows of the files go
 * over what is there. All files are checked before the first row changes.
 */
import { MonolithError } from '../../base/errors.js';
import { type FileSystem, nodeFileSystem } from '../../io/file-system.js';
import { DUMP_SLACK_BYTES } from '../../memory/dump-layout.js';
import { InflatedRecords } from './inflated-records.js';
import { META_SUFFIX, readMeta, type TableMeta } from './multi-meta.js';
import { shardFilesOf } from './restore-table.js';
import { RowDecoder } from './row-decoder.js';
import type { NamedTable } from './save-multi-table.js';
import type { TableImage } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';

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
 * const { warnings } = await restoreMultiTable([{ name: 'slot0', table }], 'model.ckpt-10.assets/MonolithMultiHashTable_');
 * ```
 */
export async function restoreMultiTable(
  tables: readonly NamedTable[],
  base: string,
  { fileSystem: fs = nodeFileSystem }: { readonly fileSystem?: FileSystem } = {},
): Promise<RestoredMultiTable> {
  const images = new Map(tables.map(({ name, table }) => [name, tableImageOf(table)]));
  const files = await shardFilesOf(base, fs);
  const metaFiles = await shardFilesOf(`${base}${META_SUFFIX}`, fs);
  if (files.length !== metaFiles.length) {
    const reason = `Filename ${metaFiles[0]} doesn't match nshards. ${files.length}`;
    throw new MonolithError('ML_CKPT_SHARDS', { reason });
  }
  const shards = files.map((file, index): Shard => ({ file, metas: readMeta(metaFiles[index]!) }));
  for (const shard of shards) await takeShard(shard, images, false);
  for (const shard of shards) await takeShard(shard, images, true);
  const featureCounts = new Map<string, number>();
  for (const { name, entries } of shards.flatMap(({ metas }) => metas)) {
    featureCounts.set(name, (featureCounts.get(name) ?? 0) + entries);
  }
  const missing = [...images.keys()].filter((name) => !featureCounts.has(name));
  return {
    featureCounts,
    skipped: [...featureCounts.keys()].filter((name) => !images.has(name)),
    warnings: missing.map((name) => `table ${name} is not in ${base}; it keeps its rows`),
  };
}

async function takeShard(
  { file, metas }: Shard,
  images: ReadonlyMap<string, TableImage>,
  load: boolean,
): Promise<void> {
  const records = await InflatedRecords.open(file);
  try {
    for (const { name, entries } of metas) {
      const image = images.get(name);
      if (image === undefined) await records.skip(entries);
      else await takeRows(records, image, entries, load);
    }
    await records.expectEnd();
  } finally {
    await records.close();
  }
}

async function takeRows(records: InflatedRecords, image: TableImage, entries: number, load: boolean): Promise<void> {
  const decoder = new RowDecoder(image, load);
  try {
    const { u8 } = decoder.scratch.bank.views;
    const roomBytes = Math.max(1 << 17, decoder.recordBytesMax);
    const room = decoder.alloc(roomBytes + DUMP_SLACK_BYTES);
    for (let left = entries; left > 0; ) {
      const part = records.peek(roomBytes);
      u8.set(part, room);
      const { at, count } = decoder.take(room, room + part.length, records.place, left);
      records.consume(at - room, count);
      left -= count;
      if (left > 0 && (count === 0 || records.isEmpty)) await records.fill();
    }
    decoder.flush();
    if (load) image.raiseMaxUpdateSec(decoder.maxUpdateSec);
  } finally {
    decoder.close();
  }
}
