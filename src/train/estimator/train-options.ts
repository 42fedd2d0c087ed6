/** @file What a call of train is told, and what of it is refused. */
import { inspect } from 'node:util';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { BatchSource } from '../../data/batch-source.js';
import { type DataGiven, type DataSchema, sourceOf } from '../../data/source-of.js';
import type { MetricName } from '../../metrics/create-metric.js';
import type { BetterOptions } from '../hooks/better.js';
import type { EvaluationListener, EvaluationReport } from '../hooks/evaluation.js';
import type { Progress } from '../hooks/progress.js';
import type { TrainAsks } from '../hooks/train-asks.js';
import { checkHooks, type HooksGiven } from './estimator-options.js';

/** How long to train: one of `steps`, `until` and `epochs`. */
export interface TrainLimits {
  /** Steps to add; data that can be read again is read as often as that takes. */
  readonly steps?: number | null;
  /** Global step to stop at; with `steps` or `epochs` what comes first. */
  readonly until?: number | null;
  /** The same, by the name of tf.estimator. */
  readonly maxSteps?: number | null;
  /** Passes over the data. */
  readonly epochs?: number | null;
}

export interface StopEarly extends Partial<BetterOptions> {
  /** Evaluations in a row without a better value after which training stops. Default: 2. */
  readonly patience?: number;
}

/** Evaluations on the way. */
export interface EvaluateDuring<Data> {
  /** Held-out data, which can be read again. */
  readonly data: Data;
  /** Default: once in a pass where its length is known, else at the end alone. */
  readonly everySteps?: number;
  /** Whether to evaluate before the first step too, as a check and a start for curves. Default: false. */
  readonly atStart?: boolean;
  /** Metrics besides `auc` and `loss`. */
  readonly metrics?: readonly MetricName[];
  /** The feature that says which group an example is in, for `gauc` and the like. */
  readonly groupBy?: string;
  readonly stopEarly?: StopEarly;
  /** Told of each evaluation after a step, before it is judged. */
  readonly listeners?: readonly EvaluationListener[];
  /** Whether the best checkpoint is kept, in the folder `best` of the model directory. Default: true. */
  readonly keepBest?: boolean;
}

export interface TrainOptions<Data = unknown> extends TrainLimits {
  /** Default: that of the estimator. */
  readonly batchSize?: number;
  readonly evaluate?: EvaluateDuring<Data>;
  readonly onProgress?: (progress: TrainProgress) => void;
  /** Least time between two calls of onProgress. Default: 1000. */
  readonly progressIntervalMs?: number;
  /** Saves and stops when it is aborted. */
  readonly signal?: AbortSignal;
  /** After those of the estimator. */
  readonly hooks?: HooksGiven;
  /** What is asked of the training while it runs: a save, an evaluation. */
  readonly asks?: TrainAsks;
}

/** How far training has come, with what the last evaluation found. */
export interface TrainProgress extends Progress {
  /** Null before the first evaluation, and where it is undefined. */
  readonly auc: number | null;
  readonly evaluation: EvaluationReport | null;
}

/** The options of a call that were looked at, with sources for data. */
export interface CheckedTrainOptions extends Omit<TrainOptions, 'evaluate'> {
  readonly source: BatchSource;
  readonly limits: Limits;
  readonly evaluate?: EvaluateDuring<BatchSource>;
}

export interface Limits {
  /** Infinity where the data decides. */
  readonly steps: number;
  readonly until: number;
  /** Infinity where the data is read as often as it takes. */
  readonly epochs: number;
}

const WHERE = 'Estimator.train';

/** The call, with sources for its data. ML_OPTION or ML_DATASET for what is refused. */
export function checkedTrainCall(schema: DataSchema, data: unknown, options: TrainOptions): CheckedTrainOptions {
  const limits = checkTrainCall(options);
  const { evaluate, ...rest } = options ?? {};
  const source = sourceOf(WHERE, schema, data as DataGiven<unknown>);
  const isAgain = Number.isFinite(limits.epochs) && limits.epochs > 1;
  if (isAgain && source.once === true) throw once(WHERE, 'epochs');
  if (evaluate === undefined) return { ...rest, source, limits };
  const held = sourceOf(`evaluate of ${WHERE}`, schema, evaluate.data as DataGiven<unknown>);
  if (held.once === true) throw once(`${WHERE}, evaluate`, 'data');
  return { ...rest, source, limits, evaluate: { ...evaluate, data: held } };
}

/** The error of data that would have to be read again and cannot. */
function once(where: string, option: string): MonolithError {
  const hint = 'give a list, or a function that returns the rows: it is called for each pass';
  return new MonolithError('ML_OPTION', { where, option, reason: 'the data can be read only once' }, { hint });
}

/** Without options there are no steps to train, which is told in the words of that. */
function checkTrainCall(options: TrainOptions = {}): Limits {
  checkOptions(WHERE, options, [
    'steps',
    'until',
    'maxSteps',
    'epochs',
    'batchSize',
    'evaluate',
    'onProgress',
    'progressIntervalMs',
    'signal',
    'hooks',
    'asks',
  ]);
  checkHooks(WHERE, options.hooks);
  if (options.evaluate !== undefined) checkEvaluate(options.evaluate);
  return limitsOf(options);
}

function checkEvaluate(evaluate: EvaluateDuring<unknown>): void {
  const where = `${WHERE}, evaluate`;
  checkOptions(where, evaluate, [
    'data',
    'everySteps',
    'atStart',
    'metrics',
    'groupBy',
    'stopEarly',
    'listeners',
    'keepBest',
  ]);
  const { everySteps, stopEarly } = evaluate;
  if (everySteps !== undefined) wholeNumber('everySteps', everySteps, 1);
  if (stopEarly === undefined) return;
  checkOptions(`${where}, stopEarly`, stopEarly, ['metric', 'mode', 'minDelta', 'patience']);
}

function limitsOf({ steps, until, maxSteps, epochs }: TrainLimits): Limits {
  const given = [steps, until, maxSteps, epochs].filter((limit) => limit != null);
  if (given.length === 0) {
    throw refused('steps', 'neither steps nor epochs is given, so nothing says when to stop', 'epochs: 1 is one pass');
  }
  if (steps != null && epochs != null) {
    throw refused('epochs', 'steps and epochs are both given', 'give one of them; until goes with either');
  }
  return {
    steps: limit('steps', steps),
    until: Math.min(limit('until', until), limit('maxSteps', maxSteps)),
    epochs: limit('epochs', epochs, 1),
  };
}

function limit(option: string, value: number | null | undefined, least = 0): number {
  if (value == null || value === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  return wholeNumber(option, value, least);
}

function wholeNumber(option: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw refused(option, `${option} is a whole number from ${least} on, not ${inspect(value)}`);
}

function refused(option: string, reason: string, hint?: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: WHERE, option, reason }, hint === undefined ? {} : { hint });
}
