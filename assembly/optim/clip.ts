// Clipping of gradients by value, and of rows per example by a norm that others have a part in. What is whole is
// clipped by the kernels of dense/whole.ts.
import { clipToNormF32, sumSquaresF64 } from "../dense/whole";

/** dst = min(max(src, low), high). NaN stays. */
export function clipValueF32(src: usize, dst: usize, n: i32, low: f32, high: f32): void {
  const lows = f32x4.splat(low), highs = f32x4.splat(high);
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 16) {
    v128.store(dst, f32x4.min(f32x4.max(v128.load(src), lows), highs));
  }
  for (; left > 0; left--, src += 4, dst += 4) store<f32>(dst, min<f32>(max<f32>(load<f32>(src), low), high));
}

/** dst[0] = the sum of `count` f64, in order. */
export function sumF64(src: usize, count: i32, dst: usize): void {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++, src += 8) sum += load<f64>(src);
  store<f64>(dst, sum);
}

/** dst[0] = the sum of squares of a matrix in f64, row after row. */
export function rowSquaresF64(src: usize, srcStride: i32, rows: i32, cols: i32, dst: usize): void {
  let sum: f64 = 0;
  for (let r = 0; r < rows && cols > 0; r++, src += <usize>srcStride << 2) {
    sumSquaresF64(src, cols, cols, dst);
    sum += load<f64>(dst);
  }
  store<f64>(dst, sum);
}

/** clipToNormF32 of each row of a matrix, by one norm. */
export function clipRowsToNormF32(
  src: usize, srcStride: i32, norm: usize, dst: usize, dstStride: i32, rows: i32, cols: i32, clipNorm: f32,
): void {
  for (let r = 0; r < rows; r++, src += <usize>srcStride << 2, dst += <usize>dstStride << 2) {
    clipToNormF32(src, norm, dst, cols, clipNorm);
  }
}
