/** @file Area under the ROC curve of examples at hand, exact. Classes that take examples in portions build on it. */
import { MonolithError } from '../base/errors.js';

/**
 * The share of (positive, negative) pairs in which the positive scores higher, a tie counting half; null when there is
 * only one class, for then there is no pair. A label above 0 is positive.
 *
 * ```ts
 * auc([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.4]); // 0.875
 * ```
 */
export function auc(labels: ArrayLike<number>, scores: ArrayLike<number>): number | null {
  if (labels.length !== scores.length) {
    throw new MonolithError('ML_FEED', { name: 'scores', reason: `${scores.length} for ${labels.length} labels` });
  }
  const positives = scoresOf(labels, scores, true);
  const negatives = scoresOf(labels, scores, false);
  if (positives.length === 0 || negatives.length === 0) return null;
  let below = 0;
  let notAbove = 0;
  // Twice the count of won pairs is a whole number, and so stays exact up to 2^53.
  let wonTwice = 0;
  for (const score of positives) {
    while (below < negatives.length && negatives[below]! < score) below++;
    while (notAbove < negatives.length && negatives[notAbove]! <= score) notAbove++;
    wonTwice += below + notAbove;
  }
  return wonTwice / 2 / (positives.length * negatives.length);
}

/** The same with a weight per example: a pair weighs the product of both. Null when one class has no weight. */
export function weightedAuc(
  labels: ArrayLike<number>,
  scores: ArrayLike<number>,
  weights: ArrayLike<number>,
): number | null {
  const order = Array.from({ length: labels.length }, (_, i) => i).sort((a, b) => scores[a]! - scores[b]!);
  const positives: number[] = [];
  const negatives: number[] = [];
  let last = Number.NaN;
  for (const i of order) {
    // Equal scores share a bucket.
    if (scores[i] !== last) {
      positives.push(0);
      negatives.push(0);
      last = scores[i]!;
    }
    const counts = labels[i]! > 0 ? positives : negatives;
    counts[counts.length - 1]! += weights[i]!;
  }
  return areaOfBuckets(positives, negatives);
}

/** AUC from the weights of both classes per bucket, buckets in the order of the score; pairs within one count half. */
export function areaOfBuckets(positives: ArrayLike<number>, negatives: ArrayLike<number>): number | null {
  let [won, above, below] = [0, 0, 0];
  for (let bucket = 0; bucket < positives.length; bucket++) {
    won += positives[bucket]! * (below + negatives[bucket]! / 2);
    above += positives[bucket]!;
    below += negatives[bucket]!;
  }
  return above === 0 || below === 0 ? null : won / (above * below);
}

/** Scores of one class, sorted: numeric typed-array sort, which is several times faster than sorting pairs. */
function scoresOf(labels: ArrayLike<number>, scores: ArrayLike<number>, positive: boolean): Float64Array {
  const found = new Float64Array(labels.length);
  let count = 0;
  for (let i = 0; i < labels.length; i++) {
    const score = scores[i]!;
    if (Number.isNaN(score))
      throw new MonolithError('ML_FEED', { name: 'scores', reason: `score ${i} is not a number` });
    if (labels[i]! > 0 === positive) found[count++] = score;
  }
  return found.subarray(0, count).sort();
}
