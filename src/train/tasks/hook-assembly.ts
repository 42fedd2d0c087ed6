/**
 * @file The hooks of a training in the order of cpu_training.
 *
 * Control hooks come before those that work on data, so that no batch is taken before the worker may start. Savers are
 * the trainer's own (saving-rules.ts says what they are told): they save after all hooks have drained, wherever they
 * stand, so that nothing that was pushed is missing from the last checkpoint.
 */
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import type { AsyncFunctionMgr } from '../async-function-mgr.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import { BarrierHook, BarrierOp } from '../hooks/barrier.js';
import type { Broadcast } from '../hooks/broadcast.js';
import { type ControlKv, LocalControlKv } from '../hooks/control-kv.js';
import type { TrainHook } from '../hooks/hook.js';
import { ProfilerHook } from '../hooks/profiler.js';
import { CustomGlobalStepWaiterHook } from '../hooks/step-waiter.js';
import { TrainingHooksHelper } from '../hooks/sync-hooks.js';
import { ThroughputMetricHook } from '../hooks/throughput.js';
import { TideStoppingHook } from '../hooks/tide.js';
import { SetCurrentSessionHook } from './current-session.js';
import type { NativeTask } from './native-task.js';
import { isChief } from './native-task-context.js';
import { tideOf } from './saving-rules.js';
import { type SaveTimer, SyncTrainingSaverControlHook } from './sync-training-hooks.js';

/** What hooks of a training share with other processes, and where they report to. */
export interface HookContext {
  /** Default: one of this process. */
  readonly kv?: ControlKv;
  readonly metrics?: MetricsClient;
  readonly clock?: Clock;
  /** Among workers in step. Default: there is one. */
  readonly broadcast?: Broadcast;
  /** Of saves without tables. */
  readonly denseTimer?: SaveTimer;
}

export interface AssemblyContext extends HookContext {
  readonly config: CpuTrainingConfig;
  readonly task: NativeTask;
  readonly asyncFunctionMgr: AsyncFunctionMgr;
  readonly modelDir: string | null;
}

/** Hooks of every worker. Rows ahead and late pushes are the session's: it has no hooks for them. */
export function trainingHooks(context: AssemblyContext, ofTask: readonly TrainHook[]): readonly TrainHook[] {
  const { config, asyncFunctionMgr } = context;
  return [
    new SetCurrentSessionHook(),
    ...(config.enableSyncTraining ? [] : controlHooks(context)),
    ...asyncFunctionMgr.hooks,
    ...ofTask,
  ];
}

function controlHooks(context: AssemblyContext): TrainHook[] {
  const { config, task, clock = systemClock } = context;
  const { index, numWorkers } = config;
  const kv = kvOf(context);
  const hooks: TrainHook[] = [...syncHelper(context).trainingHooks];
  hooks.push(new BarrierHook(index, new BarrierOp({ capacity: numWorkers, kv, clock })));
  const slowStart = task.p.train.slow_start_steps;
  if (task.p.mode === 'train' && slowStart !== 0) {
    hooks.push(
      new CustomGlobalStepWaiterHook({
        waitUntilStep: Math.trunc(slowStart * Math.log(1 + index)),
        maxNonTideWaitMinute: config.maxSlowStartWaitMinute,
        clock,
      }),
    );
  }
  return hooks;
}

/** Hooks of the chief besides its savers. */
export function chiefHooks(context: AssemblyContext, ofTask: readonly TrainHook[]): readonly TrainHook[] {
  const { config } = context;
  if (!isChief(config)) return [];
  const tide = config.clusterType === 'tide' ? tideOf(config) : undefined;
  return [
    ...(config.enableSyncTraining ? [] : syncHelper(context).trainingChiefHooks),
    ...denseControl(context),
    ...profilers(context),
    ...throughput(context),
    ...(tide === undefined ? [] : [new TideStoppingHook(tide, context.clock)]),
    ...ofTask,
  ];
}

/** Workers in step that train on a stream save without tables only while somebody wants them online. */
function denseControl({ config, modelDir, denseTimer, broadcast, clock }: AssemblyContext): TrainHook[] {
  const { enableSyncTraining, enableRealtimeTraining } = config;
  if (!(enableSyncTraining && enableRealtimeTraining) || denseTimer === undefined || modelDir === null) return [];
  const options = { ...(broadcast && { broadcast }), ...(clock && { clock }) };
  return [new SyncTrainingSaverControlHook(modelDir, denseTimer, options)];
}

function profilers({ config, task, modelDir }: AssemblyContext): TrainHook[] {
  if (config.profileWithNvprofFromTo !== null) {
    const reason = 'steps are traced by profileSomeStepsFrom, those of a GPU too';
    throw new MonolithError('ML_UNSUPPORTED', { what: 'profileWithNvprofFromTo', reason });
  }
  const { profileSomeStepsFrom: startStep, profileSaveStepsInterval: everySteps } = config;
  // Upstream profiles from step 500 on where nobody says so; here it is asked for, since it writes files of its own.
  if (!task.p.metrics.enable_tf2_profiler_hook || startStep === null || modelDir === null) return [];
  return [new ProfilerHook({ dir: join(modelDir, 'profile'), startStep, everySteps })];
}

function throughput({ config, task, metrics, clock }: AssemblyContext): TrainHook[] {
  if (!task.p.metrics.enable_throughput_hook || metrics === undefined) return [];
  const { submitTimeSecs, clusterType, modelName } = config;
  const batchSize = task.p.train.per_replica_batch_size;
  return [
    new ThroughputMetricHook({
      modelName,
      clusterType,
      client: metrics,
      ...(batchSize !== null && { batchSize }),
      ...(submitTimeSecs !== null && { startTime: submitTimeSecs * 1000 }),
      ...(clock && { clock }),
    }),
  ];
}

function syncHelper(context: AssemblyContext): TrainingHooksHelper {
  const { config, clock } = context;
  return new TrainingHooksHelper({
    enableSync: config.numWorkers > 1,
    numWorkers: config.numWorkers,
    workerIndex: config.index,
    kv: kvOf(context),
    timeoutSeconds: config.chiefTimeoutSecs,
    ...(clock && { clock }),
  });
}

/** The one that was given, else one for all hooks of the graph at hand. */
function kvOf({ kv, asyncFunctionMgr }: AssemblyContext): ControlKv {
  if (kv !== undefined) return kv;
  const known = local.get(asyncFunctionMgr) ?? new LocalControlKv();
  local.set(asyncFunctionMgr, known);
  return known;
}
const local = new WeakMap<AsyncFunctionMgr, ControlKv>();
