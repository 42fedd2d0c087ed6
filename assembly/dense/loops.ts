// Loops the dense kernels share. Not exported by the module: `op` and `acc` are constants where these are inlined, so
// each caller gets its own straight loop.
import { V1 } from "../units";

// Binary operations. In the gradients x is the gradient of the output and y is the output.
export const ADD: i32 = 0;
export const SUB: i32 = 1;
export const MUL: i32 = 2;
export const RELU_GRAD: i32 = 3;
export const SIGMOID_GRAD: i32 = 4;
export const TANH_GRAD: i32 = 5;

@inline
function vector(op: i32, x: v128, y: v128): v128 {
  if (op == ADD) return f32x4.add(x, y);
  if (op == SUB) return f32x4.sub(x, y);
  if (op == MUL) return f32x4.mul(x, y);
  if (op == RELU_GRAD) return v128.and(x, f32x4.gt(y, f32x4.splat(0)));
  if (op == SIGMOID_GRAD) return f32x4.mul(x, f32x4.mul(y, f32x4.sub(f32x4.splat(1), y)));
  return f32x4.mul(x, f32x4.sub(f32x4.splat(1), f32x4.mul(y, y)));
}

@inline
function scalar(op: i32, x: f32, y: f32): f32 {
  if (op == ADD) return x + y;
  if (op == SUB) return x - y;
  if (op == MUL) return x * y;
  if (op == RELU_GRAD) return y > 0 ? x : 0;
  if (op == SIGMOID_GRAD) return x * (y * (1 - y));
  return x * (1 - y * y);
}

@inline
export function put(dst: usize, value: v128, acc: bool): void {
  v128.store(dst, acc ? f32x4.add(v128.load(dst), value) : value);
}

@inline
export function put1(dst: usize, value: f32, acc: bool): void {
  store<f32>(dst, acc ? load<f32>(dst) + value : value);
}

/** dst[i] += src[i] over `count` floats. */
@inline
export function addRow(src: usize, dst: usize, count: i32): void {
  let left = count;
  while (left >= 8) {
    const low = f32x4.add(v128.load(dst), v128.load(src));
    const high = f32x4.add(v128.load(dst, V1), v128.load(src, V1));
    v128.store(dst, low);
    v128.store(dst, high, V1);
    src += 32;
    dst += 32;
    left -= 8;
  }
  if (left >= 4) {
    v128.store(dst, f32x4.add(v128.load(dst), v128.load(src)));
    src += 16;
    dst += 16;
    left -= 4;
  }
  while (left > 0) {
    store<f32>(dst, load<f32>(dst) + load<f32>(src));
    src += 4;
    dst += 4;
    left--;
  }
}

/** dst (+)= x op y. */
@inline
export function binaryRows(
  op: i32, acc: bool, a: usize, aStride: i32, b: usize, bStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32,
): void {
  // Rows that lie end to end in all operands are one long row: narrow matrices then fill whole vectors.
  const flat = aStride == cols && bStride == cols && dstStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  for (let r = 0; r < rowCount; r++) {
    let x = a + ((<usize>(r * aStride)) << 2);
    let y = b + ((<usize>(r * bStride)) << 2);
    let d = dst + ((<usize>(r * dstStride)) << 2);
    let left = count;
    while (left >= 8) {
      const low = vector(op, v128.load(x), v128.load(y));
      const high = vector(op, v128.load(x, V1), v128.load(y, V1));
      // Written out: a literal offset is free, an added one is not, and only a literal may stand in this place.
      v128.store(d, acc ? f32x4.add(v128.load(d), low) : low);
      v128.store(d, acc ? f32x4.add(v128.load(d, V1), high) : high, V1);
      x += 32;
      y += 32;
      d += 32;
      left -= 8;
    }
    if (left >= 4) {
      put(d, vector(op, v128.load(x), v128.load(y)), acc);
      x += 16;
      y += 16;
      d += 16;
      left -= 4;
    }
    while (left > 0) {
      put1(d, scalar(op, load<f32>(x), load<f32>(y)), acc);
      x += 4;
      y += 4;
      d += 4;
      left--;
    }
  }
}

/** The first `count` (1 to 4) of the floats at src, src + step, ...; the lanes after them are 0. */
@inline
export function gather(src: usize, step: usize, count: i32): v128 {
  let v = f32x4.replace_lane(f32x4.splat(0), 0, load<f32>(src));
  if (count > 1) v = f32x4.replace_lane(v, 1, load<f32>(src + step));
  if (count > 2) v = f32x4.replace_lane(v, 2, load<f32>(src + step * 2));
  if (count > 3) v = f32x4.replace_lane(v, 3, load<f32>(src + step * 3));
  return v;
}

/** Stores the first `count` (1 to 4) lanes at dst, dst + step, ... */
@inline
export function scatter(dst: usize, step: usize, count: i32, v: v128): void {
  store<f32>(dst, f32x4.extract_lane(v, 0));
  if (count > 1) store<f32>(dst + step, f32x4.extract_lane(v, 1));
  if (count > 2) store<f32>(dst + step * 2, f32x4.extract_lane(v, 2));
  if (count > 3) store<f32>(dst + step * 3, f32x4.extract_lane(v, 3));
}
