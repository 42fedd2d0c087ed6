/** @file Saving and loading of checkpoints as the rest of the package calls it: the first call loads the code. */
import type { Clock } from '../base/clock.js';
import type { FileSystem } from '../base/files/file-system.js';
import { onDemand } from '../base/lazy-module.js';
import type { KeepEveryHours } from './keep-every.js';

/** Prefix of the latest checkpoint of a model directory, null when nothing was saved yet. */
export const latestCheckpoint = onDemand(async () => (await import('./load-checkpoint.js')).latestCheckpoint);

/**
 * Loads the checkpoint `prefix`.
 *
 * ```ts
 * const latest = await latestCheckpoint('runs/ffm');
 * if (latest !== null) for (const table of (await loadCheckpoint(latest)).tables) restore(table);
 * ```
 */
export const loadCheckpoint = onDemand(async () => (await import('./load-checkpoint.js')).loadCheckpoint);

/**
 * Saves `snapshot` and makes it the latest checkpoint. On any failure: ML_CKPT_WRITE with the cause, the previous
 * checkpoint still latest, no temporary files left. ML_DIR when another process trains or saves in the directory.
 *
 * ```ts
 * const { path } = await saveCheckpoint('runs/ffm', { step: 100, modelName: 'ffm', dense, tables });
 * ```
 */
export const saveCheckpoint = onDemand(async () => (await import('./save-checkpoint.js')).saveCheckpoint);

/**
 * Creates `dir` when needed and proves that files can be created in it. ML_DIR when they cannot: better before the
 * first step than at the first save.
 */
export const prepareModelDir = onDemand(async () => {
  const [{ prepareModelDir: prepare }, { withModelDir }] = await Promise.all([
    import('./model-dir.js'),
    import('./remote-dir.js'),
  ]);
  return (dir: string, fileSystem?: FileSystem) => withModelDir(dir, (local) => prepare(local, fileSystem));
});

/** Keeps `dir`, which exists, for a run: ML_DIR names the process that has it, another run of this one included. */
export const keepModelDir = onDemand(async () => {
  const [{ keepModelDir: keep }, { withModelDir }] = await Promise.all([
    import('./model-dir-turns.js'),
    import('./remote-dir.js'),
  ]);
  return (dir: string) => withModelDir(dir, keep);
});

/**
 * Copies the checkpoint `prefix` into the model directory `dir`, which is made when needed, and makes it the latest
 * there. ML_CKPT_CORRUPT when the source is damaged, ML_CKPT_WRITE when the target has that checkpoint or cannot be
 * written, ML_DIR when another process trains or saves there.
 *
 * ```ts
 * await copyCheckpoint('runs/ffm/model.ckpt-2000', 'runs/next');
 * ```
 */
export const copyCheckpoint = onDemand(async () => (await import('./copy-checkpoint.js')).copyCheckpoint);

/**
 * The checkpoints of a model directory. ML_CKPT_NONE when it is no directory.
 *
 * ```ts
 * const { checkpoints } = await listCheckpoints('runs/ffm');
 * for (const { path, status, bytes } of checkpoints) console.log(path, status, bytes);
 * ```
 */
export const listCheckpoints = onDemand(async () => {
  const [{ listCheckpoints: list }, { bytesThere, withModelDir }] = await Promise.all([
    import('./list-checkpoints.js'),
    import('./remote-dir.js'),
  ]);
  return (dir: string) =>
    withModelDir(dir, async (local, nameOf) => {
      const contents = list(local);
      const named = contents.checkpoints.map((one) => ({ ...one, path: nameOf(one.path) }));
      const paths = named.flatMap(({ path, status }) => (status === 'missing' ? [] : [path]));
      const sizes = await bytesThere(dir, paths);
      return {
        ...contents,
        dir,
        checkpoints: named.map((one) => ({ ...one, bytes: sizes.get(one.path) ?? one.bytes })),
      };
    });
});

/**
 * Deletes all but the newest checkpoints of a model directory. ML_DIR when another process trains or saves there.
 *
 * ```ts
 * const { deleted } = await pruneCheckpoints('runs/ffm', { keep: 2, dryRun: true });
 * ```
 */
export const pruneCheckpoints = onDemand(async () => (await import('./prune-checkpoints.js')).pruneCheckpoints);

/** Makes `monolith_checkpoint` when there is none; `update` renews its time. */
export const touchMonolithState = onDemand(async () => {
  const [{ touchMonolithState: touch }, { withModelDir }] = await Promise.all([
    import('./monolith-state.js'),
    import('./remote-dir.js'),
  ]);
  return (dir: string, options: Parameters<typeof touch>[1]) => withModelDir(dir, (local) => touch(local, options));
});

/** Keeps one checkpoint per so many hours, whatever rotation would delete. */
export async function keepEveryHours(hours: number, clock: Clock): Promise<KeepEveryHours> {
  const { KeepEveryHours } = await import('./keep-every.js');
  return new KeepEveryHours(hours, clock);
}
