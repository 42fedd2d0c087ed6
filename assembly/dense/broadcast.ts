// Elementwise kernels whose operands may repeat: a stride of 0 repeats a row, a step of 0 repeats an element along it.
import { gather, put, put1, scatter } from "./loops";
import { exp4, log4 } from "./math";

// Kinds of binaryF32 and unaryF32; src/runtime/compile/lower/elementwise.ts has the same.
const ADD: i32 = 0;
const SUB: i32 = 1;
const MUL: i32 = 2;
const DIV: i32 = 3;
const MAX: i32 = 4;
const MIN: i32 = 5;
const GREATER_EQUAL: i32 = 6;
const EQUAL: i32 = 7;

const ABS: i32 = 0;
const SQRT: i32 = 1;
const EXP: i32 = 2;
const LOG: i32 = 3;
const SIGN: i32 = 4;

@inline
function pair(kind: i32, x: v128, y: v128): v128 {
  const one = f32x4.splat(1);
  if (kind == ADD) return f32x4.add(x, y);
  if (kind == SUB) return f32x4.sub(x, y);
  if (kind == MUL) return f32x4.mul(x, y);
  if (kind == DIV) return f32x4.div(x, y);
  if (kind == MAX) return f32x4.max(x, y);
  if (kind == MIN) return f32x4.min(x, y);
  if (kind == GREATER_EQUAL) return v128.and(one, f32x4.ge(x, y));
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
    case ADD: pairRows(ADD, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case SUB: pairRows(SUB, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case MUL: pairRows(MUL, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case DIV: pairRows(DIV, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case MAX: pairRows(MAX, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case MIN: pairRows(MIN, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    case GREATER_EQUAL: pairRows(GREATER_EQUAL, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols); break;
    default: pairRows(EQUAL, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols);
  }
}

@inline
function single(kind: i32, x: v128): v128 {
  if (kind == ABS) return f32x4.abs(x);
  if (kind == SQRT) return f32x4.sqrt(x);
  if (kind == EXP) return exp4(x);
  if (kind == LOG) return log4(x);
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

/** y = op x. exp and log are within 2 ulp of f64, the others exact; the sign of NaN is 0. */
export function unaryF32(kind: i32, x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32): void {
  switch (kind) {
    case ABS: singleRows(ABS, x, xStride, y, yStride, rows, cols); break;
    case SQRT: singleRows(SQRT, x, xStride, y, yStride, rows, cols); break;
    case EXP: singleRows(EXP, x, xStride, y, yStride, rows, cols); break;
    case LOG: singleRows(LOG, x, xStride, y, yStride, rows, cols); break;
    default: singleRows(SIGN, x, xStride, y, yStride, rows, cols);
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
