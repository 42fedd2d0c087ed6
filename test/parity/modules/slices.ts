/** @file Cases of combiners and slices of features (src/feature). */

import { LearningRateFunction, printRate } from '../../../src/base/rates/rate.js';
import { PolynomialDecay } from '../../../src/base/rates/schedules.js';
import { FirstN, ReduceMean, ReduceSum } from '../../../src/feature/model/combiners.js';
import { createEmbeddingSlices } from '../../../src/feature/model/embedding-slices.js';
import { FeatureFactory } from '../../../src/feature/model/feature-factory.js';
import { planOptimizer } from '../../../src/sparse/config/optimizer-plan.js';
import { AdagradOptimizer, SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import type { RatedSegment } from '../../../src/sparse/config/table-messages.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { fieldsOf, type ParityCase, type ParityHandlers, recordsOf, UnknownForm } from '../case.js';
import { f32, i64 } from '../values.js';

/** A key of the given splits; the ids themselves do not matter. */
function keyOf(splits: Tensor<'int64'>): RaggedTensor {
  const count = Number(splits.data.at(-1));
  return RaggedTensor.fromRowSplits(Tensor.vector('int64', new BigInt64Array(count)), splits);
}

function combinerOf(name: string, n: unknown) {
  if (typeof n === 'number') return new FirstN(n);
  if (/mean/.test(name)) return new ReduceMean();
  if (/sum/.test(name)) return new ReduceSum();
  throw new UnknownForm(`combiner of case ${name}`);
}

function combiner({ case: name, input }: ParityCase) {
  const given = fieldsOf(input, ['embedding'], ['row_lengths', 'row_splits', 'n', 'combiner']);
  if (given.row_lengths === undefined && given.row_splits === undefined) throw new UnknownForm('no row_lengths');
  let end = 0;
  const splits = given.row_splits ?? [0, ...(given.row_lengths as number[]).map((length) => (end += length))];
  const combine = combinerOf(String(given.combiner ?? name), given.n);
  return { out: combine.combine(keyOf(i64(splits)), f32(given.embedding)) };
}

interface SliceCase {
  readonly dim: number;
  readonly opt: string | Record<string, unknown>;
  readonly lr_fn?: string;
}

/** A rate that a case knows only by its text. */
class NamedRate extends LearningRateFunction {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override toString(): string {
    return this.#text;
  }
}

function rateText({ segment, rate }: RatedSegment): string {
  if (!(rate instanceof PolynomialDecay)) return printRate(rate);
  const { initialLearningRate, decaySteps, endLearningRate } = rate;
  const configured = planOptimizer(segment.optConfig ?? {}, segment.dimSize ?? 0).learningRate;
  const end = endLearningRate === configured ? 'the configured rate' : endLearningRate;
  return `polynomial decay from ${initialLearningRate} over ${decaySteps} steps to ${end}`;
}

/** Slices of a slot, with equal neighbours merged. */
function mergedSlices(slices: readonly SliceCase[]) {
  const slot = new FeatureFactory().createFeatureSlot({ name: 'slot' });
  for (const { dim, opt, lr_fn } of recordsOf<SliceCase>(slices, ['dim', 'opt'], ['lr_fn'])) {
    const [kind, given] = typeof opt === 'string' ? [opt, {}] : Object.entries(opt)[0]!;
    const { warmup_steps: warmupSteps = 0 } = fieldsOf(given, [], ['warmup_steps']) as { warmup_steps?: number };
    if (kind !== 'sgd' && kind !== 'adagrad') throw new UnknownForm(`optimizer ${kind}`);
    slot.addFeatureSlice(dim, {
      optimizer: kind === 'sgd' ? SgdOptimizer({ warmupSteps }) : AdagradOptimizer({ warmupSteps }),
      ...(lr_fn === undefined ? {} : { learningRate: new NamedRate(lr_fn) }),
    });
  }
  return {
    merged_dims: slot.mergedSegments.map(({ segment }) => segment.dimSize),
    unmerged_dims: slices.map(({ dim }) => dim),
    first_lr: rateText(slot.mergedSegments[0]!),
  };
}

function featureSlices({ case: name, input }: ParityCase) {
  if (Array.isArray((input as { slices?: unknown }).slices)) {
    return mergedSlices(fieldsOf(input, ['slices']).slices as SliceCase[]);
  }
  const given = fieldsOf(input, ['embedding', 'row_splits', 'slice_dims'], ['n', 'combiner']);
  const f = {
    key: keyOf(i64(given.row_splits)),
    embedding: f32(given.embedding),
    sliceDims: given.slice_dims as number[],
    combiner: combinerOf(String(given.combiner ?? name), given.n),
  };
  return { slices: [...createEmbeddingSlices({ f }).values()] };
}

export const handlers: ParityHandlers = { combiner, feature_slices: featureSlices };
