// Rectifiers with a slope below zero: one for all elements, or one per column that is learned; and a factor per column.
import { NOT_ABOVE_0, sumColumns } from "./column-sums";

/** y = x where x > 0, else slope * x. */
export function leakyReluF32(
  x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32, slope: f32,
): void {
  const slopes = f32x4.splat(slope);
  for (let r = 0; r < rows; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    let left = cols;
    for (; left >= 4; left -= 4, s += 16, d += 16) {
      const v = v128.load(s);
      v128.store(d, v128.bitselect(v, f32x4.mul(v, slopes), f32x4.gt(v, f32x4.splat(0))));
    }
    for (; left > 0; left--, s += 4, d += 4) {
      const v = load<f32>(s);
      store<f32>(d, v > 0 ? v : v * slope);
    }
  }
}

/** dx (+)= dy where x > 0, else slope * dy. */
export function leakyReluGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, slope: f32,
  acc: i32,
): void {
  const slopes = f32x4.splat(slope);
  for (let r = 0; r < rows; r++) {
    let g = dy + ((<usize>(r * dyStride)) << 2);
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = dx + ((<usize>(r * dxStride)) << 2);
    let left = cols;
    for (; left >= 4; left -= 4, g += 16, s += 16, d += 16) {
      const grad = v128.load(g);
      const v = v128.bitselect(grad, f32x4.mul(grad, slopes), f32x4.gt(v128.load(s), f32x4.splat(0)));
      v128.store(d, acc ? f32x4.add(v128.load(d), v) : v);
    }
    for (; left > 0; left--, g += 4, s += 4, d += 4) {
      const grad = load<f32>(g);
      const v: f32 = load<f32>(s) > 0 ? grad : grad * slope;
      store<f32>(d, acc ? load<f32>(d) + v : v);
    }
  }
}

/** y[r, c] = x[r, c] where that is above 0, else slope[c] * x[r, c]. */
export function preluF32(
  x: usize, xStride: i32, slope: usize, y: usize, yStride: i32, rows: i32, cols: i32,
): void {
  for (let r = 0; r < rows; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    let a = slope;
    let left = cols;
    for (; left >= 4; left -= 4, s += 16, d += 16, a += 16) {
      const v = v128.load(s);
      v128.store(d, v128.bitselect(v, f32x4.mul(v, v128.load(a)), f32x4.gt(v, f32x4.splat(0))));
    }
    for (; left > 0; left--, s += 4, d += 4, a += 4) {
      const v = load<f32>(s);
      store<f32>(d, v > 0 ? v : v * load<f32>(a));
    }
  }
}

/** dx[r, c] (+)= dy[r, c] where x[r, c] > 0, else slope[c] * dy[r, c]. */
export function preluGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, slope: usize, dx: usize, dxStride: i32, rows: i32, cols: i32,
  acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    let g = dy + ((<usize>(r * dyStride)) << 2);
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = dx + ((<usize>(r * dxStride)) << 2);
    let a = slope;
    let left = cols;
    for (; left >= 4; left -= 4, g += 16, s += 16, d += 16, a += 16) {
      const grad = v128.load(g);
      const v = v128.bitselect(grad, f32x4.mul(grad, v128.load(a)), f32x4.gt(v128.load(s), f32x4.splat(0)));
      v128.store(d, acc ? f32x4.add(v128.load(d), v) : v);
    }
    for (; left > 0; left--, g += 4, s += 4, d += 4, a += 4) {
      const grad = load<f32>(g);
      const v: f32 = load<f32>(s) > 0 ? grad : grad * load<f32>(a);
      store<f32>(d, acc ? load<f32>(d) + v : v);
    }
  }
}

/** dslope[c] = sum over r of dy[r, c] * x[r, c] where x[r, c] is not above 0, in the order of sumColumns. */
export function preluSlopeGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dslope: usize, rows: i32, cols: i32,
): void {
  sumColumns(NOT_ABOVE_0, dy, dyStride, x, xStride, 0, dslope, rows, 1, cols, false);
}

/** dst[r, c] (+)= factor[c] * x[r, c]. */
export function scaleColumnsF32(
  x: usize, xStride: i32, factor: usize, dst: usize, dstStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = dst + ((<usize>(r * dstStride)) << 2);
    let f = factor;
    let left = cols;
    for (; left >= 4; left -= 4, s += 16, d += 16, f += 16) {
      const v = f32x4.mul(v128.load(s), v128.load(f));
      v128.store(d, acc ? f32x4.add(v128.load(d), v) : v);
    }
    for (; left > 0; left--, s += 4, d += 4, f += 4) {
      const v: f32 = load<f32>(s) * load<f32>(f);
      store<f32>(d, acc ? load<f32>(d) + v : v);
    }
  }
}
