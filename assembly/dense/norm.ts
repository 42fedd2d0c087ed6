// Norms within a row: layer norm and division by the Euclidean length.
//
// Sums of a row are f64: four partial sums p[c mod 4] over the whole blocks of four, then (p0 + p2) + (p1 + p3), then
// what is left, one by one. A mean that was off in its last bits would be multiplied by a large reciprocal.
import { FLOAT } from "../units";
import { CENTRED, sumColumns } from "./column-sums";

@inline
function low(v: v128): v128 {
  return f64x2.promote_low_f32x4(v);
}

@inline
function high(v: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<f32>(v, v, 2, 3, 2, 3));
}

@inline
function across(a: v128, b: v128): f64 {
  const q = f64x2.add(a, b);
  return f64x2.extract_lane(q, 0) + f64x2.extract_lane(q, 1);
}

@inline
function sumOf(s: usize, width: usize): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c: usize = 0;
  for (; c + 16 <= width; c += 16) {
    const v = v128.load(s + c);
    a = f64x2.add(a, low(v));
    b = f64x2.add(b, high(v));
  }
  let sum = across(a, b);
  for (; c < width; c += 4) sum += <f64>load<f32>(s + c);
  return sum;
}

/** Sum of squares of the distances from `centre`. */
@inline
function squaresAbout(centre: f64, s: usize, width: usize): f64 {
  const middle = f64x2.splat(centre);
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c: usize = 0;
  for (; c + 16 <= width; c += 16) {
    const v = v128.load(s + c);
    const x = f64x2.sub(low(v), middle);
    const y = f64x2.sub(high(v), middle);
    a = f64x2.add(a, f64x2.mul(x, x));
    b = f64x2.add(b, f64x2.mul(y, y));
  }
  let sum = across(a, b);
  for (; c < width; c += 4) {
    const x = <f64>load<f32>(s + c) - centre;
    sum += x * x;
  }
  return sum;
}

@inline
function dotOf(g: usize, s: usize, width: usize): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c: usize = 0;
  for (; c + 16 <= width; c += 16) {
    const u = v128.load(g + c);
    const v = v128.load(s + c);
    a = f64x2.add(a, f64x2.mul(low(u), low(v)));
    b = f64x2.add(b, f64x2.mul(high(u), high(v)));
  }
  let sum = across(a, b);
  for (; c < width; c += 4) sum += <f64>load<f32>(g + c) * <f64>load<f32>(s + c);
  return sum;
}

/**
 * y[r, :] = (x[r, :] - mean) * rstd * gain + bias, with the mean and 1 / sqrt(variance + epsilon) of the row. Both are
 * kept at stats[2 r] for the gradient.
 */
export function layerNormF32(
  x: usize, xStride: i32, gain: usize, bias: usize, y: usize, yStride: i32, stats: usize, rows: i32, cols: i32,
  epsilon: f32,
): void {
  const width = <usize>cols << 2;
  for (let r = 0; r < rows; r++) {
    const s = x + ((<usize>(r * xStride)) << 2);
    const d = y + ((<usize>(r * yStride)) << 2);
    const exact = sumOf(s, width) / <f64>cols;
    const mean = <f32>exact;
    const rstd = <f32>(1 / sqrt<f64>(squaresAbout(exact, s, width) / <f64>cols + <f64>epsilon));
    store<f32>(stats + ((<usize>r) << 3), mean);
    store<f32>(stats + ((<usize>r) << 3), rstd, FLOAT);
    let c: usize = 0;
    for (; c + 16 <= width; c += 16) {
      const unit = f32x4.mul(f32x4.sub(v128.load(s + c), f32x4.splat(mean)), f32x4.splat(rstd));
      v128.store(d + c, f32x4.add(f32x4.mul(unit, v128.load(gain + c)), v128.load(bias + c)));
    }
    for (; c < width; c += 4) {
      const unit: f32 = (load<f32>(s + c) - mean) * rstd;
      store<f32>(d + c, unit * load<f32>(gain + c) + load<f32>(bias + c));
    }
  }
}

