// Register-blocked inner loops of the matrix product. Not exported by the module. Written by generate-tiles.mjs: do not
// edit.
//
// Every element is one chain over k in increasing order, from 0, that is added to C when accumulating.
//
// Each unrolled step ends in a real exit test. Without it the compiler lifts all loads of the unrolled body to its top
// and spills the accumulators, which costs a third of the speed.
import { madd } from "./madd";
import { FLOAT, VECTOR } from "../units";

@inline
function body4x8(k: i32, a: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  let c0_0 = f32x4.splat(0);
  let c0_1 = f32x4.splat(0);
  let c1_0 = f32x4.splat(0);
  let c1_1 = f32x4.splat(0);
  let c2_0 = f32x4.splat(0);
  let c2_1 = f32x4.splat(0);
  let c3_0 = f32x4.splat(0);
  let c3_1 = f32x4.splat(0);
  const end0 = b + <usize>k * 32 - 32;
  const end1 = b + <usize>k * 32 - 64;
  const end2 = b + <usize>k * 32 - 96;
  const end3 = b + <usize>k * 32 - 128;
  while (true) {
    {
      const b0 = v128.load(b, 0 * VECTOR);
      const b1 = v128.load(b, 1 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 0 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 1 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 2 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 3 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 2 * VECTOR);
      const b1 = v128.load(b, 3 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 4 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 5 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 6 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 7 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 4 * VECTOR);
      const b1 = v128.load(b, 5 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 8 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 9 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 10 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 11 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 6 * VECTOR);
      const b1 = v128.load(b, 7 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 12 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 13 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 14 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 15 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end3) break;
    a += 64;
    b += 128;
  }
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0 * VECTOR), c0_0);
    c0_1 = f32x4.add(v128.load(row, 1 * VECTOR), c0_1);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0 * VECTOR), c1_0);
    c1_1 = f32x4.add(v128.load(row, 1 * VECTOR), c1_1);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0 * VECTOR), c2_0);
    c2_1 = f32x4.add(v128.load(row, 1 * VECTOR), c2_1);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0 * VECTOR), c3_0);
    c3_1 = f32x4.add(v128.load(row, 1 * VECTOR), c3_1);
  }
  let row = c;
  v128.store(row, c0_0, 0 * VECTOR);
  v128.store(row, c0_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c1_0, 0 * VECTOR);
  v128.store(row, c1_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c2_0, 0 * VECTOR);
  v128.store(row, c2_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c3_0, 0 * VECTOR);
  v128.store(row, c3_1, 1 * VECTOR);
}

/**
 * 4 rows and 8 columns of C, k >= 1, from packed panels: 4 floats of A per k and 8 of B.
 * Eight accumulators and the operands are what 16 registers of 128 bits hold.
 */
export function tile4x8(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body4x8(k, a, b, c, cStep, false);
}

/** The same, added to C. A function of its own: sums that may start in two ways are not joined to 256 bits. */
export function tileAdd4x8(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body4x8(k, a, b, c, cStep, true);
}

@inline
function crossed4x8(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  let c0_0 = f32x4.splat(0);
  let c0_1 = f32x4.splat(0);
  let c1_0 = f32x4.splat(0);
  let c1_1 = f32x4.splat(0);
  let c2_0 = f32x4.splat(0);
  let c2_1 = f32x4.splat(0);
  let c3_0 = f32x4.splat(0);
  let c3_1 = f32x4.splat(0);
  const end0 = b + <usize>k * 32 - 32;
  const end1 = b + <usize>k * 32 - 64;
  const end2 = b + <usize>k * 32 - 96;
  const end3 = b + <usize>k * 32 - 128;
  const end4 = b + <usize>k * 32 - 160;
  const end5 = b + <usize>k * 32 - 192;
  const end6 = b + <usize>k * 32 - 224;
  const end7 = b + <usize>k * 32 - 256;
  while (true) {
    {
      const b0 = v128.load(b, 0 * VECTOR);
      const b1 = v128.load(b, 1 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 0 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 8 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 16 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 24 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 2 * VECTOR);
      const b1 = v128.load(b, 3 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 1 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 9 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 17 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 25 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 4 * VECTOR);
      const b1 = v128.load(b, 5 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 2 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 10 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 18 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 26 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 6 * VECTOR);
      const b1 = v128.load(b, 7 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 3 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 11 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 19 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 27 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end3) break;
    {
      const b0 = v128.load(b, 8 * VECTOR);
      const b1 = v128.load(b, 9 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 4 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 12 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 20 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 28 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end4) break;
    {
      const b0 = v128.load(b, 10 * VECTOR);
      const b1 = v128.load(b, 11 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 5 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 13 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 21 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 29 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end5) break;
    {
      const b0 = v128.load(b, 12 * VECTOR);
      const b1 = v128.load(b, 13 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 6 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 14 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 22 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 30 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end6) break;
    {
      const b0 = v128.load(b, 14 * VECTOR);
      const b1 = v128.load(b, 15 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 7 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 15 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 23 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 31 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end7) break;
    a += aStep;
    b += 256;
  }
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0 * VECTOR), c0_0);
    c0_1 = f32x4.add(v128.load(row, 1 * VECTOR), c0_1);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0 * VECTOR), c1_0);
    c1_1 = f32x4.add(v128.load(row, 1 * VECTOR), c1_1);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0 * VECTOR), c2_0);
    c2_1 = f32x4.add(v128.load(row, 1 * VECTOR), c2_1);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0 * VECTOR), c3_0);
    c3_1 = f32x4.add(v128.load(row, 1 * VECTOR), c3_1);
  }
  let row = c;
  v128.store(row, c0_0, 0 * VECTOR);
  v128.store(row, c0_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c1_0, 0 * VECTOR);
  v128.store(row, c1_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c2_0, 0 * VECTOR);
  v128.store(row, c2_1, 1 * VECTOR);
  row += cStep;
  v128.store(row, c3_0, 0 * VECTOR);
  v128.store(row, c3_1, 1 * VECTOR);
}

