// Clipping of gradients. The sum of squares is kept per block of floats that never depends on the number of threads, and
// the blocks are added in order: the norm has the same bits whoever computed which block.

/** Floats of one block; src/memory/dense-layout.ts has the same. */
const BLOCK: i32 = 1024;

/** dst = min(max(src, low), high). NaN stays. */
export function clipValueF32(src: usize, dst: usize, n: i32, low: f32, high: f32): void {
  const lows = f32x4.splat(low), highs = f32x4.splat(high);
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 16) {
    v128.store(dst, f32x4.min(f32x4.max(v128.load(src), lows), highs));
  }
  for (; left > 0; left--, src += 4, dst += 4) store<f32>(dst, min<f32>(max<f32>(load<f32>(src), low), high));
}

/** Sum of squares in f64: four lanes over the whole quads, (0 + 1) + (2 + 3), then the rest in order. */
// @ts-ignore: decorator
@inline
export function squares(x: usize, n: i32): f64 {
  let low = f64x2.splat(0), high = f64x2.splat(0);
  let left = n;
  for (; left >= 4; left -= 4, x += 16) {
    const v = v128.load(x);
    const a = f64x2.promote_low_f32x4(v);
    const b = f64x2.promote_low_f32x4(v128.shuffle<u32>(v, v, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  let sum = (f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1)) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1));
  for (; left > 0; left--, x += 4) {
    const value = <f64>load<f32>(x);
    sum += value * value;
  }
  return sum;
}

/** sums[i] = sum of squares of block i of x, f64. */
export function blockSquaresF32(x: usize, n: i32, sums: usize): void {
  for (let left = n; left > 0; left -= BLOCK, x += <usize>BLOCK << 2, sums += 8) {
    store<f64>(sums, squares(x, min(left, BLOCK)));
  }
}

/** dst[0] = the sum of `count` f64 that lie `stride` bytes apart, in order; with `acc` added to what is there. */
export function addSumsF64(sums: usize, stride: i32, count: i32, dst: usize, acc: i32): void {
  let sum: f64 = acc != 0 ? load<f64>(dst) : 0;
  for (let i = 0; i < count; i++, sums += <usize>stride) sum += load<f64>(sums);
  store<f64>(dst, sum);
}

/** dst[0] = the square root of an f64, as f32. */
export function rootF64(x: usize, dst: usize): void {
  store<f32>(dst, <f32>sqrt<f64>(load<f64>(x)));
}

/** dst[0] = the sum of squares of a matrix in f64, row after row. */
export function rowSquaresF64(src: usize, stride: i32, rows: i32, cols: i32, dst: usize): void {
  let sum: f64 = 0;
  for (let r = 0; r < rows; r++, src += <usize>stride << 2) sum += squares(src, cols);
  store<f64>(dst, sum);
}

/**
 * dst = src, times clip / norm where the norm at `norm` is larger than `clip`. A norm that is no number is not larger; an
 * infinite one gives the factor 0, so that infinities become NaN.
 */
export function clipByNormF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, norm: usize, clip: f32,
): void {
  const length = load<f32>(norm);
  const factor: f32 = length > clip ? clip / length : 1;
  const factors = f32x4.splat(factor);
  for (let r = 0; r < rows; r++, src += <usize>srcStride << 2, dst += <usize>dstStride << 2) {
    let x = src, y = dst;
    let left = cols;
    for (; left >= 4; left -= 4, x += 16, y += 16) v128.store(y, f32x4.mul(v128.load(x), factors));
    for (; left > 0; left--, x += 4, y += 4) store<f32>(y, load<f32>(x) * factor);
  }
}
