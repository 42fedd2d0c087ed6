// Matrix times vector: products with one or two columns, or rows, and the columns beyond the last full tile. Operands
// are taken as they lie, since packing a matrix that is used once costs more than it saves. Not exported by the module.
//
// Sums run over k in increasing order as in a tile, four rows side by side in one vector.
import { V1, V2, V3 } from "../units";
import { blockK } from "./gemm-shape";
import { madd } from "./madd";

/** Adds four steps of k to the sums of four rows, of which each is contiguous along k. */
@inline
function addSteps4(a: usize, aRowStep: usize, f0: v128, f1: v128, f2: v128, f3: v128, sums: v128): v128 {
  const a1 = a + aRowStep;
  const a2 = a1 + aRowStep;
  const x0 = v128.load(a);
  const x1 = v128.load(a1);
  const x2 = v128.load(a2);
  const x3 = v128.load(a2 + aRowStep);
  const t0 = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
  const t1 = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
  const t2 = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
  const t3 = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
  sums = madd(v128.shuffle<f64>(t0, t2, 0, 2), f0, sums);
  sums = madd(v128.shuffle<f64>(t0, t2, 1, 3), f1, sums);
  sums = madd(v128.shuffle<f64>(t1, t3, 0, 2), f2, sums);
  return madd(v128.shuffle<f64>(t1, t3, 1, 3), f3, sums);
}

/** One step of k of four rows, wherever they lie. */
@inline
function gather4(a: usize, aRowStep: usize): v128 {
  const a1 = a + aRowStep;
  const a2 = a1 + aRowStep;
  let x = v128.load_zero<u32>(a);
  x = v128.load_lane<f32>(a1, x, 1);
  x = v128.load_lane<f32>(a2, x, 2);
  return v128.load_lane<f32>(a2 + aRowStep, x, 3);
}

/** Sums of 16 rows, put to `sums`, 64 bytes, or added to what is there. */
function column16(
  a: usize, aRowStep: usize, aColStep: usize, b: usize, bStep: usize, k: i32, sums: usize, adds: bool,
): void {
  const group = aRowStep << 2;
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  let left = k;
  if (aRowStep == 4) {
    while (left > 0) {
      const factor = v128.load_splat<f32>(b);
      s0 = madd(v128.load(a), factor, s0);
      s1 = madd(v128.load(a, V1), factor, s1);
      s2 = madd(v128.load(a, V2), factor, s2);
      s3 = madd(v128.load(a, V3), factor, s3);
      a += aColStep;
      b += bStep;
      left--;
    }
  } else if (aColStep == 4) {
    while (left >= 4) {
      const f0 = v128.load_splat<f32>(b);
      const f1 = v128.load_splat<f32>(b + bStep);
      const f2 = v128.load_splat<f32>(b + 2 * bStep);
      const f3 = v128.load_splat<f32>(b + 3 * bStep);
      s0 = addSteps4(a, aRowStep, f0, f1, f2, f3, s0);
      s1 = addSteps4(a + group, aRowStep, f0, f1, f2, f3, s1);
      s2 = addSteps4(a + 2 * group, aRowStep, f0, f1, f2, f3, s2);
      s3 = addSteps4(a + 3 * group, aRowStep, f0, f1, f2, f3, s3);
      a += 16;
      b += bStep << 2;
      left -= 4;
    }
  }
  while (left > 0) {
    const factor = v128.load_splat<f32>(b);
    s0 = madd(gather4(a, aRowStep), factor, s0);
    s1 = madd(gather4(a + group, aRowStep), factor, s1);
    s2 = madd(gather4(a + 2 * group, aRowStep), factor, s2);
    s3 = madd(gather4(a + 3 * group, aRowStep), factor, s3);
    a += aColStep;
    b += bStep;
    left--;
  }
  if (adds) {
    s0 = f32x4.add(v128.load(sums), s0);
    s1 = f32x4.add(v128.load(sums, V1), s1);
    s2 = f32x4.add(v128.load(sums, V2), s2);
    s3 = f32x4.add(v128.load(sums, V3), s3);
  }
  v128.store(sums, s0);
  v128.store(sums, s1, V1);
  v128.store(sums, s2, V2);
  v128.store(sums, s3, V3);
}

/** The sum of one row, in the first lane: the same steps as in a vector of rows. */
function column1(a: usize, aColStep: usize, b: usize, bStep: usize, k: i32): f32 {
  let sums = f32x4.splat(0);
  for (let i = 0; i < k; i++) {
    sums = madd(v128.load_zero<u32>(a), v128.load_zero<u32>(b), sums);
    a += aColStep;
    b += bStep;
  }
  return f32x4.extract_lane(sums, 0);
}

/** c[i] (+)= sum over k of a[i, k] * b[k], in blocks of k as gemmF32 has them. Steps are in bytes; `buffer` has 64. */
export function multiplyColumn(
  a: usize, aRowStep: usize, aColStep: usize, b: usize, bStep: usize, c: usize, cStep: usize,
  rows: i32, k: i32, acc: bool, buffer: usize,
): void {
  const kBlock = blockK(k);
  for (let k0 = 0; k0 < k; k0 += kBlock) {
    multiplySteps(a, aRowStep, aColStep, b, bStep, c, cStep, rows, min(kBlock, k - k0), acc || k0 > 0, buffer);
    a += <usize>kBlock * aColStep;
    b += <usize>kBlock * bStep;
  }
}

/** The same in one block. */
function multiplySteps(
  a: usize, aRowStep: usize, aColStep: usize, b: usize, bStep: usize, c: usize, cStep: usize,
  rows: i32, k: i32, acc: bool, buffer: usize,
): void {
  let left = rows;
  while (left >= 16) {
    if (cStep == 4) {
      column16(a, aRowStep, aColStep, b, bStep, k, c, acc);
      c += 64;
    } else {
      column16(a, aRowStep, aColStep, b, bStep, k, buffer, false);
      for (let i = 0; i < 16; i++) {
        const sum = load<f32>(buffer + (<usize>i << 2));
        store<f32>(c, acc ? load<f32>(c) + sum : sum);
        c += cStep;
      }
    }
    a += aRowStep << 4;
    left -= 16;
  }
  while (left > 0) {
    const sum = column1(a, aColStep, b, bStep, k);
    store<f32>(c, acc ? load<f32>(c) + sum : sum);
    a += aRowStep;
    c += cStep;
    left--;
  }
}
