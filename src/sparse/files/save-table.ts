/**
 * @file Saves a table as record files (runtime/ops/hash_table_save_restore_ops).
 *
 * Shards take their names together once all of them are on disk: a save that fails leaves what was there before.
 */

import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { cleanUp, writeError } from '../../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { StagedFiles } from '../../base/files/staged-files.js';
import { shardTemporaryName } from '../../base/files/temporary-names.js';
import { shardCountOf, shardFileName } from '../../io/shard-files.js';
import type { HashTable } from '../table/hash-table.js';
import { changedTable, shardRange } from './shard-encoder.js';
import { ShardThreads } from './shard-threads.js';
import { type WrittenShard, writeShard } from './shard-writer.js';
import type { StoredTable } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';

/** Shards are numbered with five digits. */
const SHARDS_MAX = 99999;

export interface SaveTableOptions {
  /** Files to split the rows into; one per million rows, from one to four, unless told. */
  readonly nshards?: number;
  /** Where writes go; a file system of the caller's keeps them all on this thread. */
  readonly fileSystem?: FileSystem;
  readonly bufferBytes?: number;
  /** False skips forcing the files to disk before they take their names: for measurements. */
  readonly sync?: boolean;
  /** Threads that write shards at the same time; as many as there are processors for large tables unless told. */
  readonly threads?: number;
}

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
  const { fileSystem: fs = nodeFileSystem, nshards } = options;
  checkOptions('saveTable', options, ['nshards', 'fileSystem', 'bufferBytes', 'sync', 'threads']);
  const image = tableImageOf(table);
  const { size } = image;
  const shardCount = checkedShardCount(size, nshards, base);
  const staged = new StagedFiles(fs, shardTemporaryName);
  const shards = Array.from({ length: shardCount }, (_, shard) => {
    const file = shardFileName(base, shard, shardCount);
    return { file, path: staged.stage(file), range: shardRange(size, shard, shardCount) };
  });
  // A file system of the caller's cannot follow into threads.
  const threads = ShardThreads.start(
    image,
    shards.length,
    size,
    options.fileSystem === undefined ? options.threads : 1,
  );
  let written: readonly WrittenShard[];
  try {
    await fs.makeDirectory(dirname(base));
    written = await threads.each(shards, ({ file, path, range }, thread) =>
      within(file, () => thread?.writeShard(range, path, options) ?? writeShard(image, range, path, fs, options)),
    );
    if (image.size !== size) throw changedTable(base);
    await staged.publish();
  } catch (cause) {
    throw await cleanUp(writeError(base, cause), () => staged.rollBack());
  } finally {
    await threads.close();
  }
  const warnings: string[] = [];
  try {
    await staged.removeAside();
    await removeOtherCounts(base, shardCount, fs);
  } catch (cause) {
    warnings.push(messageOf(cause));
  }
  const total = (part: (shard: WrittenShard) => number) => written.reduce((sum, shard) => sum + part(shard), 0);
  return { files: shards.map(({ file }) => file), rows: total((s) => s.rows), bytes: total((s) => s.bytes), warnings };
}

export function checkedShardCount(rows: number, nshards: number | undefined, base: string): number {
  const count = shardCountOf(rows, nshards);
  if (Number.isSafeInteger(count) && count >= 1 && count <= SHARDS_MAX) return count;
  throw new MonolithError('ML_CKPT_WRITE', { file: base, reason: `rows cannot be split into ${nshards} files` });
}

/** Shards of an earlier save that had another number of them: together with the new ones they could not be restored. */
export async function removeOtherCounts(base: string, shardCount: number, fs: FileSystem): Promise<void> {
  const start = basename(base);
  for (const name of await fs.list(dirname(base))) {
    const match = name.startsWith(start) ? /^-\d{5}-of-(\d{5})$/.exec(name.slice(start.length)) : null;
    if (match !== null && Number(match[1]) !== shardCount) await fs.remove(join(dirname(base), name));
  }
}

/** Runs `action`; whatever goes wrong becomes ML_CKPT_WRITE naming `file`. */
export async function within<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw writeError(file, cause);
  }
}
