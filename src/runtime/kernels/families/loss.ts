/** @file Losses of examples and their gradients. A loss per example has one row each; `x` are logits. */
import { family, kernel } from '../kernel.js';
import { ACCUMULATE, count, flag, float, matrix, read, SIZE, write } from '../operand.js';

const FORWARD = { x: matrix.read, label: matrix.read, out: matrix.write, rows: count } as const;
const BACKWARD = { x: matrix.read, label: matrix.read, dy: matrix.read, dx: matrix.write, rows: count } as const;
const WEIGHTS = { positive: float, negative: float } as const;
const FOCUS = { gamma: float, ...WEIGHTS } as const;
/** The whole batch, and the rows of it that are this slice. */
const PAIRS = { labels: read, logits: read, rows: count, first: count, count } as const;
/** Rows of the batch, those of them that are this slice, and their floats. */
const WHOLE = { rows: count, first: count, count, dim: count } as const;

export const LOSS = family('dense', {
  bceLogitsF32: kernel('out[r] = cross entropy of label[r] under logit x[r]', FORWARD),
  bceLogitsGradF32: kernel('dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r])', { ...BACKWARD, ...ACCUMULATE }),
  weightedBceF32: kernel('out[r] = cross entropy under logit x[r], with a weight for each class', {
    ...FORWARD,
    ...WEIGHTS,
  }),
  weightedBceGradF32: kernel('dx[r] (+)= dy[r] * slope of weightedBceF32', {
    ...BACKWARD,
    ...WEIGHTS,
    ...ACCUMULATE,
  }),
  hingeF32: kernel('out[r] = max(0, 1 - (2 label[r] - 1) * x[r])', FORWARD),
  hingeGradF32: kernel('dx[r] (+)= dy[r] * slope of hingeF32', { ...BACKWARD, ...ACCUMULATE }),
  focalF32: kernel('out[r] = cross entropy times (1 - p of the true class)^gamma', { ...FORWARD, ...FOCUS }),
  focalGradF32: kernel('dx[r] (+)= dy[r] * slope of focalF32', { ...BACKWARD, ...FOCUS, ...ACCUMULATE }),
  softmaxLossF32: kernel('out[r] = cross entropy of the softmax of x[r,:]; labels are rows, or with `index` columns', {
    x: matrix.read,
    label: matrix.read,
    out: matrix.write,
    ...SIZE,
    index: flag,
  }),
  softmaxLossGradF32: kernel('dx[r,:] (+)= dy[r] * (softmax of x[r,:] - label)', {
    x: matrix.read,
    label: matrix.read,
    dy: matrix.read,
    dx: matrix.write,
    ...SIZE,
    index: flag,
    ...ACCUMULATE,
  }),
  inbatchAucF32: kernel('dst[0] = sum over pairs of the batch of log sigmoid of positive less negative', {
    ...PAIRS,
    dst: write,
  }),
  inbatchAucGradF32: kernel('dst (+)= gradient of inbatchAucF32 times grad[0]', {
    ...PAIRS,
    grad: read,
    negWeight: float,
    dst: matrix.write,
    ...ACCUMULATE,
  }),
  inbatchSoftmaxF32: kernel(
    'loss[r] = cross entropy of the softmax of x[r,:] with all `others`, its own the right one',
    {
      others: read,
      ...WHOLE,
      x: matrix.read,
      loss: matrix.write,
      sums: matrix.write,
    },
  ),
  inbatchSoftmaxGradF32: kernel('dx[r,:] (+)= gradient of inbatchSoftmaxF32 by one of its sides', {
    others: read,
    grads: read,
    sums: read,
    ...WHOLE,
    byOther: flag,
    x: matrix.read,
    dx: matrix.write,
    ...ACCUMULATE,
  }),
});
