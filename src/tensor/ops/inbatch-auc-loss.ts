/**
 * @file A loss over all pairs of a positive and a negative of the batch. Mirrors inbatch_auc_loss.
 *
 * The value is a sum of logarithms of sigmoids, so it is at most 0 and grows as the order improves: maximise it.
 */
import { MonolithError } from '../../base/errors.js';
import { check } from './check.js';

/** Beyond these differences exp leaves the range of float32. */
const D_LOW = -87;
const D_HIGH = 88;
/** Labels at or below this are neither positive nor negative. */
const LABEL_IGNORED = -10000;

interface Groups {
  readonly positives: readonly number[];
  readonly negatives: readonly number[];
}

function groupsOf(label: Float32Array, logit: Float32Array, negWeight: number): Groups {
  if (label.length !== logit.length) throw new MonolithError('ML_AUC_SIZE');
  check(negWeight > 0 && negWeight <= 1, 'inbatchAucLoss', `the weight of negatives is ${negWeight}, not in (0, 1]`);
  const positives: number[] = [];
  const negatives: number[] = [];
  label.forEach((value, i) => {
    if (value > 0) positives.push(i);
    else if (value > LABEL_IGNORED) negatives.push(i);
  });
  return { positives, negatives };
}

function logSigmoid(d: number): number {
  if (d <= D_LOW) return d;
  return d >= D_HIGH ? 0 : d - Math.log(1 + Math.exp(d));
}

/** Sum over positives p and negatives n of log sigmoid(logit[p] - logit[n]). Labels above 0 are positive. */
export function inbatchAucLoss(label: Float32Array, logit: Float32Array, negWeight = 1): number {
  const { positives, negatives } = groupsOf(label, logit, negWeight);
  let loss = 0;
  for (const p of positives) for (const n of negatives) loss += logSigmoid(logit[p]! - logit[n]!);
  return Math.fround(loss);
}

/** Gradient of inbatchAucLoss with respect to the logits; that of a negative is weighed by `negWeight`. */
export function inbatchAucLossGradient(
  label: Float32Array,
  logit: Float32Array,
  grad: number,
  negWeight = 1,
): Float32Array {
  const { positives, negatives } = groupsOf(label, logit, negWeight);
  const sums = new Float64Array(logit.length);
  for (const p of positives) {
    for (const n of negatives) {
      const d = logit[p]! - logit[n]!;
      const q = d <= D_LOW ? 1 : d >= D_HIGH ? 0 : 1 - 1 / (1 + Math.exp(-d));
      sums[p] = sums[p]! + q;
      sums[n] = sums[n]! - negWeight * q;
    }
  }
  return Float32Array.from(sums, (sum) => grad * sum);
}
