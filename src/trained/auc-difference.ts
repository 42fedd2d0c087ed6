/**
 * @file The interval of the difference of two AUCs on the same rows. Both go up and down with the rows that happen to
 * be held out, so their difference is known far better than either (DeLong, DeLong and Clarke-Pearson 1988).
 */

/** Standard deviations of a 95 % interval. */
const Z = 1.959964;

export interface AucDifference {
  readonly first: number;
  readonly second: number;
  /** `second - first`. */
  readonly difference: number;
  /** Bounds of 95 %. */
  readonly low: number;
  readonly high: number;
  readonly rows: number;
}

/** Undefined where the labels have one class alone. */
export function aucDifference(
  labels: Float32Array,
  first: Float32Array,
  second: Float32Array,
): AucDifference | undefined {
  const ones: number[] = [];
  const zeros: number[] = [];
  for (const [row, label] of labels.entries()) (label > 0 ? ones : zeros).push(row);
  if (ones.length < 2 || zeros.length < 2) return undefined;
  const [a, b] = [standings(first, ones, zeros), standings(second, ones, zeros)];
  const difference = b.auc - a.auc;
  const spread =
    varianceOfDifference(a.ofOnes, b.ofOnes) / ones.length + varianceOfDifference(a.ofZeros, b.ofZeros) / zeros.length;
  const margin = Z * Math.sqrt(spread);
  return {
    ...{ first: a.auc, second: b.auc, difference },
    low: difference - margin,
    high: difference + margin,
    rows: labels.length,
  };
}

interface Standings {
  readonly auc: number;
  /** Of each row that is 1 the share of rows that are 0 which it is above; ties count a half. */
  readonly ofOnes: Float64Array;
  readonly ofZeros: Float64Array;
}

function standings(scores: Float32Array, ones: readonly number[], zeros: readonly number[]): Standings {
  const ofOnes = sharesBelow(scores, ones, zeros);
  // A row that is 0 is below as many as it is not above.
  const ofZeros = sharesBelow(scores, zeros, ones).map((share) => 1 - share);
  return { auc: ofOnes.reduce((sum, share) => sum + share, 0) / ones.length, ofOnes, ofZeros };
}

/** Of each row in `rows` the share of `others` whose score is below its own. */
function sharesBelow(scores: Float32Array, rows: readonly number[], others: readonly number[]): Float64Array {
  const sorted = Float32Array.from(others, (row) => scores[row]!).sort();
  return Float64Array.from(rows, (row) => {
    const [least, most] = [bound(sorted, scores[row]!, false), bound(sorted, scores[row]!, true)];
    return (least + most) / 2 / sorted.length;
  });
}

/** How many of `sorted` are below `value`, or not above it. */
function bound(sorted: Float32Array, value: number, withEqual: boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value || (withEqual && sorted[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function varianceOfDifference(a: Float64Array, b: Float64Array): number {
  const differences = a.map((value, at) => b[at]! - value);
  const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  return differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (differences.length - 1);
}
