/**
 * @file The demo data sets as batches: the reference's own input, and one with clicks to learn from.
 *
 * - 'reference' is the input of TestFFMModel: 64 examples whose labels are all 0, batched with the remainder dropped,
 *   repeated forever. A batch above 64 would drop everything, so there the set is as large as one batch.
 * - 'clicks' has the same stream of ids, but more of it, and labels from a hidden teacher; whole batches. Its held-out
 *   set has the same teacher and another stream of ids.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { MersenneTwister } from '../base/random.js';
import type { DatasetSize, DatasetSource, OpenDataset } from '../data/dataset-source.js';
import { loadBatches, writeBatches } from '../data/resident-batches.js';
import type { Arena } from '../memory/arena.js';
import { type BatchData, bytesFor } from '../memory/batch.js';
import type { Views } from '../memory/views.js';
import type { SessionHandle } from '../runtime/session/session-handle.js';
import { ClickTeacher } from './click-teacher.js';
import { FFM_LENGTH_MAX, FFM_SLOT_COUNT, type FfmExample, ffmSchema, generateFfmExample } from './ffm-example.js';

export const REFERENCE_EXAMPLE_COUNT = 64;
export const CLICKS_EXAMPLE_COUNT = 16384;
export const HELD_OUT_EXAMPLE_COUNT = 8192;
/** Sets the held-out stream of ids apart from the training stream. */
const HELD_OUT_STREAM = 0x9e3779b9;

export interface FfmDatasetOptions {
  readonly kind: 'reference' | 'clicks';
  /** Ids per slot; there are 6 slots. */
  readonly vocab: number;
  readonly batchSize: number;
  readonly seed: number;
  /** At least this many for 'clicks', which is filled up to whole batches; the remainder is dropped for 'reference'. */
  readonly examples?: number;
  /** Default: 'train'. */
  readonly split?: 'train' | 'held-out';
}

/**
 * The set to evaluate on. That of 'reference' is its training set: the reference evaluates on the training input.
 */
export function heldOutOf(options: FfmDatasetOptions, examples = HELD_OUT_EXAMPLE_COUNT): FfmDatasetOptions {
  return options.kind === 'reference' ? options : { ...options, split: 'held-out', examples };
}

/** How many batches and examples the set has. Throws ML_DATASET for options no set can be made of. */
export function datasetSize(options: FfmDatasetOptions): DatasetSize {
  checkOptions('ffmDataset', options, ['kind', 'vocab', 'batchSize', 'seed', 'examples', 'split']);
  const { kind, batchSize, vocab, split = 'train' } = options;
  const wanted = options.examples ?? defaultCount(kind, batchSize, split);
  for (const [name, value] of Object.entries({ vocab, 'batch size': batchSize, 'number of examples': wanted })) {
    if (!Number.isInteger(value) || value < 1 || value > 0xffffffff) {
      throw new MonolithError('ML_DATASET', { reason: `the ${name} is ${value}, it must be a whole number from 1` });
    }
  }
  const batchCount = kind === 'reference' ? Math.floor(wanted / batchSize) : Math.ceil(wanted / batchSize);
  if (batchCount === 0) {
    const reason = `${wanted} examples do not fill one batch of ${batchSize}, and the remainder is dropped`;
    throw new MonolithError('ML_DATASET', { reason }, { hint: 'use a smaller batch or more examples' });
  }
  return { batchCount, exampleCount: batchCount * batchSize };
}

/** One pass over the set, in its fixed order. */
export function* ffmBatches(options: FfmDatasetOptions): Generator<BatchData, void, undefined> {
  const { batchCount } = datasetSize(options);
  const { kind, vocab, batchSize, seed, split = 'train' } = options;
  const vocabSizes = new Array<number>(FFM_SLOT_COUNT).fill(vocab);
  const streamSeed = split === 'train' ? seed : seed ^ HELD_OUT_STREAM;
  const random = new MersenneTwister(streamSeed);
  const teacher = kind === 'clicks' ? new ClickTeacher(seed, vocabSizes) : null;
  for (let batch = 0; batch < batchCount; batch++) {
    const examples = Array.from({ length: batchSize }, (_, row): FfmExample => {
      const example = generateFfmExample(random, vocabSizes);
      if (teacher === null) return example;
      return { ids: example.ids, label: teacher.label(example.ids, streamSeed, batch * batchSize + row) };
    });
    yield batchOf(examples);
  }
}

/** The set for the reader thread. Throws ML_DATASET for options no set can be made of. */
export function ffmDataset(options: FfmDatasetOptions): DatasetSource<FfmDatasetOptions> {
  return { module: import.meta.url, options, bytes: datasetBytesMax(options) };
}

/** What the reader thread calls: all batches are made at once and stay. */
export function openDataset(views: Views, arena: Arena, options: FfmDatasetOptions): OpenDataset {
  const pointers = writeBatches({ views, arena, schema: ffmSchema() }, ffmBatches(options));
  return { ...datasetSize(options), batchAt: (number) => pointers[number % pointers.length]! };
}

/** Bytes that hold all batches of the set, whatever the draws. */
export function datasetBytesMax(options: FfmDatasetOptions): number {
  const valueCounts = new Array<number>(FFM_SLOT_COUNT).fill(options.batchSize * FFM_LENGTH_MAX);
  return datasetSize(options).batchCount * bytesFor(ffmSchema(), options.batchSize, valueCounts);
}

/**
 * Writes all batches of the set into the memory of a session, on this thread, and returns the addresses of their
 * headers.
 */
export function loadFfmBatches(session: SessionHandle, options: FfmDatasetOptions): number[] {
  return loadBatches(session, ffmBatches(options));
}

function defaultCount(kind: FfmDatasetOptions['kind'], batchSize: number, split: 'train' | 'held-out'): number {
  if (kind === 'reference') return Math.max(REFERENCE_EXAMPLE_COUNT, batchSize);
  return split === 'train' ? CLICKS_EXAMPLE_COUNT : HELD_OUT_EXAMPLE_COUNT;
}

function batchOf(examples: readonly FfmExample[]): BatchData {
  const rows = examples.length;
  const slots = Array.from({ length: FFM_SLOT_COUNT }, (_, slot) => {
    const splits = new Int32Array(rows + 1);
    const values: bigint[] = [];
    examples.forEach(({ ids }, row) => {
      values.push(...ids[slot]!);
      splits[row + 1] = values.length;
    });
    return { kind: 'ragged' as const, splits, values: BigInt64Array.from(values) };
  });
  const label = { kind: 'dense' as const, values: Float32Array.from(examples, (example) => example.label) };
  return { rows, feeds: [label, ...slots] };
}
