/**
 * @file What a process does with its RunnerConfig before it trains: the part of upstream's construction that takes time
 * or changes the process.
 *
 * A process whose `restoreDir` is set takes over a checkpoint of that directory: the chief writes the state, and all
 * others wait until it has, for as long as they would wait for a session.
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { copyCkptFile, waitForAdoption } from '../../checkpoint/adopt-checkpoint.js';
import { addMpiExceptionHook } from '../mpi-exception-hook.js';
import type { RunnerConfig } from './runner-config.js';

export interface PrepareOptions {
  /** Default: that of the record. */
  readonly modelDir?: string;
  readonly clock?: Clock;
  /** Default: that of the process. */
  readonly env?: Record<string, string | undefined>;
}

/** Roles of the data service, whose processes do not come back from this call in the reference. */
const DATA_SERVICE_ROLES = ['dispatcher', 'dsworker'];

/**
 * Gets a process ready to train with these settings. ML_DEADLINE when the chief does not set `restoreDir` up within
 * `sessionCreationTimeoutSecs`.
 *
 * ```ts
 * const config = new RunnerConfig({ isLocal: true, modelDir: 'runs/b', restoreDir: 'runs/a' });
 * await prepareRunner(config);
 * ```
 */
export async function prepareRunner(config: RunnerConfig, options: PrepareOptions = {}): Promise<void> {
  checkOptions('prepareRunner', options, ['modelDir', 'clock', 'env']);
  const { modelDir = config.modelDir, clock = systemClock, env = process.env } = options;
  const role = env.MLP_ROLE?.toLowerCase() ?? '';
  if (DATA_SERVICE_ROLES.includes(role)) {
    const reason = 'there is no data service here yet';
    throw new MonolithError('ML_UNIMPLEMENTED', { what: `the role ${role} (MLP_ROLE)`, reason });
  }
  addMpiExceptionHook({ env });
  exportTransport(config, env);
  if (!config.restoreDir) return;
  if (modelDir === '') {
    const reason = 'restoreDir is set, and modelDir, which takes the checkpoint over, is not';
    throw new MonolithError('ML_OPTION', { where: 'RunnerConfig', option: 'modelDir', reason });
  }
  const { restoreDir, restoreCkpt, serverType, index, isLocal, sessionCreationTimeoutSecs } = config;
  if (isLocal || (serverType === 'worker' && index === 0)) await copyCkptFile({ restoreDir, modelDir, restoreCkpt });
  else await waitForAdoption(modelDir, { clock, timeoutMs: sessionCreationTimeoutSecs * 1000 });
}

/** Says in the environment what transports of child processes read there. */
function exportTransport(config: RunnerConfig, env: Record<string, string | undefined>): void {
  env.TF_GRPC_WORKER_CACHE_THREADS = String(config.tfGrpcWorkerCacheThreads);
  env.MONOLITH_GRPC_WORKER_SERVICE_HANDLER_MULTIPLIER = String(config.monolithGrpcWorkerServiceHandlerMultiplier);
}
