/**
 * @file Deletes checkpoints, and what processes that were killed while saving left behind.
 *
 * Only names that a save of this package makes are touched, and of whole checkpoints only those that an unfinished save
 * named and no state file lists. Called with the lock of the directory held.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import type { FileSystem } from '../base/files/file-system.js';
import { readWhole } from '../base/files/read-file.js';
import { isTemporaryName } from '../base/files/temporary-names.js';
import { parseMonolithCheckpointState } from '../io/checkpoint-state.js';
import { isLockLeftover } from './dir-lock.js';
import { isMissing, PROBE_FILE, readState } from './model-dir.js';
import {
  ASSETS_SUFFIX,
  CHECKPOINT_NAME,
  checkpointsIn,
  INDEX_SUFFIX,
  isFileOf,
  MANIFEST_FILE,
  MONOLITH_STATE_FILE,
  STATE_FILE,
} from './names.js';
import { PENDING_FILE, readPending } from './pending-save.js';

const TEMPORARY_OF = [
  STATE_FILE,
  MONOLITH_STATE_FILE,
  PENDING_FILE,
  PROBE_FILE,
  'restore_ckpt',
  'clear_nn',
  'meta_graph_for_debugging\\.pb',
  'ckpt\\.info-\\d+',
  // What a run's folder says of the run.
  '(?:run|schema)\\.json',
  'side-\\d+\\.jsonl',
  'model\\.ckpt-\\d+\\..+',
];
const TEMPORARIES = new RegExp(`^(?:${TEMPORARY_OF.join('|')})\\.tmp`);

/** Removes the files of a checkpoint; the index first, so that no half of it counts as one. */
export async function deleteCheckpoint(prefix: string, fs: FileSystem): Promise<void> {
  const dir = dirname(prefix);
  await fs.remove(`${prefix}${INDEX_SUFFIX}`);
  for (const name of await fs.list(dir)) if (isFileOf(basename(prefix), name)) await fs.remove(join(dir, name));
}

export async function removeLeftovers(dir: string, fs: FileSystem): Promise<void> {
  const names = await fs.list(dir);
  for (const name of names) {
    if ((isTemporaryName(name) && TEMPORARIES.test(name)) || isLockLeftover(dir, name))
      await fs.remove(join(dir, name));
  }
  for (const prefix of unfinishedCheckpoints(dir)) await deleteCheckpoint(prefix, fs);
  const listed = namedByStates(dir);
  // Without a state file nobody knows what it listed: somebody lost it, and the index files with it.
  if (listed === undefined || readState(dir) === null) return;
  for (const name of names) {
    const base = name.slice(0, -ASSETS_SUFFIX.length);
    if (!name.endsWith(ASSETS_SUFFIX) || !CHECKPOINT_NAME.test(base) || listed.has(base)) continue;
    // Only what this package began: assets alone may also be a sparse-only checkpoint of another tool.
    const ours = existsSync(join(dir, name, MANIFEST_FILE));
    if (ours && !names.includes(`${base}${INDEX_SUFFIX}`)) await deleteCheckpoint(join(dir, base), fs);
  }
}

/** Base names of all checkpoints that a state file of `dir` names; undefined when one is damaged and may name any. */
function namedByStates(dir: string): Set<string> | undefined {
  try {
    const state = readState(dir);
    const paths = state === null ? [] : [state.modelCheckpointPath, ...state.allModelCheckpointPaths];
    return new Set([...paths, ...exemptCheckpoints(dir)].map((path) => basename(path)));
  } catch (cause) {
    if (cause instanceof MonolithError) return undefined;
    throw cause;
  }
}

/** Checkpoints that never came to count, or no longer do: a killed save named them and no state file lists them. */
export function unfinishedCheckpoints(dir: string): readonly string[] {
  const pending = readPending(dir);
  const listed = namedByStates(dir);
  if (pending.length === 0 || listed === undefined) return [];
  // Without a state file they may be what it listed, unless it was the first save that was killed.
  if (readState(dir) === null && (pending.length > 1 || checkpointsIn(dir).some((path) => !pending.includes(path)))) {
    return [];
  }
  return pending.filter((prefix) => !listed.has(basename(prefix)));
}

/** What `monolith_checkpoint` spares, for example since it is served somewhere. */
export function exemptCheckpoints(dir: string): readonly string[] {
  const file = join(dir, MONOLITH_STATE_FILE);
  try {
    return parseMonolithCheckpointState(readWhole(file, 'stateBytes').toString('utf8'), file)
      .exemptModelCheckpointPaths;
  } catch (cause) {
    if (isMissing(cause)) return [];
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
  }
}
