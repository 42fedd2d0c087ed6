/** @file What a runner works on: a task with parameters, and what trains and evaluates it in a model directory. */
import type { ResolvedConfig } from '../config/resolved-config.js';
import type { nativeTaskParams } from '../task-params.js';

type AllParams = ReturnType<typeof nativeTaskParams>;
/** What runners read and set of the parameters of a task. */
export type TaskParams = Pick<AllParams, 'name' | 'accelerator' | 'input' | 'eval' | 'train'> & {
  set(values: Readonly<Record<string, unknown>>): unknown;
};

/** Where and how a runner has its task trained. */
export interface RunnerPlace {
  readonly modelDir: string;
  /** Null: at the end alone. */
  readonly saveCheckpointsSteps: number | null;
  /** Checkpoint of the directory to go on from in place of the newest one. */
  readonly restoreCkpt?: string | null;
  /** Seconds between two checkpoints. */
  readonly saveCheckpointsSecs?: number | null;
  /** Newest checkpoints that are kept. Default: that of the saver. */
  readonly checkpointsMaxToKeep?: number;
  /** Batches whose rows are read ahead. */
  readonly prefetch?: number;
  /** Whether gradients go to the tables one step late. */
  readonly postpush?: boolean;
  /** All settings of the process, where a runner has them: a NativeRunner. */
  readonly config?: ResolvedConfig;
  /** Saves and stops when it is aborted. */
  readonly signal?: AbortSignal;
}

export interface RunnerTrained {
  readonly globalStep: number;
  readonly loss: number | null;
}

export interface RunnerEvaluated {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number | null>>;
  /** Of the checkpoint. */
  readonly globalStep: number;
}

/** Trains and evaluates one task in one model directory, as an Estimator does. */
export interface RunnerEstimator {
  /** From the newest checkpoint on: `steps` more, or up to `maxSteps`, whichever comes first. */
  train(limits: { readonly steps: number | null; readonly maxSteps: number | null }): Promise<RunnerTrained>;
  /** Reads a checkpoint, the newest one where none is given, and so many batches; null for all there are. */
  evaluate(options: { readonly steps: number | null; readonly checkpoint?: string }): Promise<RunnerEvaluated>;
  close(): Promise<void>;
}

export interface RunnerTask {
  /** What the task reads of it is up to the task; runners read steps, batch sizes and numbers of examples. */
  readonly params: TaskParams;
  /** Settings of a RunnerConfig that it goes by, besides those that every runner tells it. */
  readonly settings?: readonly string[];
  createEstimator(place: RunnerPlace): RunnerEstimator | Promise<RunnerEstimator>;
}