/** dx[r, :] (+)= rstd * (h - mean(h) - unit * mean(h * unit)) with h = dy * gain and unit = (x - mean) * rstd. */
export function layerNormGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, gain: usize, stats: usize, dx: usize, dxStride: i32,
  rows: i32, cols: i32, acc: i32,
): void {
  const width = <usize>cols << 2;
  for (let r = 0; r < rows; r++) {
    const g = dy + ((<usize>(r * dyStride)) << 2);
    const s = x + ((<usize>(r * xStride)) << 2);
    const d = dx + ((<usize>(r * dxStride)) << 2);
    const mean = load<f32>(stats + ((<usize>r) << 3));
    const rstd = load<f32>(stats + ((<usize>r) << 3), FLOAT);
    let sums = f64x2.splat(0), sums2 = f64x2.splat(0), dots = f64x2.splat(0), dots2 = f64x2.splat(0);
    let c: usize = 0;
    for (; c + 16 <= width; c += 16) {
      const h = f32x4.mul(v128.load(g + c), v128.load(gain + c));
      const unit = f32x4.mul(f32x4.sub(v128.load(s + c), f32x4.splat(mean)), f32x4.splat(rstd));
      sums = f64x2.add(sums, low(h));
      sums2 = f64x2.add(sums2, high(h));
      dots = f64x2.add(dots, f64x2.mul(low(h), low(unit)));
      dots2 = f64x2.add(dots2, f64x2.mul(high(h), high(unit)));
    }
    let sum = across(sums, sums2);
    let dot = across(dots, dots2);
    for (; c < width; c += 4) {
      const h: f32 = load<f32>(g + c) * load<f32>(gain + c);
      const unit: f32 = (load<f32>(s + c) - mean) * rstd;
      sum += <f64>h;
      dot += <f64>h * <f64>unit;
    }
    const meanH = <f32>(sum / <f64>cols);
    const meanDot = <f32>(dot / <f64>cols);
    for (c = 0; c + 16 <= width; c += 16) {
      const h = f32x4.mul(v128.load(g + c), v128.load(gain + c));
      const unit = f32x4.mul(f32x4.sub(v128.load(s + c), f32x4.splat(mean)), f32x4.splat(rstd));
      const off = f32x4.sub(f32x4.sub(h, f32x4.splat(meanH)), f32x4.mul(unit, f32x4.splat(meanDot)));
      const v = f32x4.mul(f32x4.splat(rstd), off);
      v128.store(d + c, acc ? f32x4.add(v128.load(d + c), v) : v);
    }
    for (; c < width; c += 4) {
      const h: f32 = load<f32>(g + c) * load<f32>(gain + c);
      const unit: f32 = (load<f32>(s + c) - mean) * rstd;
      const v: f32 = rstd * (h - meanH - unit * meanDot);
      store<f32>(d + c, acc ? load<f32>(d + c) + v : v);
    }
  }
}

/** dgain[c] = sum over r of dy[r, c] * (x[r, c] - mean) * rstd, in the order of sumColumns. */
export function layerNormGainGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, stats: usize, dgain: usize, rows: i32, cols: i32,
): void {
  sumColumns(CENTRED, dy, dyStride, x, xStride, stats, dgain, rows, 1, cols, false);
}

/** y[r, :] = x[r, :] / sqrt(max(sum of squares, epsilon)). */
export function l2NormalizeF32(
  x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32, epsilon: f32,
): void {
  const width = <usize>cols << 2;
  for (let r = 0; r < rows; r++) {
    const s = x + ((<usize>(r * xStride)) << 2);
    const d = y + ((<usize>(r * yStride)) << 2);
    const inverse = <f32>(1 / sqrt<f64>(max<f64>(dotOf(s, s, width), <f64>epsilon)));
    let c: usize = 0;
    for (; c + 16 <= width; c += 16) v128.store(d + c, f32x4.mul(v128.load(s + c), f32x4.splat(inverse)));
    for (; c < width; c += 4) store<f32>(d + c, load<f32>(s + c) * inverse);
  }
}

/** dx[r, :] (+)= (dy - x * dot(dy, x) / length^2) / length; a length that epsilon bounds from below is a constant. */
export function l2NormalizeGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32, rows: i32, cols: i32, epsilon: f32,
  acc: i32,
): void {
  const width = <usize>cols << 2;
  for (let r = 0; r < rows; r++) {
    const g = dy + ((<usize>(r * dyStride)) << 2);
    const s = x + ((<usize>(r * xStride)) << 2);
    const d = dx + ((<usize>(r * dxStride)) << 2);
    const squares = dotOf(s, s, width);
    const inverse = <f32>(1 / sqrt<f64>(max<f64>(squares, <f64>epsilon)));
    const along = squares > <f64>epsilon ? <f32>(dotOf(g, s, width) / squares) : <f32>0;
    let c: usize = 0;
    for (; c + 16 <= width; c += 16) {
      const off = f32x4.sub(v128.load(g + c), f32x4.mul(v128.load(s + c), f32x4.splat(along)));
      const v = f32x4.mul(off, f32x4.splat(inverse));
      v128.store(d + c, acc ? f32x4.add(v128.load(d + c), v) : v);
    }
    for (; c < width; c += 4) {
      const v: f32 = (load<f32>(g + c) - load<f32>(s + c) * along) * inverse;
      store<f32>(d + c, acc ? load<f32>(d + c) + v : v);
    }
  }
}
