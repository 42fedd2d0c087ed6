/** @file The two tests a table makes of a row of floats (runtime/hash_table/utils/linalg_utils). */
const EPSILON = 1.1920929e-7;
const SMALLEST_NORMAL = 1.17549435e-38;

/** Equal but for two units in the last place of the sum, or closer than any normal float. */
export function almostEqual(a: number, b: number): boolean {
  const gap = Math.abs(a - b);
  return gap <= 2 * EPSILON * Math.abs(a + b) || gap < SMALLEST_NORMAL;
}

/** Sum of squares, in f32 and in order. */
export function l2NormSquare(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum = Math.fround(sum + Math.fround(values[i]! * values[i]!));
  return sum;
}

/** Whether a table that skips zero rows would drop this one. */
export function isZeroRow(values: ArrayLike<number>): boolean {
  return almostEqual(l2NormSquare(values), 0);
}

/** Rows from `from` to before `end`, as many in a row as are all of the one kind. */
export function* zeroRuns(
  values: Float32Array,
  dim: number,
): Generator<{ readonly zeros: boolean; readonly from: number; readonly end: number }> {
  const rows = values.length / dim;
  const isZero = (row: number) => isZeroRow(values.subarray(row * dim, (row + 1) * dim));
  for (let from = 0; from < rows; ) {
    const zeros = isZero(from);
    let end = from + 1;
    while (end < rows && isZero(end) === zeros) end++;
    yield { zeros, from, end };
    from = end;
  }
}
