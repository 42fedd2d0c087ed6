// Elementwise kernels whose operands may repeat: a stride of 0 repeats a row, a step of 0 repeats an element along it.
import { BINARY_KIND, UNARY_KIND } from "../generated/layouts";
import { gather, put, put1, scatter } from "./loops";
import { exp4, log4 } from "./math";

@inline
function pair(kind: i32, x: v128, y: v128): v128 {
  const one = f32x4.splat(1);
  if (kind == BINARY_KIND.add) return f32x4.add(x, y);
  if (kind == BINARY_KIND.sub) return f32x4.sub(x, y);
  if (kind == BINARY_KIND.mul) return f32x4.mul(x, y);
  if (kind == BINARY_KIND.div) return f32x4.div(x, y);
  if (kind == BINARY_KIND.maximum) return f32x4.max(x, y);
  if (kind == BINARY_KIND.minimum) return f32x4.min(x, y);
  if (kind == BINARY_KIND.greaterEqual) return v128.and(one, f32x4.ge(x, y));
  return v128.and(one, f32x4.eq(x, y));
}

@inline
function pairRows(
  kind: i32, a: usize, aStride: i32, aStep: i32, b: usize, bStride: i32, bStep: i32, dst: usize, dstStride: i32,
  rows: i32, cols: i32,
): void {
  // Rows that lie end to end in all operands, or repeat one element, are one long row.
  const flat = aStride == cols * aStep && bStride == cols * bStep && dstStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let x = a + ((<usize>(r * aStride)) << 2);
    let y = b + ((<usize>(r * bStride)) << 2);
    let d = dst + ((<usize>(r * dstStride)) << 2);
    let left = count;
    while (left >= 4) {
      const xs = aStep ? v128.load(x) : v128.load32_splat(x);
      const ys = bStep ? v128.load(y) : v128.load32_splat(y);
      v128.store(d, pair(kind, xs, ys));
      x += <usize>aStep << 4;
      y += <usize>bStep << 4;
      d += 16;
      left -= 4;
    }
    if (left > 0) {
      const xs = aStep ? gather(x, 4, left) : v128.load32_splat(x);
      const ys = bStep ? gather(y, 4, left) : v128.load32_splat(y);
      scatter(d, 4, left, pair(kind, xs, ys));
    }
  }
}

/** dst = a op b, where a stride of 0 repeats a row and a step of 0 an element. Comparisons give 1 or 0. */
export function binaryF32(
  kind: i32, a: usize, aStride: i32, aStep: i32, b: usize, bStride: i32, bStep: i32, dst: usize, dstStride: i32,
  rows: i32, cols: i32,
): void {
  switch (kind) {
    case BINARY_KIND.add:
      pairRows(BINARY_KIND.add, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.sub:
      pairRows(BINARY_KIND.sub, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.mul:
      pairRows(BINARY_KIND.mul, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.div:
      pairRows(BINARY_KIND.div, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.maximum:
      pairRows(BINARY_KIND.maximum, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.minimum:
      pairRows(BINARY_KIND.minimum, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    case BINARY_KIND.greaterEqual:
      pairRows(BINARY_KIND.greaterEqual, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
      break;
    default: pairRows(BINARY_KIND.equal, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
  }
}

/** log(1 + x) from the logarithm of the rounded sum, times what the rounding changed of x. */
@inline
function log1p4(x: v128): v128 {
  const one = f32x4.splat(1), sum = f32x4.add(x, one);
  const value = f32x4.mul(log4(sum), f32x4.div(x, f32x4.sub(sum, one)));
  return v128.bitselect(x, value, v128.or(f32x4.eq(sum, one), f32x4.eq(x, f32x4.splat(Infinity))));
}

@inline
function single(kind: i32, x: v128): v128 {
  if (kind == UNARY_KIND.abs) return f32x4.abs(x);
  if (kind == UNARY_KIND.sqrt) return f32x4.sqrt(x);
  if (kind == UNARY_KIND.exp) return exp4(x);
  if (kind == UNARY_KIND.log) return log4(x);
  if (kind == UNARY_KIND.log1p) return log1p4(x);
  const zero = f32x4.splat(0), one = f32x4.splat(1);
  return f32x4.sub(v128.and(one, f32x4.gt(x, zero)), v128.and(one, f32x4.lt(x, zero)));
}

@inline
function singleRows(kind: i32, x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  const flat = xStride == cols && yStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    for (let left = count; left > 0; left -= 4) {
      const value = single(kind, left >= 4 ? v128.load(s) : gather(s, 4, left));
      if (left >= 4) v128.store(d, value);
      else scatter(d, 4, left, value);
      s += 16;
      d += 16;
    }
  }
}

/** y = op x. exp and log are within 2 ulp of f64, log1p within 4, the others exact; the sign of NaN is 0. */
export function unaryF32(kind: i32, x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  switch (kind) {
    case UNARY_KIND.abs: singleRows(UNARY_KIND.abs, x, xStride, y, yStride, rows, cols); break;
    case UNARY_KIND.sqrt: singleRows(UNARY_KIND.sqrt, x, xStride, y, yStride, rows, cols); break;
    case UNARY_KIND.exp: singleRows(UNARY_KIND.exp, x, xStride, y, yStride, rows, cols); break;
    case UNARY_KIND.log: singleRows(UNARY_KIND.log, x, xStride, y, yStride, rows, cols); break;
    case UNARY_KIND.log1p: singleRows(UNARY_KIND.log1p, x, xStride, y, yStride, rows, cols); break;
    default: singleRows(UNARY_KIND.sign, x, xStride, y, yStride, rows, cols);
  }
}

/** dst[r, c] (+)= factor * src[r * srcStride + c * srcStep]. */
export function broadcastF32(
  src: usize, srcStride: i32, srcStep: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, factor: f32, acc: i32,
): void {
  const factors = f32x4.splat(factor);
  for (let r = 0; r < rows; r++) {
    let s = src + ((<usize>(r * srcStride)) << 2);
    let d = dst + ((<usize>(r * dstStride)) << 2);
    let left = cols;
    for (; left >= 4; left -= 4) {
      put(d, f32x4.mul(factors, srcStep ? v128.load(s) : v128.load32_splat(s)), acc != 0);
      s += <usize>srcStep << 4;
      d += 16;
    }
    for (; left > 0; left--) {
      put1(d, factor * load<f32>(s), acc != 0);
      s += <usize>srcStep << 2;
      d += 4;
    }
  }
}
