/**
 * @file Shards that take their names together once all of them are on disk: a save that fails leaves what was there
 * before.
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { cleanUp, writeError } from '../../base/files/atomic-file.js';
import type { FileSystem } from '../../base/files/file-system.js';
import { PendingFiles } from '../../base/files/pending-files.js';
import { shardTemporaryName } from '../../base/files/temporary-names.js';

/**
 * Runs `write` with the function that has a path for the name of a file, then gives all files their names. Returns what
 * went wrong without harm beside its result: files of an earlier save that could not be removed.
 */
export async function publishShards<T extends { readonly shardCount: number }>(
  bases: readonly [string, ...string[]],
  fs: FileSystem,
  write: (pathOf: (file: string) => string) => Promise<T>,
): Promise<T & { readonly warnings: readonly string[] }> {
  const pending = new PendingFiles(fs, shardTemporaryName);
  let written: T;
  try {
    await fs.makeDirectory(dirname(bases[0]));
    written = await write((file) => pending.add(file));
    await pending.publish();
  } catch (cause) {
    throw await cleanUp(writeError(bases[0], cause), () => pending.rollBack());
  }
  const warnings: string[] = [];
  try {
    await pending.removeAside();
    for (const base of bases) await removeOtherCounts(base, written.shardCount, fs);
  } catch (cause) {
    warnings.push(messageOf(cause));
  }
  return { ...written, warnings };
}

/** Shards of an earlier save that had another number of them: together with the new ones they could not be restored. */
async function removeOtherCounts(base: string, shardCount: number, fs: FileSystem): Promise<void> {
  const start = basename(base);
  for (const name of await fs.list(dirname(base))) {
    const match = name.startsWith(start) ? /^-\d{5}-of-(\d{5})$/.exec(name.slice(start.length)) : null;
    if (match !== null && Number(match[1]) !== shardCount) await fs.remove(join(dirname(base), name));
  }
}
