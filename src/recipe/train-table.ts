/**
 * @file Trains what a recipe stands for on a table that was read: an evaluation before the first step and after each
 * epoch, an early stop, the best checkpoint kept, and in the end what the rows say that had no part in any choice.
 */
import { MonolithError } from '../base/errors.js';
import type { BatchSource } from '../data/batch-source.js';
import { auc } from '../metrics/auc.js';
import { GroupedAuc } from '../metrics/grouped.js';
import { Estimator } from '../train/estimator/estimator.js';
import type { EstimatorEvent } from '../train/estimator/estimator-event.js';
import type { EstimatorModel } from '../train/estimator/estimator-model.js';
import type { EstimatorOptions, HooksGiven } from '../train/estimator/estimator-options.js';
import type { TrainResult } from '../train/estimator/train-result.js';
import type { EvaluationListener } from '../train/hooks/evaluation.js';
import type { TrainAsks } from '../train/hooks/train-asks.js';
import type { PreparedTable } from './prepared-table.js';
import { featureColumns } from './recipe.js';
import type { DoneEvent, RunEvent, TestEvent } from './run-event.js';
import { logLoss, scored } from './score-curves.js';
import { heldOutSource, trainSource } from './table-source.js';

export interface RunLimits {
  readonly epochs: number;
  readonly steps: number | null;
  readonly until: number | null;
  /** Epochs without a better evaluation after which it stops; 0 never. */
  readonly patience: number;
  readonly minDelta: number;
  readonly metric: 'auc' | 'loss';
}

export interface RunSettings extends RunLimits {
  readonly estimator: EstimatorOptions;
  readonly batchSize: number;
  readonly seed: number;
  readonly progressIntervalMs: number;
  readonly signal: AbortSignal;
  readonly hooks?: HooksGiven;
  readonly asks?: TrainAsks;
  /** Told of evaluations. */
  readonly listeners?: readonly EvaluationListener[];
}

/** How much better than averages a model has to be: less is chance. */
const MARGIN = 0.002;
/** Steps from which a single pass is evaluated four times. */
const LONG_PASS = 200;
/** More evaluations than any run has. */
const NEVER = 2 ** 31 - 1;

/** What is trained on, and what judges it. */
export interface RunData {
  readonly train: BatchSource;
  readonly validation: BatchSource | undefined;
  readonly stepsPerEpoch: number | undefined;
}

/** What a run came to, before its report. */
export interface RunOutcome {
  readonly result: TrainResult;
  readonly threads: number;
  readonly backend: string;
  readonly epochs: number;
}

/** The parts of a table as sources of batches. */
export function dataOf({ table, parts }: PreparedTable, { batchSize, seed }: RunSettings): RunData {
  return {
    train: trainSource(table, parts.train, seed),
    validation: heldOutSource(table, parts.validation),
    stepsPerEpoch: Math.ceil(parts.train.length / batchSize),
  };
}

/** Trains; events of the estimator and what is found on the way go to `tell`. */
export async function trainRun(
  estimator: (log: (event: EstimatorEvent) => void) => Estimator,
  data: RunData,
  settings: RunSettings,
  tell: (event: RunEvent) => void,
): Promise<RunOutcome & { readonly estimator: Estimator }> {
  const {
    epochs: passes,
    steps,
    until,
    patience,
    minDelta,
    metric,
    signal,
    progressIntervalMs,
    hooks,
    listeners,
    asks,
  } = settings;
  let start: Extract<RunEvent, { event: 'start' }> | undefined;
  const early: RunEvent[] = [];
  const made = estimator((event) => {
    // What is evaluated before the first step is told after the start.
    if (event.event === 'start') {
      start = event;
      tell(event);
      for (const one of early.splice(0)) tell(one);
    } else if (start === undefined && event.event === 'eval') early.push(event);
    else tell(event);
  });
  const { validation, stepsPerEpoch } = data;
  // A single pass that is long is looked at on its way, and is not stopped: all of its rows are new.
  const isOnce = passes === 1 && stepsPerEpoch !== undefined && stepsPerEpoch >= LONG_PASS;
  try {
    const result = await made.train(data.train as never, {
      ...(steps === null ? { epochs: passes } : { steps }),
      ...(until !== null && { until }),
      signal,
      progressIntervalMs,
      ...(hooks && { hooks }),
      ...(asks && { asks }),
      ...(validation && {
        evaluate: {
          data: validation as never,
          atStart: true,
          ...(listeners && { listeners }),
          ...(stepsPerEpoch !== undefined && { everySteps: isOnce ? Math.ceil(stepsPerEpoch / 4) : stepsPerEpoch }),
          stopEarly: { metric, minDelta, patience: patience === 0 || isOnce ? NEVER : patience },
        },
      }),
    });
    const epochs = stepsPerEpoch === undefined ? 0 : (result.step - result.startStep) / stepsPerEpoch;
    const { step, best, stoppedBy, seconds, examplesPerSecond: examplesPerS } = result;
    tell({ event: 'trained', step, epochs, bestStep: best?.step ?? null, stoppedBy, seconds, examplesPerS });
    return { estimator: made, result, threads: start?.threads ?? 0, backend: start?.backend ?? '', epochs };
  } catch (error) {
    await made.close();
    throw error;
  }
}

