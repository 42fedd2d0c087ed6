/** @file What an estimator is told when it is made, and what of it is refused. */
import { checkOptions } from '../../base/check-options.js';
import type { Clock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { isPath } from '../../base/files/read-file.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import type { RestoreOptions } from '../../checkpoint/restore-options.js';
import type { Settings } from '../../checkpoint/snapshot.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import { checkEnvironment } from '../config/environment.js';
import type { TrainHook } from '../hooks/hook.js';
import type { NanTensorOptions } from '../hooks/nan-tensor.js';
import type { LocalRestoreOptions, LocalSaverOptions, LocalTrainOptions } from '../local-train-options.js';
import type { ModelSpec } from '../model-spec.js';
import type { EstimatorEvent } from './estimator-event.js';

/** Hooks, or what makes them for the graph that is trained. */
export type HooksGiven = readonly TrainHook[] | ((model: ModelSpec) => readonly TrainHook[]);

/** What a model without a checkpoint of its own begins with. */
export interface WarmStart extends RestoreOptions {
  /** Prefix of a checkpoint, or a model directory. */
  readonly from: string;
}

/** Names are those of the flags of `monolith train`, where it has them. */
export interface EstimatorOptions {
  /**
   * Where checkpoints are kept; the newest one is gone on from. Default: weights are kept in a temporary directory
   * until `close`.
   */
  readonly modelDir?: string | null;
  /** Examples of a step. Default: 256. */
  readonly batchSize?: number;
  /** Default: every core. */
  readonly threads?: number;
  readonly backend?: SessionOptions['backend'];
  readonly cudaDriver?: string;
  readonly useGpuEmbTable?: NonNullable<SessionOptions['useGpuEmbTable']>;
  readonly seed?: number;
  /** The same bytes for any number of threads. */
  readonly deterministic?: boolean;
  /** Steps before its use that the rows of a batch are read. Default: 0. */
  readonly prefetch?: number;
  /** Whether gradients go to the tables in the step after theirs. Default: false. */
  readonly postpush?: boolean;
  /** Bytes that tables may take. */
  readonly tableMemory?: number;
  readonly whenFull?: NonNullable<SessionOptions['tablePolicy']>['whenFull'];
  /** More of what sessions are told: memory, kernels, events of traces. */
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize'>;
  /** Steps between two saves, besides the one at the end. */
  readonly saveEverySteps?: number | null;
  /** Seconds between two saves. Default: 600, unless steps are given. */
  readonly saveEverySecs?: number | null;
  /** Checkpoints to keep. Default: 5. */
  readonly keep?: number;
  /** Saves of variables alone in between, to `dense_only` in the model directory. */
  readonly denseOnly?: NonNullable<LocalTrainOptions['denseOnly']>;
  /**
   * Steps between two points of TensorBoard summaries in the model directory; 0 or null writes none. Default: 100, of
   * an estimator with a model directory.
   */
  readonly summaryEverySteps?: number | null;
  /** Whether summaries have the norm and the values of each variable and gradient. Default: false. */
  readonly summariseGradients?: boolean;
  /** Whether `ckpt.info-<step>` tells the rows of each feature slot with every save. Default: false. */
  readonly ckptInfo?: boolean;
  /** Whether tables are read again from each checkpoint once it is saved, without expired rows. Default: false. */
  readonly evictOnSave?: boolean;
  /** More for the saver: tide, listeners, exempt checkpoints. */
  readonly saver?: Omit<LocalSaverOptions, 'everySecs' | 'keep'>;
  /**
   * What training begins with while the model directory has no checkpoint: its step does not count, and what one of
   * the two does not have starts anew or is left out.
   */
  readonly warmStartFrom?: string | WarmStart;
  /** How the newest checkpoint is restored for training. Default: exactly. */
  readonly restore?: Omit<LocalRestoreOptions, 'from'>;
  /** Of every training, before those of a call. */
  readonly hooks?: HooksGiven;
  readonly nanLoss?: NanTensorOptions;
  /** Kept with checkpoints. */
  readonly settings?: Settings;
  /** Where throughput goes, under the metric prefix of the model. Default: nowhere. */
  readonly metrics?: MetricsClient;
  /**
   * Whether `modelDir` also gets what `monolith train` leaves in a run's folder: `events.jsonl` with all that `log` is
   * told, `run.json`, and `report.html`, also of a training that fails. Default: false.
   */
  readonly report?: boolean;
  /** Told of what happens. Default: warnings are warnings of the process, and nothing else is told. */
  readonly log?: (event: EstimatorEvent) => void;
  readonly clock?: Clock;
  /** How long a session for evaluations or predictions stays open for the next one. Default: 10. */
  readonly idleSeconds?: number;
}

const WHERE = 'Estimator';
export const BATCH_SIZE = 256;
/** A program that never closes its estimator ends so long after its last prediction. */
export const IDLE_SECONDS = 10;
const SAVE_SECS = 600;

/** ML_OPTION for options that are none or contradict each other; ML_UNSUPPORTED for BytePS. */
export function checkEstimatorOptions(options: EstimatorOptions): void {
  checkOptions(WHERE, options, [
    'modelDir',
    'batchSize',
    'threads',
    'backend',
    'cudaDriver',
    'useGpuEmbTable',
    'seed',
    'deterministic',
    'prefetch',
    'postpush',
    'tableMemory',
    'whenFull',
    'session',
    'saveEverySteps',
    'saveEverySecs',
    'keep',
    'summaryEverySteps',
    'summariseGradients',
    'ckptInfo',
    'evictOnSave',
    'saver',
    'denseOnly',
    'warmStartFrom',
    'restore',
    'hooks',
    'nanLoss',
    'settings',
    'metrics',
    'report',
    'log',
    'clock',
    'idleSeconds',
  ]);
  const { modelDir, saveEverySteps, saveEverySecs, summaryEverySteps } = options;
  if (modelDir != null && (!isPath(modelDir) || modelDir === '')) {
    throw refused(
      'modelDir',
      `'${String(modelDir)}' is no path of a directory`,
      'leave it out to keep nothing on disk',
    );
  }
  if (saveEverySteps != null && saveEverySecs != null) {
    throw refused(
      'saveEverySecs',
      'saveEverySteps is given too, and one of the two says when to save',
      'leave one out',
    );
  }
  if (summaryEverySteps != null && !(Number.isInteger(summaryEverySteps) && summaryEverySteps >= 0)) {
    throw refused(
      'summaryEverySteps',
      `summaryEverySteps is a number of steps, not ${String(summaryEverySteps)}`,
      '0 writes none',
    );
  }
  if (options.report === true && modelDir == null) {
    throw refused('report', 'there is no modelDir that a report could be in', 'give modelDir, or leave report out');
  }
  checkHooks(WHERE, options.hooks);
  checkEnvironment(process.env);
}

function refused(option: string, reason: string, hint?: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: WHERE, option, reason }, hint === undefined ? {} : { hint });
}

