/**
 * @file `monolith_checkpoint`: which checkpoints rotation spares, when the last save was, how tables are stored.
 *
 * Mirrors what native_training/save_utils does with it: made when a session starts, and its time renewed by every save.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { isRemote } from '../base/files/file-systems.js';
import { readWhole } from '../base/files/read-file.js';
import { log } from '../base/log.js';
import {
  formatMonolithCheckpointState,
  type HashTableType,
  type MonolithCheckpointState,
  parseMonolithCheckpointState,
} from '../io/checkpoint-state.js';
import { checkpointExists, isMissing } from './model-dir.js';
import { MONOLITH_STATE_FILE, resolveInDir } from './names.js';

/**
 * The state in `dir`; null without a file, and with two warnings when it cannot be read. With `removeInvalidPath`,
 * paths are absolute and those of checkpoints that are not there are left out.
 *
 * ```ts
 * const spared = getMonolithCheckpointState('runs/ffm', null, true)?.exemptModelCheckpointPaths ?? [];
 * ```
 */
export function getMonolithCheckpointState(
  dir: string,
  filename?: string | null,
  removeInvalidPath = false,
): MonolithCheckpointState | null {
  const file = join(dir, filename ?? MONOLITH_STATE_FILE);
  let state: MonolithCheckpointState;
  try {
    state = parseMonolithCheckpointState(readWhole(file, 'stateBytes').toString('utf8'), file);
  } catch (cause) {
    if (isMissing(cause)) return null;
    log.warn(messageOf(cause));
    log.warn(`${file}: Checkpoint ignored`);
    return null;
  }
  if (!removeInvalidPath) return state;
  const paths = state.exemptModelCheckpointPaths.map((path) => resolveInDir(dir, path));
  const exemptModelCheckpointPaths = paths.filter((path) => {
    const exists =
      isRemote(path) || checkpointExists(path) || (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
    if (!exists) log.warn(`${file} names a checkpoint that is not there`, { path });
    return exists;
  });
  return { ...state, exemptModelCheckpointPaths };
}

export async function writeMonolithState(dir: string, state: MonolithCheckpointState): Promise<void> {
  await writeFileAtomic(join(dir, MONOLITH_STATE_FILE), formatMonolithCheckpointState(state));
}

/** Makes the file when there is none; `update` renews the time of one that is there. */
export async function touchMonolithState(
  dir: string,
  { clock, type, update }: { readonly clock: Clock; readonly type: HashTableType; readonly update: boolean },
): Promise<void> {
  const now = BigInt(Math.floor(clock.now() / 1000));
  const found = getMonolithCheckpointState(dir, null, true);
  if (found !== null && !update) return;
  await writeMonolithState(dir, {
    builtinHashTableType: type,
    ...found,
    exemptModelCheckpointPaths: found?.exemptModelCheckpointPaths ?? [],
    lastCheckpointSaveTimestamp: now,
  });
}
