/**
 * @file Saves a table as record files (runtime/ops/hash_table_save_restore_ops).
 *
 * Shards take their names together once all of them are on disk: a save that fails leaves what was there before.
 */

import { checkOptions } from '../../base/check-options.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import type { HashTable } from '../table/hash-table.js';
import { publishShards } from './publish-shards.js';
import type { WrittenShard } from './shard-writer.js';
import type { StoredTable } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';
import { writeTable } from './write-table.js';

export interface SaveTableOptions {
  /** Files to split the rows into. Default: one per million rows, from one to four. */
  readonly nshards?: number;
  /** Where writes go; a file system of the caller's keeps them all on this thread. */
  readonly fileSystem?: FileSystem;
  readonly bufferBytes?: number;
  /** False skips forcing the files to disk before they take their names: for measurements. */
  readonly sync?: boolean;
  /** Threads that write shards at the same time. Default: as many as there are processors for large tables. */
  readonly threads?: number;
}

const SAVE_OPTIONS = ['nshards', 'fileSystem', 'bufferBytes', 'sync', 'threads'] as const;

export interface SavedTable {
  readonly files: readonly string[];
  /** Rows written: those that had not expired. */
  readonly rows: number;
  readonly bytes: number;
  /** What went wrong without harm to this save: files of an earlier one that could not be removed. */
  readonly warnings: readonly string[];
}

/**
 * Writes the rows of `table` as `<base>-00000-of-00001` and so on. ML_CKPT_WRITE when a file cannot be written; then
 * nothing of an earlier save under the same name has changed.
 *
 * ```ts
 * const { files } = await saveTable(table, 'runs/ffm/user', { nshards: 2 });
 * ```
 */
export async function saveTable(
  table: StoredTable | HashTable,
  base: string,
  options: SaveTableOptions = {},
): Promise<SavedTable> {
  const { fileSystem: fs = nodeFileSystem } = checkOptions('saveTable', options, SAVE_OPTIONS);
  const image = tableImageOf(table);
  const { size: rows } = image;
  const { shards, warnings } = await publishShards([base], fs, async (pathOf) => {
    const written = await writeTable(image, base, pathOf, { ...options, rows });
    return { shards: written, shardCount: written.length };
  });
  const total = (part: (shard: WrittenShard) => number) => shards.reduce((sum, shard) => sum + part(shard), 0);
  return { files: shards.map(({ file }) => file), rows: total((s) => s.rows), bytes: total((s) => s.bytes), warnings };
}