/** As tile4x8, of rows of A packed as B is: 8 of the k in a row of a panel, panels `aStep` apart. */
export function tileCrossed4x8(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed4x8(k, a, aStep, b, c, cStep, false);
}

/** The same, added to C. */
export function tileCrossedAdd4x8(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed4x8(k, a, aStep, b, c, cStep, true);
}

@inline
function body6x16(k: i32, a: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  let c0_0 = f32x4.splat(0);
  let c0_1 = f32x4.splat(0);
  let c0_2 = f32x4.splat(0);
  let c0_3 = f32x4.splat(0);
  let c1_0 = f32x4.splat(0);
  let c1_1 = f32x4.splat(0);
  let c1_2 = f32x4.splat(0);
  let c1_3 = f32x4.splat(0);
  let c2_0 = f32x4.splat(0);
  let c2_1 = f32x4.splat(0);
  let c2_2 = f32x4.splat(0);
  let c2_3 = f32x4.splat(0);
  let c3_0 = f32x4.splat(0);
  let c3_1 = f32x4.splat(0);
  let c3_2 = f32x4.splat(0);
  let c3_3 = f32x4.splat(0);
  let c4_0 = f32x4.splat(0);
  let c4_1 = f32x4.splat(0);
  let c4_2 = f32x4.splat(0);
  let c4_3 = f32x4.splat(0);
  let c5_0 = f32x4.splat(0);
  let c5_1 = f32x4.splat(0);
  let c5_2 = f32x4.splat(0);
  let c5_3 = f32x4.splat(0);
  const end0 = b + <usize>k * 64 - 64;
  const end1 = b + <usize>k * 64 - 128;
  while (true) {
    {
      const b0 = v128.load(b, 0 * VECTOR);
      const b1 = v128.load(b, 1 * VECTOR);
      const b2 = v128.load(b, 2 * VECTOR);
      const b3 = v128.load(b, 3 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 0 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 1 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 2 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 3 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 4 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 5 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 4 * VECTOR);
      const b1 = v128.load(b, 5 * VECTOR);
      const b2 = v128.load(b, 6 * VECTOR);
      const b3 = v128.load(b, 7 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 6 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 7 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 8 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 9 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 10 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 11 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end1) break;
    a += 48;
    b += 128;
  }
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0 * VECTOR), c0_0);
    c0_1 = f32x4.add(v128.load(row, 1 * VECTOR), c0_1);
    c0_2 = f32x4.add(v128.load(row, 2 * VECTOR), c0_2);
    c0_3 = f32x4.add(v128.load(row, 3 * VECTOR), c0_3);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0 * VECTOR), c1_0);
    c1_1 = f32x4.add(v128.load(row, 1 * VECTOR), c1_1);
    c1_2 = f32x4.add(v128.load(row, 2 * VECTOR), c1_2);
    c1_3 = f32x4.add(v128.load(row, 3 * VECTOR), c1_3);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0 * VECTOR), c2_0);
    c2_1 = f32x4.add(v128.load(row, 1 * VECTOR), c2_1);
    c2_2 = f32x4.add(v128.load(row, 2 * VECTOR), c2_2);
    c2_3 = f32x4.add(v128.load(row, 3 * VECTOR), c2_3);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0 * VECTOR), c3_0);
    c3_1 = f32x4.add(v128.load(row, 1 * VECTOR), c3_1);
    c3_2 = f32x4.add(v128.load(row, 2 * VECTOR), c3_2);
    c3_3 = f32x4.add(v128.load(row, 3 * VECTOR), c3_3);
    row += cStep;
    c4_0 = f32x4.add(v128.load(row, 0 * VECTOR), c4_0);
    c4_1 = f32x4.add(v128.load(row, 1 * VECTOR), c4_1);
    c4_2 = f32x4.add(v128.load(row, 2 * VECTOR), c4_2);
    c4_3 = f32x4.add(v128.load(row, 3 * VECTOR), c4_3);
    row += cStep;
    c5_0 = f32x4.add(v128.load(row, 0 * VECTOR), c5_0);
    c5_1 = f32x4.add(v128.load(row, 1 * VECTOR), c5_1);
    c5_2 = f32x4.add(v128.load(row, 2 * VECTOR), c5_2);
    c5_3 = f32x4.add(v128.load(row, 3 * VECTOR), c5_3);
  }
  let row = c;
  v128.store(row, c0_0, 0 * VECTOR);
  v128.store(row, c0_1, 1 * VECTOR);
  v128.store(row, c0_2, 2 * VECTOR);
  v128.store(row, c0_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c1_0, 0 * VECTOR);
  v128.store(row, c1_1, 1 * VECTOR);
  v128.store(row, c1_2, 2 * VECTOR);
  v128.store(row, c1_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c2_0, 0 * VECTOR);
  v128.store(row, c2_1, 1 * VECTOR);
  v128.store(row, c2_2, 2 * VECTOR);
  v128.store(row, c2_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c3_0, 0 * VECTOR);
  v128.store(row, c3_1, 1 * VECTOR);
  v128.store(row, c3_2, 2 * VECTOR);
  v128.store(row, c3_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c4_0, 0 * VECTOR);
  v128.store(row, c4_1, 1 * VECTOR);
  v128.store(row, c4_2, 2 * VECTOR);
  v128.store(row, c4_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c5_0, 0 * VECTOR);
  v128.store(row, c5_1, 1 * VECTOR);
  v128.store(row, c5_2, 2 * VECTOR);
  v128.store(row, c5_3, 3 * VECTOR);
}

