/** @file Cases of the reductions, losses and clipping of src/tensor/ops. */
import { clipByGlobalNorm } from '../../../src/tensor/ops/clip-by-global-norm.js';
import {
  featureInsight,
  featureInsightAggregate,
  featureInsightGradient,
} from '../../../src/tensor/ops/feature-insight.js';
import { fidCounter, fidCounterGradient } from '../../../src/tensor/ops/fid-counter.js';
import { genSeqMask } from '../../../src/tensor/ops/gen-seq-mask.js';
import { inbatchAucLoss, inbatchAucLossGradient } from '../../../src/tensor/ops/inbatch-auc-loss.js';
import {
  fusedReduceSumAndSplit,
  fusedReduceSumAndSplitGradient,
  reduceMean,
  reduceMeanGradient,
  reduceSqrtn,
  reduceSqrtnGradient,
  reduceSum,
  reduceSumGradient,
} from '../../../src/tensor/ops/reduce.js';
import { fusedSortedSegmentSum } from '../../../src/tensor/ops/reduce-and-split.js';
import { fieldsOf, orError, type ParityCase, type ParityHandlers, recordsOf, UnknownForm } from '../case.js';
import { f32, i32, i64, list, matrix, ones } from '../values.js';

function reduce({ case: name, input }: ParityCase) {
  const given = fieldsOf(input, ['rows', 'batch'], ['values', 'gradient', 'combiner', 'op']);
  const kind = /(?:^|_|\b)(sum|mean|sqrtn)(?:_|\b)/.exec(String(given.combiner ?? given.op ?? name))?.[1];
  const flat = i64(given.rows);
  const rows = flat.reshape([flat.size, 1]);
  const batch = given.batch as number;
  const values = given.values === undefined ? undefined : f32(given.values);
  const grad = given.gradient === undefined ? undefined : f32(given.gradient);
  const forward = { sum: reduceSum, mean: reduceMean, sqrtn: reduceSqrtn }[kind ?? ''];
  if (forward === undefined) throw new UnknownForm(`reduction of case ${name}`);
  const backward = {
    sum: () => reduceSumGradient(rows, grad!),
    mean: () => reduceMeanGradient(rows, grad!),
    sqrtn: () => reduceSqrtnGradient(rows, values!, grad!),
  }[kind as 'sum' | 'mean' | 'sqrtn'];
  return {
    ...(values === undefined ? {} : { out: forward(rows, values, batch) }),
    ...(grad === undefined ? {} : { value_gradient: backward() }),
  };
}

function reduceAndSplit({ input }: ParityCase) {
  const given = fieldsOf(input, ['rows', 'batch', 'split_dims'], ['values', 'gradients']);
  const rows = i64(given.rows);
  const dims = given.split_dims as number[];
  const batch = given.batch as number;
  if (given.gradients === undefined) {
    return { out: fusedReduceSumAndSplit(rows, f32(given.values), batch, dims) };
  }
  const grads = given.gradients === 'ones' ? dims.map((d) => ones([batch, d])) : list(given.gradients, f32);
  return { value_gradient: fusedReduceSumAndSplitGradient(rows, grads) };
}

function segmentSum({ input }: ParityCase) {
  const given = fieldsOf(input, ['indices', 'values', 'shapes']);
  const shapes = given.shapes as number[][];
  const updates = (given.values as unknown[]).map((value, n) => matrix(value, shapes[n]![1]!));
  return orError(() => ({ out: fusedSortedSegmentSum(list(given.indices, i64), updates, shapes) }));
}

function seqMask({ input }: ParityCase) {
  const given = fieldsOf(input, ['splits', 'max_seq_length']);
  genSeqMask(i32(given.splits), given.max_seq_length as number);
  return { mask: genSeqMask(i64(given.splits), given.max_seq_length as number) };
}

function aucLoss({ input }: ParityCase) {
  const given = fieldsOf(input, ['label', 'logit', 'neg_weight'], ['grad']);
  const [label, logit, weight] = [f32(given.label).data, f32(given.logit).data, given.neg_weight as number];
  return orError(() => ({
    loss: inbatchAucLoss(label, logit, weight),
    logit_grad: inbatchAucLossGradient(label, logit, (given.grad ?? 1) as number, weight),
  }));
}

function insight({ input }: ParityCase) {
  const names = Object.keys(input as object);
  const [inputKey, weightKey] = [/^inputs?(?:_embeddings?)?(?:_(\d+)x(\d+))?$/, /^weights?(?:_(\d+)x(\d+))?$/].map(
    (p) => names.find((n) => p.test(n)),
  );
  if (inputKey === undefined || weightKey === undefined) throw new UnknownForm('no input or weight');
  const given = fieldsOf(input, [inputKey, weightKey, 'segment_sizes'], ['aggregate', 'output_gradient']);
  // Nested lists have a shape; flat ones have it in their name.
  const shaped = (key: string) => {
    const shape = /_(\d+x\d+)$/.exec(key)?.[1]?.split('x').map(Number);
    return shape === undefined ? f32(given[key]) : f32(given[key]).reshape(shape);
  };
  const [x, w] = [shaped(inputKey), shaped(weightKey)];
  const sizes = given.segment_sizes as number[];
  if (given.aggregate === true) return { out: featureInsightAggregate(x, w, sizes) };
  const out = featureInsight(x, w, sizes);
  const gradient = given.output_gradient;
  const grad = typeof gradient === 'string' && gradient.startsWith('ones') ? ones(out.shape) : f32(gradient ?? []);
  if (gradient === undefined) return { out };
  if (grad.size !== out.size) throw new UnknownForm(`gradient ${gradient}`);
  const { input: dx, weight: dw } = featureInsightGradient(grad, x, w, sizes);
  const first = (dx.toArray() as number[][])[0];
  const columns = dw.toArray() as number[][];
  return {
    out,
    input_gradient: dx,
    weight_gradient: dw,
    ...((dx.toArray() as number[][]).every((row) => `${row}` === `${first}`) ? { input_gradient_each_row: first } : {}),
    ...(columns.every(([a, b]) => a === b) ? { weight_gradient_both_columns: columns.map(([a]) => a) } : {}),
  };
}

function counter({ input }: ParityCase) {
  const names = ['counter', 'threshold', 'step'];
  const given = fieldsOf(input, [], ['cases', ...names]);
  const cases = recordsOf<{ counter: number; threshold: number; step: number }>(given.cases ?? given, names);
  return {
    value: cases.map((c) => fidCounter(f32([c.counter]), c.threshold, c.step).data[0]),
    gradient: cases.map((c) => fidCounterGradient(f32([c.counter]), c.threshold, c.step).data[0]),
  };
}

function clip({ input }: ParityCase) {
  const given = fieldsOf(input, ['tensors', 'clip_norm'], ['use_norm']);
  const { clipped, globalNorm } = clipByGlobalNorm(
    list(given.tensors, f32),
    given.clip_norm as number,
    given.use_norm as number | undefined,
  );
  return { clipped, global_norm: globalNorm };
}

export const handlers: ParityHandlers = {
  reduce,
  fused_reduce_sum_and_split: reduceAndSplit,
  fused_sorted_segment_sum: segmentSum,
  gen_seq_mask: seqMask,
  inbatch_auc_loss: aucLoss,
  feature_insight: insight,
  fid_counter: counter,
  clip_by_global_norm: clip,
};
