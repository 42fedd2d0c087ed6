/**
 * @file Area under the ROC curve from counts per bucket of the prediction: a fixed amount of memory, and counts of
 * threads, threads or hosts add up.
 */
import { checkOptions } from '../base/check-options.js';
import { areaOfBuckets } from './auc.js';
import { checkPortion, checkProbabilities, type GroupKeys, type Metric, refuse, sameKind } from './metric.js';

/** What one has counted, to be sent to another thread. */
export interface BucketCounts {
  readonly positives: Float64Array;
  readonly negatives: Float64Array;
}

abstract class Buckets implements Metric {
  readonly name: string;
  readonly #counts: BucketCounts;

  constructor(name: string, counts: BucketCounts) {
    this.name = name;
    this.#counts = counts;
  }

  protected abstract bucketOf(prediction: number): number;
  abstract result(): number | null;

  /** Weights of the examples per bucket, in place. */
  get counts(): BucketCounts {
    return this.#counts;
  }

  update(
    labels: ArrayLike<number>,
    predictions: ArrayLike<number>,
    weights?: ArrayLike<number>,
    _groups?: GroupKeys,
  ): void {
    checkPortion(this.name, labels, { predictions, weights });
    checkProbabilities(this.name, predictions);
    const { positives, negatives } = this.#counts;
    for (let i = 0; i < labels.length; i++) {
      const counts = labels[i]! > 0 ? positives : negatives;
      counts[this.bucketOf(predictions[i]!)]! += weights?.[i] ?? 1;
    }
  }

  merge(other: Metric): void {
    this.add(sameKind<Buckets>(this, other).#counts);
  }

  /** Adds what another thread has counted. */
  add(counts: BucketCounts): void {
    for (const key of ['positives', 'negatives'] as const) {
      const [to, from] = [this.#counts[key], counts[key]];
      if (to.length !== from.length) throw refuse(this.name, `${from.length} buckets for ${to.length}`);
      for (let i = 0; i < to.length; i++) to[i]! += from[i]!;
    }
  }
}

const emptyCounts = (buckets: number): BucketCounts => ({
  positives: new Float64Array(buckets),
  negatives: new Float64Array(buckets),
});

/**
 * Pairs within a bucket count half, so the error is at most half the share of pairs that fall into one bucket.
 * Predictions are probabilities.
 */
export class BucketedAuc extends Buckets {
  readonly #buckets: number;

  constructor(options: { readonly buckets?: number } = {}) {
    checkOptions('BucketedAuc', options, ['buckets']);
    const buckets = options.buckets ?? BUCKETS;
    if (!Number.isInteger(buckets) || buckets < 1) throw refuse('bucketedAuc', `${buckets} is no number of buckets`);
    super('bucketedAuc', emptyCounts(buckets));
    this.#buckets = buckets;
  }

  protected bucketOf(prediction: number): number {
    return Math.min(this.#buckets - 1, Math.floor(prediction * this.#buckets));
  }

  result(): number | null {
    return areaOfBuckets(this.counts.positives, this.counts.negatives);
  }
}

/** What tf.metrics.auc adds to its denominators, and how far its outer thresholds lie outside of 0 and 1. */
const BUCKETS = 16384;
const THRESHOLDS = 200;
const RATE_EPSILON = 1e-6;

/**
 * The number tf.metrics.auc gives: true and false positive rates at evenly spread thresholds, and trapezoids
 * between them. Null where there is one class only; tf gives 0 or 1 there. Default: 200 thresholds.
 */
export class ThresholdAuc extends Buckets {
  readonly #thresholds: Float32Array;

  constructor(options: { readonly thresholds?: number } = {}) {
    checkOptions('ThresholdAuc', options, ['thresholds']);
    const count = options.thresholds ?? THRESHOLDS;
    if (!Number.isInteger(count) || count < 2) throw refuse('thresholdAuc', `${count} is no number of thresholds`);
    super('thresholdAuc', emptyCounts(count + 1));
    // The first lies below every prediction and the last above: they need no entry.
    this.#thresholds = Float32Array.from({ length: count - 2 }, (_, i) => (i + 1) / (count - 1));
  }

  /** How many thresholds the prediction is above. */
  protected bucketOf(prediction: number): number {
    const inner = this.#thresholds;
    let bucket = Math.min(inner.length, Math.floor(prediction * (inner.length + 1)));
    while (bucket > 0 && !(prediction > inner[bucket - 1]!)) bucket--;
    while (bucket < inner.length && prediction > inner[bucket]!) bucket++;
    return bucket + 1;
  }

  result(): number | null {
    const { positives, negatives } = this.counts;
    const [all, none] = [positives, negatives].map((counts) => counts.reduce((sum, count) => sum + count, 0));
    if (all === 0 || none === 0) return null;
    const tpr = (above: number) => (above + RATE_EPSILON) / (all! + RATE_EPSILON);
    const fpr = (above: number) => above / (none! + RATE_EPSILON);
    let [area, truePositives, falsePositives] = [0, 0, 0];
    // From the highest threshold, which nothing is above, down to the lowest, which everything is.
    for (let bucket = positives.length - 1; bucket > 0; bucket--) {
      const [right, top] = [falsePositives + negatives[bucket]!, truePositives + positives[bucket]!];
      area += ((fpr(right) - fpr(falsePositives)) * (tpr(top) + tpr(truePositives))) / 2;
      [falsePositives, truePositives] = [right, top];
    }
    return area;
  }
}
