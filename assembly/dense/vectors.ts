// Runs of floats that the kernels over inner dimensions are made of. Not exported by the module: `acc` is a constant
// where these are inlined. src/runtime/backends/reference/dense/loops.ts has the twins and their orders.
import { addRow, put, put1 } from "./loops";

/** dst (+)= src over `count` floats. */
@inline
export function moveRun(src: usize, dst: usize, count: i32, acc: bool): void {
  if (acc) {
    addRow(src, dst, count);
    return;
  }
  let left = count;
  for (; left >= 4; left -= 4, src += 16, dst += 16) v128.store(dst, v128.load(src));
  for (; left > 0; left--, src += 4, dst += 4) store<f32>(dst, load<f32>(src));
}

/** dst (+)= factor * src over `count` floats. */
@inline
export function scaleRun(factor: f32, src: usize, dst: usize, count: i32, acc: bool): void {
  const factors = f32x4.splat(factor);
  let left = count;
  for (; left >= 4; left -= 4, src += 16, dst += 16) put(dst, f32x4.mul(factors, v128.load(src)), acc);
  for (; left > 0; left--, src += 4, dst += 4) put1(dst, factor * load<f32>(src), acc);
}

/** dst (+)= a * b over `count` floats. */
@inline
export function multiplyRun(a: usize, b: usize, dst: usize, count: i32, acc: bool): void {
  let left = count;
  for (; left >= 4; left -= 4, a += 16, b += 16, dst += 16) put(dst, f32x4.mul(v128.load(a), v128.load(b)), acc);
  for (; left > 0; left--, a += 4, b += 4, dst += 4) put1(dst, load<f32>(a) * load<f32>(b), acc);
}

/** dst = value over `count` floats. */
@inline
export function fillRun(value: f32, dst: usize, count: i32): void {
  const values = f32x4.splat(value);
  let left = count;
  for (; left >= 4; left -= 4, dst += 16) v128.store(dst, values);
  for (; left > 0; left--, dst += 4) store<f32>(dst, value);
}

/** (q0 + q2) + (q1 + q3). */
@inline
export function sumLanes(q: v128): f32 {
  const half = f32x4.add(q, v128.shuffle<f32>(q, q, 2, 3, 0, 1));
  return f32x4.extract_lane(half, 0) + f32x4.extract_lane(half, 1);
}

/** sumLanes of four vectors at a time: the same additions. */
@inline
export function sumLanes4(q0: v128, q1: v128, q2: v128, q3: v128): v128 {
  const x = f32x4.add(v128.shuffle<f32>(q0, q1, 0, 1, 4, 5), v128.shuffle<f32>(q0, q1, 2, 3, 6, 7));
  const y = f32x4.add(v128.shuffle<f32>(q2, q3, 0, 1, 4, 5), v128.shuffle<f32>(q2, q3, 2, 3, 6, 7));
  return f32x4.add(v128.shuffle<f32>(x, y, 0, 2, 4, 6), v128.shuffle<f32>(x, y, 1, 3, 5, 7));
}

/** Dot product: four partial sums over the whole blocks of four, then sumLanes, then what is left, one by one. */
@inline
export function dotRun(a: usize, b: usize, count: i32): f32 {
  let q = f32x4.splat(0);
  let left = count;
  for (; left >= 4; left -= 4, a += 16, b += 16) q = f32x4.add(q, f32x4.mul(v128.load(a), v128.load(b)));
  let sum = sumLanes(q);
  for (; left > 0; left--, a += 4, b += 4) sum += load<f32>(a) * load<f32>(b);
  return sum;
}

/** Sum in the order of dotRun. */
@inline
export function sumRun(a: usize, count: i32): f32 {
  let q = f32x4.splat(0);
  let left = count;
  for (; left >= 4; left -= 4, a += 16) q = f32x4.add(q, v128.load(a));
  let sum = sumLanes(q);
  for (; left > 0; left--, a += 4) sum += load<f32>(a);
  return sum;
}
