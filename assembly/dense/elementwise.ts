// Elementwise kernels. Lanes are independent, so SIMD body, tail and reference agree bit for bit.
import { V1, V2, V3 } from "../units";
import { ADD, MUL, SUB, binaryRows, put, put1 } from "./loops";

/** dst (+)= a - b. */
export function subF32(
  a: usize, aStride: i32, b: usize, bStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  if (acc) binaryRows(SUB, true, a, aStride, b, bStride, dst, dstStride, rows, cols);
  else binaryRows(SUB, false, a, aStride, b, bStride, dst, dstStride, rows, cols);
}

/** dst (+)= a * b. */
export function mulF32(
  a: usize, aStride: i32, b: usize, bStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  if (acc) binaryRows(MUL, true, a, aStride, b, bStride, dst, dstStride, rows, cols);
  else binaryRows(MUL, false, a, aStride, b, bStride, dst, dstStride, rows, cols);
}

/** dst[r, c] = x[r, c] + bias[c]. */
export function addBiasF32(
  x: usize, xStride: i32, bias: usize, dst: usize, dstStride: i32, rows: i32, cols: i32,
): void {
  // A row stride of 0 repeats the bias.
  binaryRows(ADD, false, x, xStride, bias, 0, dst, dstStride, rows, cols);
}

/** The `n` floats from `dst` become `value`. */
function fillF32(dst: usize, n: i32, value: f32): void {
  const values = f32x4.splat(value);
  let left = n;
  while (left >= 16) {
    v128.store(dst, values);
    v128.store(dst, values, V1);
    v128.store(dst, values, V2);
    v128.store(dst, values, V3);
    dst += 64;
    left -= 16;
  }
  while (left > 0) {
    store<f32>(dst, value);
    dst += 4;
    left--;
  }
}

@inline
function scaleRow(src: usize, dst: usize, count: i32, factor: f32, acc: bool): void {
  const factors = f32x4.splat(factor);
  let left = count;
  while (left >= 16) {
    const v0 = f32x4.mul(factors, v128.load(src));
    const v1 = f32x4.mul(factors, v128.load(src, V1));
    const v2 = f32x4.mul(factors, v128.load(src, V2));
    const v3 = f32x4.mul(factors, v128.load(src, V3));
    v128.store(dst, acc ? f32x4.add(v128.load(dst), v0) : v0);
    v128.store(dst, acc ? f32x4.add(v128.load(dst, V1), v1) : v1, V1);
    v128.store(dst, acc ? f32x4.add(v128.load(dst, V2), v2) : v2, V2);
    v128.store(dst, acc ? f32x4.add(v128.load(dst, V3), v3) : v3, V3);
    src += 64;
    dst += 64;
    left -= 16;
  }
  while (left >= 4) {
    put(dst, f32x4.mul(factors, v128.load(src)), acc);
    src += 16;
    dst += 16;
    left -= 4;
  }
  while (left > 0) {
    put1(dst, factor * load<f32>(src), acc);
    src += 4;
    dst += 4;
    left--;
  }
}

@inline
function scaleAll(
  acc: bool, src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, factor: f32,
): void {
  const flat = srcStride == cols && dstStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    scaleRow(src + ((<usize>(r * srcStride)) << 2), dst + ((<usize>(r * dstStride)) << 2), count, factor, acc);
  }
}

/** dst (+)= factor * src. */
export function scaleF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, factor: f32, acc: i32,
): void {
  if (acc) scaleAll(true, src, srcStride, dst, dstStride, rows, cols, factor);
  else scaleAll(false, src, srcStride, dst, dstStride, rows, cols, factor);
}

/** dst[r, :] (+)= scale[r] * src[r, :]. */
export function scaleRowsF32(
  scale: usize, scaleStride: i32, src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, cols: i32, acc: i32,
): void {
  const scaleStep = <usize>scaleStride << 2;
  const srcStep = <usize>srcStride << 2;
  const dstStep = <usize>dstStride << 2;
  for (let r = 0; r < rows; r++) {
    if (acc) scaleRow(src, dst, cols, load<f32>(scale), true);
    else scaleRow(src, dst, cols, load<f32>(scale), false);
    scale += scaleStep;
    src += srcStep;
    dst += dstStep;
  }
}

/** dst[r, c] (+)= factor * src[0]: the gradient of a sum or a mean. */
export function broadcastScalarF32(
  src: usize, dst: usize, dstStride: i32, rows: i32, cols: i32, factor: f32, acc: i32,
): void {
  const value: f32 = factor * load<f32>(src);
  for (let r = 0; r < rows; r++) {
    const row = dst + ((<usize>(r * dstStride)) << 2);
    if (acc) {
      for (let c = 0; c < cols; c++) {
        const d = row + ((<usize>c) << 2);
        store<f32>(d, load<f32>(d) + value);
      }
    } else {
      fillF32(row, cols, value);
    }
  }
}
