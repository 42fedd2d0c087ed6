/** @file One call of predict: predictions of the data as somebody takes them, with the newest checkpoint. */
import { checkOptions } from '../../base/check-options.js';
import type { BatchSource } from '../../data/batch-source.js';
import { BATCH, type BatchSchema, type FeedData, type PartialBatchData, readPartialBatch } from '../../memory/batch.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import { untilAborted, untilEnd } from './held-out.js';
import type { Reading } from './reading-sessions.js';

export interface PredictOptions {
  /** False gives a batch at a time. Default: true, an example. */
  readonly yieldSingleExamples?: boolean;
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpoint?: string;
  /** Default: that of the estimator. */
  readonly batchSize?: number;
  /** Ends the prediction with ML_CANCELLED when it is aborted. */
  readonly signal?: AbortSignal;
}

/** What one head predicts for an example. */
export interface PredictedValue {
  /** A probability or a number; where there are several, as of classes, the place of the largest. */
  readonly prediction: number;
  /** All of them, where there are several. */
  readonly values?: Float32Array;
}

export interface Prediction<Row = unknown> extends PredictedValue {
  /** As it was given; absent where the data has no rows. */
  readonly row?: Row;
  /** By name, of a model with several heads; `prediction` is that of the first. */
  readonly heads?: Readonly<Record<string, PredictedValue>>;
}

export interface PredictionBatch<Row = unknown> {
  readonly rows?: readonly Row[];
  readonly examples: number;
  /** One for each example, or, where a head predicts several, all of an example after those of the one before. */
  readonly predictions: Float32Array;
  /** By name, of a model with several heads; `predictions` are those of the first. */
  readonly heads?: Readonly<Record<string, Float32Array>>;
}

export function checkPredictCall(options: PredictOptions): void {
  checkOptions('Estimator.predict', options, ['yieldSingleExamples', 'checkpoint', 'batchSize', 'signal']);
}

/** Batches of predictions. Who stops taking them ends it. */
export async function* predictedBatches<Row>(
  { session, model }: Reading,
  source: BatchSource<Row>,
  { batchSize, signal }: { readonly batchSize: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<PredictionBatch<Row>, void, undefined> {
  const input = await source.open(session, { mode: 'predict', batchSize, epochs: 1 });
  const { views, schema } = coreOf(session);
  const { pred, heads: all = [] } = model;
  const names = all.length > 1 ? all.map(({ name }) => name) : undefined;
  const fetches = names === undefined ? [pred] : all.map((head) => head.pred);
  const listener = model.listener?.();
  try {
    for await (const batch of untilAborted('a prediction', untilEnd(input), signal)) {
      const examples = views.u32[batch / 4 + BATCH.rows]!;
      const rows = input.rowsOf?.(batch);
      const features = listener && featuresOf(schema, readPartialBatch(views, batch, schema));
      const values = (await session.run(fetches, batch, { mode: 'predict' })) as Float32Array[];
      const heads = names && Object.fromEntries(names.map((name, index) => [name, values[index]!]));
      if (features) await listener.batch({ examples, features, heads: heads ?? { [model.name]: values[0]! } });
      yield { ...(rows && { rows }), examples, predictions: values[0]!, ...(heads && { heads }) };
    }
  } finally {
    await listener?.close();
    await input.close?.();
  }
}

function featuresOf(schema: BatchSchema, { feeds }: PartialBatchData): Readonly<Record<string, FeedData>> {
  return Object.fromEntries(
    schema.flatMap(({ name }, index) => (feeds[index] === undefined ? [] : [[name, feeds[index]]])),
  );
}

/** The examples of a batch one by one. */
export function* singleExamples<Row>(batch: PredictionBatch<Row>): Generator<Prediction<Row>, void, undefined> {
  const { rows, predictions, heads, examples } = batch;
  for (let example = 0; example < examples; example++) {
    yield {
      ...(rows && { row: rows[example]! }),
      ...exampleOf(predictions, example, examples),
      ...(heads && {
        heads: Object.fromEntries(
          Object.entries(heads).map(([name, all]) => [name, exampleOf(all, example, examples)]),
        ),
      }),
    };
  }
}

function exampleOf(all: Float32Array, example: number, examples: number): PredictedValue {
  const width = all.length / examples;
  if (width === 1) return { prediction: all[example]! };
  const values = all.slice(example * width, (example + 1) * width);
  return { prediction: values.indexOf(Math.max(...values)), values };
}
