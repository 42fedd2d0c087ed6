/**
 * @file What the `train` command and the training job say to each other.
 *
 * The command owns flags, signals and printing; the job owns everything else and prints nothing. Both sides import only
 * these types, so `monolith --help` loads no training code.
 */

import type { RestoreMode } from '../checkpoint/restore-options.js';
import type { WhenFull } from '../memory/table-layout.js';
import type { StartFacts } from '../train/estimator/estimator-event.js';

export const MODELS = ['ffm'] as const;
export const DATA_SOURCES = ['clicks', 'reference'] as const;
export const BACKENDS = ['wasm', 'reference', 'cuda', 'auto'] as const;
export const EVAL_METRICS = ['auc', 'loss'] as const;

export type ModelName = (typeof MODELS)[number];
export type DataName = (typeof DATA_SOURCES)[number];
export type BackendName = (typeof BACKENDS)[number];

export interface TrainJobOptions {
  readonly model: ModelName;
  /** `clicks` draws labels from a hidden model; `reference` is upstream's generator, whose labels are always 0. */
  readonly data: DataName;
  /** Ids per slot. */
  readonly vocab: number;
  /** Steps to add in this run, on top of a restored checkpoint's; null for as many as `until` asks for. */
  readonly steps: number | null;
  /** Global step to stop at, or null. */
  readonly until: number | null;
  readonly batchSize: number;
  readonly threads: number;
  readonly backend: BackendName;
  /** Path of the CUDA driver, `sim` for the simulated one, null for the machine's. */
  readonly cudaDriver: string | null;
  readonly useGpuEmbTable: boolean;
  /** null: they grow. */
  readonly gpuTableRows: number | null;
  readonly modelDir: string | null;
  /** What a run begins with when its model directory has no checkpoint. */
  readonly restoreFrom: string | null;
  readonly restoreMode: RestoreMode;
  /** Checkpoint of the model directory in place of the newest one, or null. */
  readonly restoreCkpt: string | null;
  /** Model directory whose checkpoint an empty one takes over, or null. */
  readonly restoreDir: string | null;
  readonly seed: number;
  /** Bytes that tables may take; null for what fits beside the programs. */
  readonly tableMemory: number | null;
  readonly whenFull: WhenFull;
  /** Same bytes for any thread count. */
  readonly deterministic: boolean;
  /** Steps before its use that the rows of a batch are read. */
  readonly prefetch: number;
  /** Whether gradients go to the tables in the step after theirs. */
  readonly postpush: boolean;
  /** Trace file to write, or null for no tracing. */
  readonly trace: string | null;
  /** File for the graph of the model as JSON, or null. */
  readonly dumpGraph: string | null;
  readonly saveEverySteps: number | null;
  /** Steps between two evaluations, or null for one at the end. */
  readonly evalEvery: number | null;
  /** What early stopping and the keeping of the best go by. */
  readonly metric: (typeof EVAL_METRICS)[number];
  readonly minDelta: number;
  /** Evaluations without a better one after which training stops, or null. */
  readonly earlyStop: number | null;
  readonly keepBest: boolean;
  /** Log to write, or null. */
  readonly csv: string | null;
  readonly summaryEvery: number;
  readonly csvEvery: number;
  /** Steps to trace: from `first` up to `end`, without it. */
  readonly profile: { readonly first: number; readonly end: number } | null;
  readonly profileEvery: number | null;
  readonly profileDir: string | null;
  /** Least time between two progress events. The job sends one more for its last step, whatever the time. */
  readonly progressIntervalMs: number;
  /**
   * Aborted when the user asks to stop: save, stop, and resolve with `interrupted: true`. May be aborted at the start.
   */
  readonly signal: AbortSignal;
}

export type TrainEvent =
  | ({
      readonly event: 'start';
      readonly data: string;
      /** Steps this run will train. */
      readonly steps: number;
      /** Path of the checkpoint training goes on from. */
      readonly restored: string | null;
    } & StartFacts)
  | {
      readonly event: 'progress';
      readonly step: number;
      readonly endStep: number;
      readonly loss: number;
      readonly stepsPerS: number;
      readonly examplesPerS: number;
      /** Null until there is a rate to reckon with. */
      readonly etaS: number | null;
    }
  | {
      readonly event: 'checkpoint';
      readonly step: number;
      readonly path: string;
      readonly bytes: number;
      readonly ms: number;
    }
  | {
      readonly event: 'eval';
      readonly step: number;
      /** Null when every held-out label is of one class. */
      readonly auc: number | null;
      readonly loss: number;
      readonly examples: number;
    }
  /** The evaluation before it was the best so far, and this is its checkpoint. */
  | {
      readonly event: 'best';
      readonly step: number;
      readonly metric: string;
      readonly value: number;
      readonly path: string;
    }
  /** The steps from `firstStep` up to `endStep`, without it, are in this trace. */
  | { readonly event: 'profile'; readonly firstStep: number; readonly endStep: number; readonly path: string }
  | { readonly event: 'warning'; readonly code: string; readonly message: string }
  /** Worth knowing, and nothing is wrong. */
  | { readonly event: 'note'; readonly message: string };

export type ProgressEvent = Extract<TrainEvent, { event: 'progress' }>;
export type StartEvent = Extract<TrainEvent, { event: 'start' }>;

export interface TrainResult {
  readonly step: number;
  readonly loss: number | null;
  readonly auc: number | null;
  /** Mean loss over the held-out examples. */
  readonly evalLoss: number | null;
  readonly examplesPerS: number;
  readonly stepsPerS: number;
  readonly threads: number;
  readonly backend: string;
  readonly device: string;
  readonly kernels: string;
  readonly checkpoint: string | null;
  readonly trace: string | null;
  readonly interrupted: boolean;
}

export type TrainJob = (options: TrainJobOptions, onEvent: (event: TrainEvent) => void) => Promise<TrainResult>;
