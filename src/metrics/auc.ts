/** @file Area under the ROC curve, exact. */
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
