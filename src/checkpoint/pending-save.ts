/**
 * @file `checkpoint.pending`: the checkpoints that the save under way adds or deletes, one base name per line.
 *
 * The state file says which checkpoints count. A process killed after it gave a checkpoint its name and before the
 * state lists it, or after the state dropped one and before that is deleted, leaves whole checkpoints that nobody
 * lists. They look like any that a user put there, so a save says first which ones it will touch, and the next save
 * deletes those of them that no state lists.
 */
import { basename, join } from 'node:path';
import { writeError, writeFileAtomic } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { readWhole } from '../base/files/read-file.js';
import { isMissing } from './model-dir.js';
import { CHECKPOINT_NAME, STATE_FILE } from './names.js';

export const PENDING_FILE = `${STATE_FILE}.pending`;

/** Prefixes that an unfinished save named; none without the file. */
export function readPending(dir: string): string[] {
  const file = join(dir, PENDING_FILE);
  let text: string;
  try {
    text = readWhole(file, 'stateBytes').toString('utf8');
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw writeError(file, cause);
  }
  const names = text.split('\n').filter((name) => CHECKPOINT_NAME.test(name));
  return names.map((name) => join(dir, name));
}

export async function writePending(dir: string, prefixes: readonly string[], fs: FileSystem): Promise<void> {
  if (prefixes.length === 0) return;
  const lines = prefixes.map((prefix) => `${basename(prefix)}\n`);
  await writeFileAtomic(join(dir, PENDING_FILE), lines.join(''), fs);
}
