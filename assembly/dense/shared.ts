// Per-example rows with values that all examples share: a row of `cols` floats is cut into pieces of `period`, and each
// piece meets the same `period` floats.
import { PLAIN, PRODUCT, sumColumns } from "./column-sums";
import { ADD, MUL, binaryRows } from "./loops";

@inline
function meet(
  op: i32, x: usize, xStride: i32, v: usize, out: usize, outStride: i32, rows: i32, cols: i32, period: i32, acc: i32,
): void {
  const step = <usize>period << 2;
  for (let r = 0; r < rows; r++) {
    for (let at: usize = 0; at < <usize>cols << 2; at += step) {
      if (acc) binaryRows(op, true, x + at, 0, v, 0, out + at, 0, 1, period);
      else binaryRows(op, false, x + at, 0, v, 0, out + at, 0, 1, period);
    }
    x += <usize>xStride << 2;
    out += <usize>outStride << 2;
  }
}

/** out[r, p, c] (+)= x[r, p, c] + v[c]. `cols` is a multiple of `period`, which is at least 1. */
export function addSharedF32(
  x: usize, xStride: i32, v: usize, out: usize, outStride: i32, rows: i32, cols: i32, period: i32, acc: i32,
): void {
  meet(ADD, x, xStride, v, out, outStride, rows, cols, period, acc);
}

/** out[r, p, c] (+)= x[r, p, c] * v[c]. */
export function mulSharedF32(
  x: usize, xStride: i32, v: usize, out: usize, outStride: i32, rows: i32, cols: i32, period: i32, acc: i32,
): void {
  meet(MUL, x, xStride, v, out, outStride, rows, cols, period, acc);
}

/**
 * dst[c] = sum over r and p of a[r, p, c] * b[r, p, c], or of a[r, p, c] alone when `b` is 0, in the order of
 * sumColumns.
 */
export function sumSharedF32(
  a: usize, aStride: i32, b: usize, bStride: i32, dst: usize, rows: i32, cols: i32, period: i32,
): void {
  const pieces = cols / period;
  if (b == 0) sumColumns(PLAIN, a, aStride, 0, 0, 0, dst, rows, pieces, period, false);
  else sumColumns(PRODUCT, a, aStride, b, bStride, 0, dst, rows, pieces, period, false);
}