/**
 * 6 rows and 16 columns of C, k >= 1, from packed panels: 6 floats of A per k and 16 of B.
 * For engines that join neighbouring vectors to 256 bits: then these are twelve accumulators. Others spill.
 */
export function tile6x16(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body6x16(k, a, b, c, cStep, false);
}

/** The same, added to C. A function of its own: sums that may start in two ways are not joined to 256 bits. */
export function tileAdd6x16(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body6x16(k, a, b, c, cStep, true);
}

@inline
function crossed6x16(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  let c0_0 = f32x4.splat(0);
  let c0_1 = f32x4.splat(0);
  let c0_2 = f32x4.splat(0);
  let c0_3 = f32x4.splat(0);
  let c1_0 = f32x4.splat(0);
  let c1_1 = f32x4.splat(0);
  let c1_2 = f32x4.splat(0);
  let c1_3 = f32x4.splat(0);
  let c2_0 = f32x4.splat(0);
  let c2_1 = f32x4.splat(0);
  let c2_2 = f32x4.splat(0);
  let c2_3 = f32x4.splat(0);
  let c3_0 = f32x4.splat(0);
  let c3_1 = f32x4.splat(0);
  let c3_2 = f32x4.splat(0);
  let c3_3 = f32x4.splat(0);
  let c4_0 = f32x4.splat(0);
  let c4_1 = f32x4.splat(0);
  let c4_2 = f32x4.splat(0);
  let c4_3 = f32x4.splat(0);
  let c5_0 = f32x4.splat(0);
  let c5_1 = f32x4.splat(0);
  let c5_2 = f32x4.splat(0);
  let c5_3 = f32x4.splat(0);
  const end0 = b + <usize>k * 64 - 64;
  const end1 = b + <usize>k * 64 - 128;
  const end2 = b + <usize>k * 64 - 192;
  const end3 = b + <usize>k * 64 - 256;
  const end4 = b + <usize>k * 64 - 320;
  const end5 = b + <usize>k * 64 - 384;
  const end6 = b + <usize>k * 64 - 448;
  const end7 = b + <usize>k * 64 - 512;
  const end8 = b + <usize>k * 64 - 576;
  const end9 = b + <usize>k * 64 - 640;
  const end10 = b + <usize>k * 64 - 704;
  const end11 = b + <usize>k * 64 - 768;
  const end12 = b + <usize>k * 64 - 832;
  const end13 = b + <usize>k * 64 - 896;
  const end14 = b + <usize>k * 64 - 960;
  const end15 = b + <usize>k * 64 - 1024;
  while (true) {
    {
      const b0 = v128.load(b, 0 * VECTOR);
      const b1 = v128.load(b, 1 * VECTOR);
      const b2 = v128.load(b, 2 * VECTOR);
      const b3 = v128.load(b, 3 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 0 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 16 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 32 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 48 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 64 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 80 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 4 * VECTOR);
      const b1 = v128.load(b, 5 * VECTOR);
      const b2 = v128.load(b, 6 * VECTOR);
      const b3 = v128.load(b, 7 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 1 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 17 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 33 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 49 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 65 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 81 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 8 * VECTOR);
      const b1 = v128.load(b, 9 * VECTOR);
      const b2 = v128.load(b, 10 * VECTOR);
      const b3 = v128.load(b, 11 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 2 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 18 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 34 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 50 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 66 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 82 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 12 * VECTOR);
      const b1 = v128.load(b, 13 * VECTOR);
      const b2 = v128.load(b, 14 * VECTOR);
      const b3 = v128.load(b, 15 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 3 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 19 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 35 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 51 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 67 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 83 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end3) break;
    {
      const b0 = v128.load(b, 16 * VECTOR);
      const b1 = v128.load(b, 17 * VECTOR);
      const b2 = v128.load(b, 18 * VECTOR);
      const b3 = v128.load(b, 19 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 4 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 20 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 36 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 52 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 68 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 84 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end4) break;
    {
      const b0 = v128.load(b, 20 * VECTOR);
      const b1 = v128.load(b, 21 * VECTOR);
      const b2 = v128.load(b, 22 * VECTOR);
      const b3 = v128.load(b, 23 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 5 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 21 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 37 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 53 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 69 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 85 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end5) break;
    {
      const b0 = v128.load(b, 24 * VECTOR);
      const b1 = v128.load(b, 25 * VECTOR);
      const b2 = v128.load(b, 26 * VECTOR);
      const b3 = v128.load(b, 27 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 6 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 22 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 38 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 54 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 70 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 86 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end6) break;
    {
      const b0 = v128.load(b, 28 * VECTOR);
      const b1 = v128.load(b, 29 * VECTOR);
      const b2 = v128.load(b, 30 * VECTOR);
      const b3 = v128.load(b, 31 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 7 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 23 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 39 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 55 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 71 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 87 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end7) break;
    {
      const b0 = v128.load(b, 32 * VECTOR);
      const b1 = v128.load(b, 33 * VECTOR);
      const b2 = v128.load(b, 34 * VECTOR);
      const b3 = v128.load(b, 35 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 8 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 24 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 40 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 56 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 72 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 88 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end8) break;
    {
      const b0 = v128.load(b, 36 * VECTOR);
      const b1 = v128.load(b, 37 * VECTOR);
      const b2 = v128.load(b, 38 * VECTOR);
      const b3 = v128.load(b, 39 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 9 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 25 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 41 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 57 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 73 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 89 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end9) break;
    {
      const b0 = v128.load(b, 40 * VECTOR);
      const b1 = v128.load(b, 41 * VECTOR);
      const b2 = v128.load(b, 42 * VECTOR);
      const b3 = v128.load(b, 43 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 10 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 26 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 42 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 58 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 74 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 90 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end10) break;
    {
      const b0 = v128.load(b, 44 * VECTOR);
      const b1 = v128.load(b, 45 * VECTOR);
      const b2 = v128.load(b, 46 * VECTOR);
      const b3 = v128.load(b, 47 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 11 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 27 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 43 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 59 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 75 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 91 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end11) break;
    {
      const b0 = v128.load(b, 48 * VECTOR);
      const b1 = v128.load(b, 49 * VECTOR);
      const b2 = v128.load(b, 50 * VECTOR);
      const b3 = v128.load(b, 51 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 12 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 28 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 44 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 60 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 76 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 92 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end12) break;
    {
      const b0 = v128.load(b, 52 * VECTOR);
      const b1 = v128.load(b, 53 * VECTOR);
      const b2 = v128.load(b, 54 * VECTOR);
      const b3 = v128.load(b, 55 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 13 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 29 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 45 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 61 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 77 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 93 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end13) break;
    {
      const b0 = v128.load(b, 56 * VECTOR);
      const b1 = v128.load(b, 57 * VECTOR);
      const b2 = v128.load(b, 58 * VECTOR);
      const b3 = v128.load(b, 59 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 14 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 30 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 46 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 62 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 78 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 94 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end14) break;
    {
      const b0 = v128.load(b, 60 * VECTOR);
      const b1 = v128.load(b, 61 * VECTOR);
      const b2 = v128.load(b, 62 * VECTOR);
      const b3 = v128.load(b, 63 * VECTOR);
      const a0 = v128.load_splat<f32>(a, 15 * FLOAT);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 31 * FLOAT);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 47 * FLOAT);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 63 * FLOAT);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 79 * FLOAT);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 95 * FLOAT);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end15) break;
    a += aStep;
    b += 1024;
  }
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0 * VECTOR), c0_0);
    c0_1 = f32x4.add(v128.load(row, 1 * VECTOR), c0_1);
    c0_2 = f32x4.add(v128.load(row, 2 * VECTOR), c0_2);
    c0_3 = f32x4.add(v128.load(row, 3 * VECTOR), c0_3);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0 * VECTOR), c1_0);
    c1_1 = f32x4.add(v128.load(row, 1 * VECTOR), c1_1);
    c1_2 = f32x4.add(v128.load(row, 2 * VECTOR), c1_2);
    c1_3 = f32x4.add(v128.load(row, 3 * VECTOR), c1_3);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0 * VECTOR), c2_0);
    c2_1 = f32x4.add(v128.load(row, 1 * VECTOR), c2_1);
    c2_2 = f32x4.add(v128.load(row, 2 * VECTOR), c2_2);
    c2_3 = f32x4.add(v128.load(row, 3 * VECTOR), c2_3);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0 * VECTOR), c3_0);
    c3_1 = f32x4.add(v128.load(row, 1 * VECTOR), c3_1);
    c3_2 = f32x4.add(v128.load(row, 2 * VECTOR), c3_2);
    c3_3 = f32x4.add(v128.load(row, 3 * VECTOR), c3_3);
    row += cStep;
    c4_0 = f32x4.add(v128.load(row, 0 * VECTOR), c4_0);
    c4_1 = f32x4.add(v128.load(row, 1 * VECTOR), c4_1);
    c4_2 = f32x4.add(v128.load(row, 2 * VECTOR), c4_2);
    c4_3 = f32x4.add(v128.load(row, 3 * VECTOR), c4_3);
    row += cStep;
    c5_0 = f32x4.add(v128.load(row, 0 * VECTOR), c5_0);
    c5_1 = f32x4.add(v128.load(row, 1 * VECTOR), c5_1);
    c5_2 = f32x4.add(v128.load(row, 2 * VECTOR), c5_2);
    c5_3 = f32x4.add(v128.load(row, 3 * VECTOR), c5_3);
  }
  let row = c;
  v128.store(row, c0_0, 0 * VECTOR);
  v128.store(row, c0_1, 1 * VECTOR);
  v128.store(row, c0_2, 2 * VECTOR);
  v128.store(row, c0_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c1_0, 0 * VECTOR);
  v128.store(row, c1_1, 1 * VECTOR);
  v128.store(row, c1_2, 2 * VECTOR);
  v128.store(row, c1_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c2_0, 0 * VECTOR);
  v128.store(row, c2_1, 1 * VECTOR);
  v128.store(row, c2_2, 2 * VECTOR);
  v128.store(row, c2_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c3_0, 0 * VECTOR);
  v128.store(row, c3_1, 1 * VECTOR);
  v128.store(row, c3_2, 2 * VECTOR);
  v128.store(row, c3_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c4_0, 0 * VECTOR);
  v128.store(row, c4_1, 1 * VECTOR);
  v128.store(row, c4_2, 2 * VECTOR);
  v128.store(row, c4_3, 3 * VECTOR);
  row += cStep;
  v128.store(row, c5_0, 0 * VECTOR);
  v128.store(row, c5_1, 1 * VECTOR);
  v128.store(row, c5_2, 2 * VECTOR);
  v128.store(row, c5_3, 3 * VECTOR);
}

/** As tile6x16, of rows of A packed as B is: 16 of the k in a row of a panel, panels `aStep` apart. */
export function tileCrossed6x16(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed6x16(k, a, aStep, b, c, cStep, false);
}

/** The same, added to C. */
export function tileCrossedAdd6x16(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed6x16(k, a, aStep, b, c, cStep, true);
}
