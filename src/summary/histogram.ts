/** @file Histograms as TensorBoard has them: buckets whose limits grow by a tenth, around zero. */
import type { HistogramProto } from '../io/event-messages.js';

const SMALLEST = 1e-12;
const LARGEST = 1e20;
const GROWTH = 1.1;

let limits: Float64Array | undefined;

/** Upper limits of all buckets, ascending. */
function bucketLimits(): Float64Array {
  if (limits !== undefined) return limits;
  const positive: number[] = [];
  for (let limit = SMALLEST; limit < LARGEST; limit *= GROWTH) positive.push(limit);
  positive.push(Number.MAX_VALUE);
  limits = Float64Array.from([...positive.map((limit) => -limit).reverse(), 0, ...positive]);
  return limits;
}

/** Index of the first limit above `value`. */
function bucketOf(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The histogram of `values`; runs of empty buckets are one bucket. */
export function histogramOf(values: ArrayLike<number>): HistogramProto {
  const sorted = bucketLimits();
  const counts = new Float64Array(sorted.length);
  let [min, max, sum, sumSquares] = [Number.MAX_VALUE, -Number.MAX_VALUE, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    counts[bucketOf(sorted, value)]!++;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    sumSquares += value * value;
  }
  return { min, max, num: values.length, sum, sumSquares, ...withoutRuns(sorted, counts) };
}

function withoutRuns(sorted: Float64Array, counts: Float64Array): Pick<HistogramProto, 'bucketLimit' | 'bucket'> {
  const bucketLimit: number[] = [];
  const bucket: number[] = [];
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] === 0) while (counts[i + 1] === 0) i++;
    bucketLimit.push(sorted[i]!);
    bucket.push(counts[i]!);
  }
  return { bucketLimit: Float64Array.from(bucketLimit), bucket: Float64Array.from(bucket) };
}
