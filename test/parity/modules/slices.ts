/** @file Cases of combiners and slices of features (src/feature). */
import { FirstN, ReduceMean, ReduceSum } from '../../../src/feature/combiners.js';
import { createEmbeddingSlices } from '../../../src/feature/embedding-slices.js';
import { FeatureFactory } from '../../../src/feature/feature-slot.js';
import { adagradOptimizer, sgdOptimizer } from '../../../src/sparse/table-config.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { fieldsOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
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
  const given = fieldsOf(input, ['row_lengths', 'embedding'], ['n']);
  let end = 0;
  const splits = [0, ...(given.row_lengths as number[]).map((length) => (end += length))];
  return { out: combinerOf(name, given.n).combine(keyOf(i64(splits)), f32(given.embedding)) };
}

interface SliceCase {
  readonly dim: number;
  readonly opt: string | Record<string, unknown>;
  readonly lr_fn?: string;
}

/** Slices of a slot, with equal neighbours merged. The rate of warm-up steps belongs to the optimizers' configs. */
function mergedSlices(slices: readonly SliceCase[]) {
  const slot = new FeatureFactory().createFeatureSlot({ name: 'slot' });
  for (const { dim, opt, lr_fn } of slices) {
    const kind = typeof opt === 'string' ? opt : Object.keys(opt)[0];
    if (kind !== 'sgd' && kind !== 'adagrad') throw new UnknownForm(`optimizer ${kind}`);
    slot.addFeatureSlice(dim, {
      optimizer: kind === 'sgd' ? sgdOptimizer() : adagradOptimizer(),
      ...(lr_fn === undefined ? {} : { learningRateFn: Object.assign(() => 0, { toString: () => lr_fn }) }),
    });
  }
  return { merged_dims: slot.mergedSegments.map(({ dim }) => dim), unmerged_dims: slices.map(({ dim }) => dim) };
}

function featureSlices({ case: name, input }: ParityCase) {
  if (Array.isArray((input as { slices?: unknown }).slices)) {
    return mergedSlices(fieldsOf(input, ['slices']).slices as SliceCase[]);
  }
  const given = fieldsOf(input, ['embedding', 'row_splits', 'slice_dims'], ['n']);
  const f = {
    key: keyOf(i64(given.row_splits)),
    embedding: f32(given.embedding),
    sliceDims: given.slice_dims as number[],
    combiner: combinerOf(name, given.n),
  };
  return { slices: [...createEmbeddingSlices({ f }).values()] };
}

export const handlers: ParityHandlers = { combiner, feature_slices: featureSlices };
