/**
 * @file Feature engineering: only the input of a task runs, and its batches are written (cpu_training,
 * local_feature_engineering, and FeatureEngineeringSaveHook of hooks).
 *
 * A record of a file is eight bytes of 0, the size of the message in eight bytes, and the message: an ExampleBatch
 * with a list for each feature of the batch, floats as they are and ids as fids.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import type { BatchInput } from '../../data/batch-source.js';
import { Graph } from '../../graph/graph.js';
import { EXAMPLE_BATCH } from '../../io/example-messages.js';
import { type BatchData, type BatchSchema, type FeedData, readBatch } from '../../memory/batch.js';
import { Session, type SessionOptions } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { CpuTrainingConfig } from '../config/training-config.js';
import { CpuTraining } from './cpu-training.js';
import type { TaskParams } from './native-task.js';
import { isChief } from './native-task-context.js';
import { taskSource } from './task-source.js';

/** Batches of a file. */
const BATCHES_PER_FILE = 100;

export interface FeatureWriterOptions {
  readonly modelDir: string;
  readonly config: Pick<CpuTrainingConfig, 'serverType' | 'index' | 'numPs' | 'numWorkers' | 'modelName'>;
  readonly schema: BatchSchema;
  /** Batches of a file. Default: 100. */
  readonly cap?: number;
}

/** Writes batches, so many to a file: FeatureEngineeringSaveHook of the reference. */
export class FeatureWriter {
  readonly #options: FeatureWriterOptions;
  readonly #records: Uint8Array[] = [];
  /** Files that were written. */
  readonly files: string[] = [];

  constructor(options: FeatureWriterOptions) {
    this.#options = options;
  }

  async add(batch: BatchData): Promise<void> {
    this.#records.push(recordOf(this.#options.schema, batch));
    if (this.#records.length >= (this.#options.cap ?? BATCHES_PER_FILE)) await this.flush();
  }

  /** Writes what was added since the last file. */
  async flush(): Promise<void> {
    if (this.#records.length === 0) return;
    const { modelDir, config } = this.#options;
    const dir = join(modelDir, 'features');
    mkdirSync(dir, { recursive: true });
    const who = isChief(config) ? 'chief' : `worker${config.index}`;
    const file = join(dir, `${who}_${randomUUID()}.pb`);
    await writeFileAtomic(file, Buffer.concat(this.#records.splice(0)));
    this.files.push(file);
  }
}

export interface FeatureRunOptions {
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize'>;
}

/** Runs the input of a task for so many batches and writes them below the model directory; the files. */
export async function localFeatureEngineering(
  params: TaskParams,
  config: CpuTrainingConfig,
  modelDir: string,
  steps: number,
  { session: sessionOptions = {} }: FeatureRunOptions = {},
): Promise<readonly string[]> {
  const training = new CpuTraining(config, params.instantiate());
  const taskInput = training.createInputFn('train')();
  const { schema, batchSize } = taskInput;
  const graph = new Graph({ mode: 'predict' });
  schema.inputs(graph);
  const session = await Session.create(graph, { threads: 1, ...sessionOptions, schema, batchSize });
  try {
    const input = await taskSource(taskInput).open(session, { mode: 'train', batchSize, epochs: 1 });
    const writer = new FeatureWriter({ modelDir, config: training.config, schema: schema.specs });
    try {
      for (let step = 0; step < steps; step++) {
        const batch = await nextOf(input);
        if (batch === undefined) break;
        await writer.add(readBatch(coreOf(session).views, batch, schema.specs));
      }
      await writer.flush();
    } finally {
      await input.close?.();
    }
    return writer.files;
  } finally {
    await session.close();
  }
}

async function nextOf(input: BatchInput): Promise<number | undefined> {
  try {
    return await input.next();
  } catch (error) {
    if (error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE') return undefined;
    throw error;
  }
}

/** Eight bytes of 0, the size, the message. */
function recordOf(schema: BatchSchema, { rows, feeds }: BatchData): Uint8Array {
  const message = EXAMPLE_BATCH.encode({
    namedFeatureList: schema.map(({ name }, index) => ({ name, feature: featuresOf(feeds[index]!, rows) })),
    batchSize: rows,
  });
  const record = Buffer.alloc(16 + message.length);
  record.writeBigUInt64LE(BigInt(message.length), 8);
  record.set(message, 16);
  return record;
}

/** A list of values for each example. */
function featuresOf(feed: FeedData, rows: number) {
  return Array.from({ length: rows }, (_, row) => {
    if (feed.kind === 'ragged') {
      return { fidV2List: { value: feed.values.slice(feed.splits[row]!, feed.splits[row + 1]!) } };
    }
    const width = feed.values.length / rows;
    const [from, to] = [row * width, (row + 1) * width];
    if (feed.kind === 'ids') return { fidV2List: { value: feed.values.slice(from, to) } };
    return { floatList: { value: feed.values.slice(from, to) } };
  });
}
