/** @file What a task knows of the job it is a part of (native_training/native_task_context). */
import { Scope } from './scope.js';

/** Watches who serves a model, so that parameters can be pushed there. */
export interface SyncBackend {
  start(): Promise<void> | void;
  subscribeModel(modelName: string): Promise<void> | void;
  getSyncTargets(subGraph: string): SyncTargets | Promise<SyncTargets>;
  stop(): Promise<void> | void;
}

export interface SyncTargets {
  readonly model: string;
  readonly targets: readonly string[];
}

export interface NativeTaskContext {
  readonly numPs: number;
  readonly psIndex: number;
  readonly numWorkers: number;
  readonly workerIndex: number;
  readonly modelName: string;
  readonly syncBackend: SyncBackend | null;
  readonly serverType: string;
}

/** The fields of a training config that make the context. */
export interface RoleConfig {
  readonly serverType: string;
  readonly index: number;
  readonly numPs: number;
  readonly numWorkers: number;
  readonly modelName: string;
  readonly enableSyncTraining?: boolean;
  readonly enablePartialSyncTraining?: boolean;
}

const NONE: NativeTaskContext = {
  numPs: 0,
  psIndex: 0,
  numWorkers: 1,
  workerIndex: 0,
  modelName: '',
  syncBackend: null,
  serverType: '',
};
const scope = new Scope<NativeTaskContext>();

/** The context of the innermost scope; outside of any, that of one worker without parameter servers. */
export function getNativeTaskContext(): NativeTaskContext {
  return scope.get() ?? NONE;
}

/** Runs `body` as a part of the job. */
export function withNativeTaskContext<R>(context: NativeTaskContext, body: () => R): R {
  return scope.with(context, body);
}

/** The context of a process by its role. */
export function makeNativeTaskContext(config: RoleConfig, syncBackend: SyncBackend | null = null): NativeTaskContext {
  const { serverType, index, numPs, numWorkers, modelName } = config;
  return {
    numPs,
    psIndex: serverType === 'ps' ? index : 0,
    numWorkers,
    workerIndex: serverType === 'worker' ? index : 0,
    modelName,
    syncBackend,
    serverType,
  };
}

/** Whether the process is the one that saves: of workers in step the one of rank 0, else the one of index 0. */
export function isChief(config: RoleConfig): boolean {
  if (config.serverType !== 'worker') return false;
  const inStep = config.enableSyncTraining === true || config.enablePartialSyncTraining === true;
  return (inStep ? Number(process.env.OMPI_COMM_WORLD_RANK ?? 0) : config.index) === 0;
}
