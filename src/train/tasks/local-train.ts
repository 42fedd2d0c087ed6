/** @file Training a task in this process: localTrain and localTrainInternal of cpu_training. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import { CpuTrainingConfig } from '../config/training-config.js';
import type { TrainHook } from '../hooks/hook.js';
import { localFeatureEngineering } from './feature-engineering.js';
import { keepTableKind } from './local-config.js';
import type { TaskParams } from './native-task.js';
import { TaskEstimator } from './task-estimator.js';

export interface LocalTrainTaskOptions {
  /** Parameter servers. Default: 0, tables are in the process. */
  readonly numPs?: number;
  /** Default: a folder of the user's in the temporary directory, by the name of the task. */
  readonly modelDir?: string;
  /** Default: 100. */
  readonly steps?: number;
  /** Default: 50. */
  readonly saveCheckpointsSteps?: number;
  /** Traces some steps. Default: false. */
  readonly profiling?: boolean;
  /** Rows of the next batch are read while a step runs. Default: true. */
  readonly enableEmbeddingPrefetch?: boolean;
  /** Gradients go to the tables in the step after theirs. Default: true. */
  readonly enableEmbeddingPostpush?: boolean;
  /** Default: true: a run begins anew. */
  readonly removeModelDirIfExists?: boolean;
  /** Only the input is run, and its batches are written. Default: false. */
  readonly onlyFeatureEngineering?: boolean;
  /** Threads, memory and the like of the session. */
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize'>;
}

const STEPS = 100;
const SAVE_STEPS = 50;

/**
 * Trains a task in this process, from the beginning, and gives its estimator, with which it can be evaluated and
 * predicted with.
 *
 * ```ts
 * const estimator = await localTrain(MyTask.params(), { steps: 1000, modelDir: 'runs/mine' });
 * ```
 */
export async function localTrain(params: TaskParams, options: LocalTrainTaskOptions = {}): Promise<TaskEstimator> {
  checkOptions('localTrain', options, [
    'numPs',
    'modelDir',
    'steps',
    'saveCheckpointsSteps',
    'profiling',
    'enableEmbeddingPrefetch',
    'enableEmbeddingPostpush',
    'removeModelDirIfExists',
    'onlyFeatureEngineering',
    'session',
  ]);
  const { modelDir = defaultModelDir(params.name), steps = STEPS, removeModelDirIfExists = true } = options;
  const { enableEmbeddingPrefetch = true, enableEmbeddingPostpush = true, profiling = false } = options;
  if (removeModelDirIfExists) removeModelDir(modelDir);
  const config = new CpuTrainingConfig({
    modelName: params.name,
    numPs: options.numPs ?? 0,
    saveCheckpointsSteps: options.saveCheckpointsSteps ?? SAVE_STEPS,
    embeddingPrefetchCapacity: enableEmbeddingPrefetch ? 1 : 0,
    enableEmbeddingPostpush,
    onlyFeatureEngineering: options.onlyFeatureEngineering ?? false,
  });
  await keepTableKind(config, modelDir);
  const { session } = options;
  const given = session === undefined ? {} : { session };
  if (!config.onlyFeatureEngineering) {
    return localTrainInternal(params, config, modelDir, steps, profiling, [], given);
  }
  await localFeatureEngineering(params, config, modelDir, steps, given);
  return new TaskEstimator({ params, config, modelDir, ...given });
}

export interface LocalRunOptions {
  readonly session?: LocalTrainTaskOptions['session'];
  readonly metrics?: MetricsClient;
  /** Global step at which training stops; with `steps` what comes first. */
  readonly maxSteps?: number | null;
}

/** Trains a task by a config that the caller made; `userHooks` come after those of the chief. */
export async function localTrainInternal(
  params: TaskParams,
  config: CpuTrainingConfig,
  modelDir: string,
  steps: number | null = STEPS,
  _profiling = false,
  userHooks: readonly TrainHook[] = [],
  options: LocalRunOptions = {},
): Promise<TaskEstimator> {
  const { session, metrics, maxSteps = null } = options;
  const estimator = new TaskEstimator({
    params,
    config,
    modelDir,
    ...(session && { session }),
    ...(metrics && { metrics }),
  });
  try {
    await estimator.train({ steps, maxSteps, hooks: userHooks });
    return estimator;
  } catch (error) {
    await estimator.close();
    throw error;
  }
}

/** What training leaves in a model directory, by what names begin with. */
const OURS = ['checkpoint', 'model.ckpt-', 'monolith_', 'ckpt.info', 'meta_graph', 'model_dump', 'events', '.'];
const OUR_FOLDERS = [
  'dense_only',
  'exported_models',
  'fresh',
  'eval',
  'features',
  'profile',
  'best',
  'restore_ckpt',
  'clear_nn',
];
const isOurs = (name: string) => OUR_FOLDERS.includes(name) || OURS.some((start) => name.startsWith(start));

/** ML_DIR for a folder that holds anything else: removing a folder cannot be taken back. */
function removeModelDir(modelDir: string): void {
  const found = existsSync(modelDir) ? readdirSync(modelDir).find((name) => !isOurs(name)) : undefined;
  if (found !== undefined) {
    const reason = `a run that begins anew removes it, and it holds ${found}, which is of no training`;
    throw new MonolithError('ML_DIR', { dir: modelDir, reason }, { hint: 'removeModelDirIfExists: false keeps it' });
  }
  rmSync(modelDir, { recursive: true, force: true });
}

/** `<tmp>/<user>/<name>`, where a task without a directory of its own is kept. */
export function defaultModelDir(name: string): string {
  return join(tmpdir(), userInfo().username, name);
}