/** What the rows that report say of the best checkpoint, beside the averages; undefined where nothing was trained. */
export async function testTable(
  prepared: PreparedTable,
  estimator: Estimator,
  { result }: RunOutcome,
  ceiling: number | null,
): Promise<TestEvent | undefined> {
  const checkpoint = result.best?.checkpoint ?? result.checkpoint;
  if (checkpoint === null) return undefined;
  const { table, parts, label, averages, idColumns } = prepared;
  const labels = Float32Array.from(parts.test, (row) => label[row]!);
  const predictions = await predictionsOf(estimator, heldOutSource(table, parts.test), parts.test.length, checkpoint);
  const average = averages.predict(parts.test);
  return {
    event: 'test',
    step: result.best?.step ?? result.step,
    ...scored(labels, predictions),
    gauc: groupedAuc(prepared, labels, predictions),
    baseline:
      idColumns.length === 0 ? null : { auc: auc(labels, average), loss: logLoss(labels, average), columns: idColumns },
    ceiling,
  };
}

/** Columns of who is asked for: what is shown to one of them is ranked. */
const GROUP = /(?:^|[_\s.-])(?:user|uid|member|customer|visitor|session|query)(?:s|[_\s.-]?id|Id|ID)?$/i;

/** AUC within what the rows were split by, else within users, where there is such a column. */
function groupedAuc(
  { recipe, table, parts, splitBy }: PreparedTable,
  labels: Float32Array,
  predictions: Float32Array,
): Exclude<TestEvent['gauc'], undefined> {
  const ids = featureColumns(recipe).filter(({ role }) => role === 'id');
  const column = (ids.find(({ name }) => name === splitBy) ?? ids.find(({ name }) => GROUP.test(name)))?.name;
  if (column === undefined) return null;
  const values = table.feed(column).values as BigInt64Array;
  const metric = new GroupedAuc();
  metric.update(
    labels,
    predictions,
    undefined,
    BigInt64Array.from(parts.test, (row) => values[row]!),
  );
  return { column, value: metric.result() };
}

/** Predictions of a checkpoint for all rows of a source, in their order. */
export async function predictionsOf(
  estimator: Estimator,
  source: BatchSource,
  rows: number,
  checkpoint: string,
): Promise<Float32Array> {
  const predictions = new Float32Array(rows);
  let at = 0;
  const options = { checkpoint, yieldSingleExamples: false } as const;
  for await (const batch of estimator.predict(source as never, options)) {
    predictions.set(batch.predictions.subarray(0, batch.examples), at);
    at += batch.examples;
  }
  if (at !== rows) throw new MonolithError('ML_INTERNAL', { reason: `${at} predictions came for ${rows} rows` });
  return predictions;
}

export function estimatorOf(model: EstimatorModel, { estimator }: RunSettings) {
  return (log: (event: EstimatorEvent) => void): Estimator => new Estimator(model, { ...estimator, log });
}

/** What to say of a model that the averages are as good as. */
export function verdict({ auc: found, baseline }: TestEvent, by: string, unseen: Readonly<Record<string, number>>) {
  if (found === null || baseline === null || baseline.auc === null || found > baseline.auc + MARGIN) return undefined;
  const strange = Object.entries(unseen).filter(([, share]) => share > 0.3);
  const why = strange.map(([name, share]) => `${Math.round(share * 100)} % of the held-out rows have a new ${name}`);
  const known = by === 'row' ? '' : '; --split row measures ids that are known';
  const message =
    'the model is no better than averages here' +
    (why.length === 0
      ? '. Columns that say more, or --model lr, may help'
      : `: ${why.join(', ')}. Features that new ones have would help${known}`);
  return { event: 'warning', code: 'ML_LABEL', message } as const;
}

export function doneEvent(outcome: RunOutcome, test: TestEvent | undefined, more: Partial<DoneEvent>): DoneEvent {
  const { result, threads, backend, epochs } = outcome;
  return {
    event: 'done',
    step: result.step,
    loss: result.loss,
    auc: test?.auc ?? result.best?.auc ?? null,
    evalLoss: test?.loss ?? result.best?.loss ?? null,
    baselineAuc: test?.baseline?.auc ?? null,
    epochs,
    bestStep: result.best?.step ?? null,
    seconds: result.seconds,
    examplesPerS: result.examplesPerSecond,
    stepsPerS: result.seconds > 0 ? (result.step - result.startStep) / result.seconds : 0,
    threads,
    backend,
    checkpoint: result.best?.checkpoint ?? result.checkpoint,
    modelDir: null,
    report: null,
    trace: null,
    stoppedBy: result.stoppedBy,
    interrupted: result.stoppedBy === 'signal',
    ...more,
  };
}
