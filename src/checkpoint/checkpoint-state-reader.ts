/**
 * @file Reads the `checkpoint` file of a model directory, and has a named checkpoint restored in place of the newest
 * one.
 *
 * Mirrors gen_get_checkpoint_state of native_training/runner_utils: a file that is there and cannot be parsed, as one
 * that another machine is just writing, is read up to five times. `restore_ckpt` acts once per directory in training,
 * which the marker of that name tells, and every time otherwise. Unlike upstream, a checkpoint that the state does not
 * list is not applied.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { log } from '../base/log.js';
import { type CheckpointState, formatCheckpointState } from '../io/checkpoint-state.js';
import { readState } from './model-dir.js';
import { relativeToDir, STATE_FILE } from './names.js';
import { withModelDir } from './remote-dir.js';

export const RESTORE_MARKER = 'restore_ckpt';
const READS_MAX = 5;
const RETRY_MS = 10;

export interface ReadStateOptions {
  /** Default: checkpoint. */
  readonly filename?: string;
  /** Base name or path of a listed checkpoint to use in place of the newest one; only with the default file name. */
  readonly restoreCkpt?: string | null;
  /** Default: train. */
  readonly mode?: 'train' | 'eval' | 'infer';
  readonly clock?: Clock;
}

/**
 * The state of a model directory with absolute paths, or null without one. ML_CKPT_CORRUPT, `read ckpt error!`, when
 * five reads gave none.
 *
 * ```ts
 * const state = await getCheckpointState('runs/ffm', { restoreCkpt: 'model.ckpt-30' });
 * ```
 */
export async function getCheckpointState(dir: string, options: ReadStateOptions = {}): Promise<CheckpointState | null> {
  checkOptions('getCheckpointState', options, ['filename', 'restoreCkpt', 'mode', 'clock']);
  const { filename = STATE_FILE, restoreCkpt, mode = 'train', clock = systemClock } = options;
  return withModelDir(dir, async (local, nameOf) => {
    const state = await readAgain(local, filename, clock);
    if (state === null || !restoreCkpt || filename !== STATE_FILE) return named(state, nameOf);
    return named(await overridden(local, state, restoreCkpt, mode), nameOf);
  });
}

function named(state: CheckpointState | null, nameOf: (path: string) => string): CheckpointState | null {
  if (state === null) return null;
  const { modelCheckpointPath: path, allModelCheckpointPaths: all } = state;
  return { ...state, modelCheckpointPath: nameOf(path), allModelCheckpointPaths: all.map(nameOf) };
}

async function readAgain(dir: string, filename: string, clock: Clock): Promise<CheckpointState | null> {
  for (let read = 1; ; read++) {
    try {
      return readState(dir, filename);
    } catch (cause) {
      if (!(cause instanceof MonolithError) || cause.code !== 'ML_CKPT_CORRUPT' || read === READS_MAX) throw cause;
      await clock.sleep(RETRY_MS);
    }
  }
}

async function overridden(
  dir: string,
  state: CheckpointState,
  restoreCkpt: string,
  mode: 'train' | 'eval' | 'infer',
): Promise<CheckpointState> {
  const current = state.modelCheckpointPath;
  const target = join(dirname(current), basename(restoreCkpt));
  const marker = join(dir, RESTORE_MARKER);
  if (target !== current && !state.allModelCheckpointPaths.includes(target)) {
    log.warn(`checkpoint ${target} not exists in ${dir}`, { current });
    return state;
  }
  if (mode === 'train' && existsSync(marker)) {
    log.info(`mode is ${mode} and ${marker} file exists, keep ${current}`);
    return state;
  }
  if (target === current) log.warn(`model_checkpoint_path and ${target} are identity`);
  const applied = { ...state, modelCheckpointPath: target };
  if (mode !== 'train') return applied;
  await writeState(dir, applied);
  await writeFileAtomic(marker, target);
  log.info(`restore_ckpt: apply ${target}`, { dir });
  return applied;
}

/** Replaces the state file; paths inside the directory are stored as relative ones. */
export async function writeState(dir: string, state: CheckpointState, filename = STATE_FILE): Promise<void> {
  const text = formatCheckpointState({
    ...state,
    modelCheckpointPath: relativeToDir(dir, state.modelCheckpointPath),
    allModelCheckpointPaths: state.allModelCheckpointPaths.map((path) => relativeToDir(dir, path)),
  });
  await writeFileAtomic(join(dir, filename), text);
}

interface CachedState {
  readonly step: number;
  readonly state: CheckpointState | null;
}

const cache = new Map<string, CachedState>();

/** The state of a directory as it was when the step last grew: callers of one save share one read. */
export async function getLatestCheckpointState(dir: string, globalStepValue: number): Promise<CheckpointState | null> {
  const cached = cache.get(dir);
  if (cached !== undefined && cached.state !== null && globalStepValue <= cached.step) return cached.state;
  const state = await getCheckpointState(dir);
  cache.set(dir, { step: globalStepValue, state });
  return state;
}
