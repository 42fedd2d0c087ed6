/** @file A checkpoint in a session of its own, which scores rows and knows which ids training saw. */
import { restoreSession } from '../checkpoint/restore-session.js';
import type { BatchSource } from '../data/batch-source.js';
import { Session, type SessionOptions } from '../runtime/session/session.js';
import { TABLES } from '../sparse/steps/embedding-ops.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { type BuiltModel, buildIn, type EstimatorModel } from '../train/estimator/estimator-model.js';
import { sessionOptionsOf } from '../train/estimator/estimator-options.js';
import { type PredictionBatch, predictedBatches } from '../train/estimator/predict-call.js';

export interface ScorerOptions {
  readonly threads?: number | undefined;
  readonly backend?: SessionOptions['backend'] | undefined;
  /** Bytes that tables may take. */
  readonly tableMemory?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const BATCH_SIZE = 1024;

export class Scorer {
  readonly #session: Session;
  readonly #model: BuiltModel;
  readonly #signal: AbortSignal | undefined;
  /** By the name of their feature. */
  readonly tables: ReadonlyMap<string, HashTable>;
  /** Global step of the checkpoint. */
  readonly step: number | null;

  private constructor(session: Session, model: BuiltModel, step: number | null, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#model = model;
    this.#signal = signal;
    this.step = step;
    const configs = session.graph.getCollection(TABLES);
    this.tables = new Map(configs.map((config) => [config.name, HashTable.of(session, config)]));
  }

  static async open(model: EstimatorModel, checkpoint: string, options: ScorerOptions = {}): Promise<Scorer> {
    const { threads, backend, tableMemory, signal } = options;
    const built = buildIn(model, 'predict');
    const given = {
      ...(threads !== undefined && { threads }),
      ...(backend !== undefined && { backend }),
      ...(tableMemory !== undefined && { tableMemory }),
    };
    const session = await Session.create(built.graph, sessionOptionsOf(given, model.schema.specs, BATCH_SIZE));
    try {
      const { step } = await restoreSession(session, checkpoint, { mode: 'subset' });
      return new Scorer(session, built, step, signal);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Predictions of a source, a batch at a time. */
  batches<Row>(source: BatchSource<Row>): AsyncGenerator<PredictionBatch<Row>, void, undefined> {
    const reading = { session: this.#session, model: this.#model, step: this.step, release: async () => undefined };
    return predictedBatches(reading, source, { batchSize: BATCH_SIZE, signal: this.#signal });
  }

  /** Predictions of a source of `rows` rows, in their order. */
  async all(source: BatchSource, rows: number): Promise<Float32Array> {
    const predictions = new Float32Array(rows);
    let at = 0;
    for await (const batch of this.batches(source)) {
      predictions.set(batch.predictions.subarray(0, batch.examples), at);
      at += batch.examples;
    }
    return predictions;
  }

  /** For each id 1 where the table of the feature has it. */
  known(feature: string, ids: BigInt64Array): Uint8Array | undefined {
    return this.tables.get(feature)?.contains(ids);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
