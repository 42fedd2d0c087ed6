/**
 * @file NativeRunner: the training binary of native_training, by the settings of a RunnerConfig, on this machine.
 *
 * Settings that ask for a cluster are refused: parameter servers, several workers and roles of a data service.
 */
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { refuseCluster } from '../config/refuse-cluster.js';
import { type ResolvedConfig, settingsOf } from '../config/resolved-config.js';
import { BaseRunner, type RunnerOptions } from './base-runner.js';
import { overrideParams } from './params-override.js';
import type { RunnerEstimator, RunnerPlace, RunnerTask } from './runner-task.js';

/** Settings that a run in one process goes by. */
const USED: ReadonlySet<string> = new Set([
  ...['task', 'mode', 'modelDir', 'isLocal', 'serverType', 'index', 'numPs', 'numWorkers', 'uuid', 'paramsOverride'],
  ...['saveCheckpointsSteps', 'saveCheckpointsSecs', 'checkpointsMaxToKeep', 'restoreDir', 'restoreCkpt'],
  ...['embeddingPrefetchCapacity', 'enableEmbeddingPostpush', 'sessionCreationTimeoutSecs', 'enableSyncTraining'],
  ...['tfGrpcWorkerCacheThreads', 'monolithGrpcWorkerServiceHandlerMultiplier'],
]);

/** Trains or evaluates a task by a resolved configuration. */
export class NativeRunner extends BaseRunner {
  readonly #config: ResolvedConfig;
  readonly modelDir: string;

  constructor(task: RunnerTask, config: ResolvedConfig, options: RunnerOptions = {}) {
    refuseCluster(config);
    overrideParams(task.params, config.paramsOverride);
    const modelDir = config.modelDir || join(tmpdir(), userInfo().username, task.params.name);
    const { mode } = config;
    if (mode === 'infer') {
      const reason = 'a runner trains and evaluates; predictions are made by a program';
      throw new MonolithError('ML_UNIMPLEMENTED', { what: 'mode infer', reason });
    }
    const saveCheckpointsSteps = config.saveCheckpointsSteps ?? task.params.train.save_checkpoints_steps;
    super(task, { modelDir, saveCheckpointsSteps, mode }, options);
    this.#config = config;
    this.modelDir = modelDir;
    const ignored = settingsOf(config, false).filter(
      ([name, { origin }]) => !USED.has(name) && !task.settings?.includes(name) && !origin.startsWith('rule'),
    );
    if (ignored.length > 0) log.warn(`settings without effect here: ${ignored.map(([name]) => name).join(', ')}`);
  }

  protected override place(): Partial<RunnerPlace> {
    const { restoreCkpt, saveCheckpointsSecs, checkpointsMaxToKeep } = this.#config;
    const { embeddingPrefetchCapacity: prefetch, enableEmbeddingPostpush: postpush } = this.#config;
    return { restoreCkpt, saveCheckpointsSecs, checkpointsMaxToKeep, prefetch, postpush, config: this.#config };
  }

  protected async runMode(estimator: RunnerEstimator, modelDir: string): Promise<void> {
    if (this.#config.mode === 'eval') await this.evaluate(estimator, modelDir);
    else await this.train(estimator, this.params.train.max_steps);
  }
}
