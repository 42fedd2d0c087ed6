/**
 * @file Saves several tables as one set of files (runtime/ops/multi_hash_table_save_restore_ops): the rows of all
 * tables, table after table, in a Snappy stream, and beside it who they belong to.
 */

import { checkOptions } from '../../base/check-options.js';
import { FileSink, writingTo } from '../../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { RecordWriter } from '../../io/record-writer.js';
import { shardFileName, shardRange } from '../../io/shard-files.js';
import { SnappyStream } from '../../io/snappy-writer.js';
import type { HashTable } from '../table/hash-table.js';
import { encodeMeta, META_SUFFIX, type TableMeta } from './multi-meta.js';
import { publishShards } from './publish-shards.js';
import type { SavedTable } from './save-table.js';
import { ShardEncoder, writeChunks } from './shard-encoder.js';
import { type StoredTable, TableImage } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';
import { checkedShardCount } from './write-table.js';

export interface NamedTable {
  readonly name: string;
  readonly table: StoredTable | HashTable;
}

export interface SaveMultiTableOptions {
  readonly nshards?: number;
  readonly fileSystem?: FileSystem;
}

export interface SavedMultiTable extends SavedTable {
  /** Rows written of each table. */
  readonly featureCounts: ReadonlyMap<string, number>;
}

/**
 * Writes `tables` as `<base>-i-of-n` and `<base>.meta-i-of-n`, in the order of their names. Rows expire by the days of
 * the first of them that has any, as the reference's do. ML_CKPT_WRITE leaves an earlier save as it was.
 *
 * ```ts
 * await saveMultiTable([{ name: 'slot0', table }], 'model.ckpt-10.assets/MonolithMultiHashTable_');
 * ```
 */
export async function saveMultiTable(
  tables: readonly NamedTable[],
  base: string,
  options: SaveMultiTableOptions = {},
): Promise<SavedMultiTable> {
  checkOptions('saveMultiTable', options, ['nshards', 'fileSystem']);
  const { nshards, fileSystem: fs = nodeFileSystem } = options;
  const sorted = byName(tables).map(({ name, table }) => ({ name, table: tableImageOf(table).table }));
  const expireDays = sorted.find(({ table }) => table.expireDays !== null)?.table.expireDays ?? null;
  const images = sorted.map(({ name, table }) => ({ name, image: new TableImage({ ...fields(table), expireDays }) }));
  const total = images.reduce((sum, { image }) => sum + image.size, 0);
  const shardCount = checkedShardCount(total, nshards, base);
  const featureCounts = new Map(images.map(({ name }) => [name, 0]));
  const files: string[] = [];
  let bytes = 0;
  const { warnings } = await publishShards([base, `${base}${META_SUFFIX}`], fs, async (pathOf) => {
    for (let shard = 0; shard < shardCount; shard++) {
      const data = shardFileName(base, shard, shardCount);
      const meta = shardFileName(`${base}${META_SUFFIX}`, shard, shardCount);
      const written = await writingTo(data, () => writeData(images, shard, shardCount, pathOf(data), fs));
      const metaBytes = await writingTo(meta, () => writeMeta(written.metas, pathOf(meta), fs));
      for (const { name, entries } of written.metas) featureCounts.set(name, featureCounts.get(name)! + entries);
      files.push(data, meta);
      bytes += written.bytes + metaBytes;
    }
    return { shardCount };
  });
  const rows = [...featureCounts.values()].reduce((sum, count) => sum + count, 0);
  return { files, rows, bytes, warnings, featureCounts };
}

/** The order of tables in files. */
export function byName<T extends { readonly name: string }>(tables: readonly T[]): T[] {
  return tables.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The fields alone: whoever implements the interface may have them as getters. */
function fields({ name, memory, addresses, dumpSegments, skipZero, expireDays }: StoredTable): StoredTable {
  return { name, memory, addresses, dumpSegments, skipZero, expireDays };
}

async function writeData(
  images: readonly { readonly name: string; readonly image: TableImage }[],
  shard: number,
  shardCount: number,
  path: string,
  fs: FileSystem,
): Promise<{ metas: TableMeta[]; bytes: number }> {
  const sink = await FileSink.create(path, fs, { checksum: false });
  try {
    const stream = new SnappyStream(sink);
    const metas: TableMeta[] = [];
    for (const { name, image } of images) {
      const encoder = new ShardEncoder(image, shardRange(image.size, shard, shardCount));
      try {
        await writeChunks(encoder.chunks(), (chunk) => stream.write(chunk));
      } finally {
        encoder.close();
      }
      metas.push({ name, entries: encoder.count });
    }
    await stream.flush();
    await sink.finish();
    return { metas, bytes: sink.sizeBytes };
  } finally {
    await sink.close();
  }
}

async function writeMeta(metas: readonly TableMeta[], path: string, fs: FileSystem): Promise<number> {
  const sink = await FileSink.create(path, fs, { checksum: false });
  try {
    const writer = new RecordWriter(sink, 1 << 16);
    for (const meta of metas) await writer.write(encodeMeta(meta));
    await writer.flush();
    await sink.finish();
    return sink.sizeBytes;
  } finally {
    await sink.close();
  }
}