const HOOK_METHODS = [
  'begin',
  'afterCreateSession',
  'beforeRun',
  'afterRun',
  'poll',
  'drain',
  'end',
  'afterEnd',
  'close',
] as const satisfies readonly (keyof TrainHook)[];

/** ML_OPTION for hooks that are no list of hooks. */
export function checkHooks(where: string, hooks: unknown): void {
  if (hooks === undefined || typeof hooks === 'function') return;
  const isHook = (hook: unknown) =>
    typeof hook === 'object' &&
    hook !== null &&
    HOOK_METHODS.some((name) => typeof (hook as TrainHook)[name] === 'function');
  const hint = `a hook is an object with some of ${HOOK_METHODS.join(', ')}`;
  if (!Array.isArray(hooks)) {
    throw new MonolithError('ML_OPTION', { where, option: 'hooks', reason: 'hooks is a list of hooks' }, { hint });
  }
  const at = hooks.findIndex((hook) => !isHook(hook));
  if (at < 0) return;
  throw new MonolithError('ML_OPTION', { where, option: 'hooks', reason: `hooks[${at}] is no hook` }, { hint });
}

/** The session options of a batch size. */
export function sessionOptionsOf(
  options: EstimatorOptions,
  schema: SessionOptions['schema'],
  batchSize: number,
): SessionOptions {
  const { threads, backend, cudaDriver, useGpuEmbTable, seed, deterministic, prefetch, postpush } = options;
  const { tableMemory, whenFull, session = {} } = options;
  return {
    ...session,
    ...defined({ threads, backend, useGpuEmbTable, seed, deterministic, prefetch, postpush, tableBytes: tableMemory }),
    ...(cudaDriver !== undefined && { cuda: { ...session.cuda, driver: cudaDriver } }),
    ...(whenFull !== undefined && { tablePolicy: { ...session.tablePolicy, whenFull } }),
    schema,
    batchSize,
  };
}

/** When the saver saves besides the end. */
export function savingOf({ saveEverySteps, saveEverySecs, keep, saver }: EstimatorOptions): {
  readonly saveEverySteps: number | null;
  readonly saver: LocalSaverOptions;
} {
  const usual = saveEverySteps == null ? SAVE_SECS : undefined;
  // null says none; what is left out is as usual.
  const everySecs = saveEverySecs === undefined ? usual : (saveEverySecs ?? undefined);
  return { saveEverySteps: saveEverySteps ?? null, saver: { ...saver, ...defined({ everySecs, keep }) } };
}

const SUMMARY_STEPS = 100;

/** Steps between two points of summaries; 0 where none are written, as without a directory that stays. */
export function summaryStepsOf({ modelDir, summaryEverySteps = SUMMARY_STEPS }: EstimatorOptions): number {
  return modelDir == null ? 0 : (summaryEverySteps ?? 0);
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the keys whose value is undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
