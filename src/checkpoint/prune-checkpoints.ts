/**
 * @file Deletes old checkpoints of a model directory, or says which it would delete.
 *
 * The latest one and those that `monolith_checkpoint` exempts stay, whatever is asked for. The state file drops a
 * checkpoint before its files go, so that it never lists what is not there.
 */
import { dirname, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { writingTo } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { type CheckpointState, formatCheckpointState } from '../io/checkpoint-state.js';
import { deleteCheckpoint, removeLeftovers } from './leftovers.js';
import { type CheckpointStatus, type ListedCheckpoint, listCheckpoints } from './list-checkpoints.js';
import { readState } from './model-dir.js';
import { saveInTurn } from './model-dir-turns.js';
import { relativeToDir, STATE_FILE } from './names.js';
import { PENDING_FILE, writePending } from './pending-save.js';
import { publishState } from './publish-state.js';
import { withModelDir } from './remote-dir.js';

export interface PruneOptions {
  /** Listed checkpoints to keep, the latest among them; exempt ones do not count. Default: 5. */
  readonly keep?: number;
  /** Whether checkpoints that no state file lists go too. Default: false. */
  readonly unlisted?: boolean;
  /** Only says what would be deleted. Default: false. */
  readonly dryRun?: boolean;
  /** Where writes go; tests put failures here. */
  readonly fileSystem?: FileSystem;
}

export interface Pruned {
  readonly deleted: readonly ListedCheckpoint[];
  readonly kept: readonly ListedCheckpoint[];
  /** Of what was deleted. */
  readonly bytes: number;
  /** Temporary files of killed saves. */
  readonly temporaries: readonly string[];
}

const KEEP = 5;

/**
 * Deletes all but the newest checkpoints of a model directory. ML_DIR when another process trains or saves there.
 *
 * ```ts
 * const { deleted } = await pruneCheckpoints('runs/ffm', { keep: 2, dryRun: true });
 * ```
 */
export async function pruneCheckpoints(dir: string, options: PruneOptions = {}): Promise<Pruned> {
  checkOptions('pruneCheckpoints', options, ['keep', 'unlisted', 'dryRun', 'fileSystem']);
  return withModelDir(dir, async (local, nameOf) => {
    const named = ({ path, ...rest }: ListedCheckpoint) => ({ ...rest, path: nameOf(path) });
    const { deleted, kept, ...rest } = await pruneLocal(local, options);
    return { ...rest, deleted: deleted.map(named), kept: kept.map(named) };
  });
}

async function pruneLocal(dir: string, options: PruneOptions): Promise<Pruned> {
  const { keep = KEEP, unlisted = false, dryRun = false, fileSystem: fs = fileSystemOf(dir) } = options;
  if (!Number.isInteger(keep) || keep < 1) {
    const reason = `keep is a number of checkpoints from 1 on, not ${String(keep)}`;
    throw new MonolithError('ML_OPTION', { where: 'pruneCheckpoints', option: 'keep', reason });
  }
  if (dryRun) return choose(dir, keep, unlisted);
  listCheckpoints(dir); // Before a lock is written to what is no directory.
  return saveInTurn(dir, () => prune(dir, keep, unlisted, fs));
}

function choose(dir: string, keep: number, unlisted: boolean): Pruned {
  const { checkpoints, trouble, temporaries } = listCheckpoints(dir);
  if (trouble !== null) {
    const hint = 'without it nobody knows which checkpoint is the latest: mend it first, see monolith checkpoint list';
    throw new MonolithError('ML_CKPT_READ', { file: join(dir, STATE_FILE), reason: trouble }, { hint });
  }
  const of = (...statuses: CheckpointStatus[]) => checkpoints.filter(({ status }) => statuses.includes(status));
  // A state file may list checkpoints of the directory a run was started from; those are not ours to delete.
  const listed = of('listed').filter(({ path }) => join(dirname(path)) === join(dir));
  const old = listed.slice(0, Math.max(0, listed.length - (keep - of('latest').length)));
  const deleted = [...of('unfinished'), ...(unlisted ? of('unlisted') : []), ...old];
  const kept = checkpoints.filter((one) => !deleted.includes(one) && one.status !== 'missing');
  return { deleted, kept, bytes: deleted.reduce((sum, { bytes }) => sum + bytes, 0), temporaries };
}

async function prune(dir: string, keep: number, unlisted: boolean, fs: FileSystem): Promise<Pruned> {
  const found = choose(dir, keep, unlisted);
  const paths = found.deleted.map(({ path }) => path);
  await writingTo(dir, () => removeLeftovers(dir, fs));
  const state = readState(dir);
  const dropped = state?.allModelCheckpointPaths.filter((path) => paths.includes(path)) ?? [];
  await writePending(dir, paths, fs);
  if (state !== null && dropped.length > 0) {
    const text = formatCheckpointState(without(state, dir, dropped));
    const backup = await publishState(join(dir, STATE_FILE), text, fs);
    await writingTo(backup, () => fs.remove(backup));
  }
  for (const path of paths) await writingTo(path, () => deleteCheckpoint(path, fs));
  await writingTo(dir, () => fs.remove(join(dir, PENDING_FILE)));
  return found;
}

function without(state: CheckpointState, dir: string, dropped: readonly string[]): CheckpointState {
  const { allModelCheckpointPaths: paths, allModelCheckpointTimestamps: times } = state;
  return {
    ...state,
    modelCheckpointPath: relativeToDir(dir, state.modelCheckpointPath),
    allModelCheckpointPaths: paths.filter((path) => !dropped.includes(path)).map((path) => relativeToDir(dir, path)),
    ...(times && { allModelCheckpointTimestamps: times.filter((_, at) => !dropped.includes(paths[at]!)) }),
  };
}
