// Register-blocked inner loops of the matrix product. Not exported by the module. Written by generate-tiles.mjs: do not
// edit.
//
// Every element of C is one chain over k in increasing order, started from C itself when accumulating. So the
// blocking cannot be seen in the result: without fused steps it equals the plain triple loop bit for bit.
//
// Each unrolled step ends in a real exit test. Without it the compiler lifts all loads of the unrolled body to its top
// and spills the accumulators, which costs a third of the speed.
import { madd } from "./madd";

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
  if (acc) {
    let row = c;
    c0_0 = v128.load(row, 0);
    c0_1 = v128.load(row, 16);
    row += cStep;
    c1_0 = v128.load(row, 0);
    c1_1 = v128.load(row, 16);
    row += cStep;
    c2_0 = v128.load(row, 0);
    c2_1 = v128.load(row, 16);
    row += cStep;
    c3_0 = v128.load(row, 0);
    c3_1 = v128.load(row, 16);
  }
  const end0 = b + <usize>k * 32 - 32;
  const end1 = b + <usize>k * 32 - 64;
  const end2 = b + <usize>k * 32 - 96;
  const end3 = b + <usize>k * 32 - 128;
  while (true) {
    {
      const b0 = v128.load(b, 0);
      const b1 = v128.load(b, 16);
      const a0 = v128.load_splat<f32>(a, 0);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 4);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 8);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 12);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 32);
      const b1 = v128.load(b, 48);
      const a0 = v128.load_splat<f32>(a, 16);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 20);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 24);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 28);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 64);
      const b1 = v128.load(b, 80);
      const a0 = v128.load_splat<f32>(a, 32);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 36);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 40);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 44);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 96);
      const b1 = v128.load(b, 112);
      const a0 = v128.load_splat<f32>(a, 48);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 52);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 56);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 60);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end3) break;
    a += 64;
    b += 128;
  }
  let row = c;
  v128.store(row, c0_0, 0);
  v128.store(row, c0_1, 16);
  row += cStep;
  v128.store(row, c1_0, 0);
  v128.store(row, c1_1, 16);
  row += cStep;
  v128.store(row, c2_0, 0);
  v128.store(row, c2_1, 16);
  row += cStep;
  v128.store(row, c3_0, 0);
  v128.store(row, c3_1, 16);
}

/**
 * 4 rows and 8 columns of C from a packed panel of A (4 floats per k) and of B (8 floats per k), k >= 1.
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
  if (acc) {
    let row = c;
    c0_0 = v128.load(row, 0);
    c0_1 = v128.load(row, 16);
    c0_2 = v128.load(row, 32);
    c0_3 = v128.load(row, 48);
    row += cStep;
    c1_0 = v128.load(row, 0);
    c1_1 = v128.load(row, 16);
    c1_2 = v128.load(row, 32);
    c1_3 = v128.load(row, 48);
    row += cStep;
    c2_0 = v128.load(row, 0);
    c2_1 = v128.load(row, 16);
    c2_2 = v128.load(row, 32);
    c2_3 = v128.load(row, 48);
    row += cStep;
    c3_0 = v128.load(row, 0);
    c3_1 = v128.load(row, 16);
    c3_2 = v128.load(row, 32);
    c3_3 = v128.load(row, 48);
    row += cStep;
    c4_0 = v128.load(row, 0);
    c4_1 = v128.load(row, 16);
    c4_2 = v128.load(row, 32);
    c4_3 = v128.load(row, 48);
    row += cStep;
    c5_0 = v128.load(row, 0);
    c5_1 = v128.load(row, 16);
    c5_2 = v128.load(row, 32);
    c5_3 = v128.load(row, 48);
  }
  const end0 = b + <usize>k * 64 - 64;
  const end1 = b + <usize>k * 64 - 128;
  while (true) {
    {
      const b0 = v128.load(b, 0);
      const b1 = v128.load(b, 16);
      const b2 = v128.load(b, 32);
      const b3 = v128.load(b, 48);
      const a0 = v128.load_splat<f32>(a, 0);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 4);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 8);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 12);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 16);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 20);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 64);
      const b1 = v128.load(b, 80);
      const b2 = v128.load(b, 96);
      const b3 = v128.load(b, 112);
      const a0 = v128.load_splat<f32>(a, 24);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 28);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 32);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 36);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 40);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 44);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end1) break;
    a += 48;
    b += 128;
  }
  let row = c;
  v128.store(row, c0_0, 0);
  v128.store(row, c0_1, 16);
  v128.store(row, c0_2, 32);
  v128.store(row, c0_3, 48);
  row += cStep;
  v128.store(row, c1_0, 0);
  v128.store(row, c1_1, 16);
  v128.store(row, c1_2, 32);
  v128.store(row, c1_3, 48);
  row += cStep;
  v128.store(row, c2_0, 0);
  v128.store(row, c2_1, 16);
  v128.store(row, c2_2, 32);
  v128.store(row, c2_3, 48);
  row += cStep;
  v128.store(row, c3_0, 0);
  v128.store(row, c3_1, 16);
  v128.store(row, c3_2, 32);
  v128.store(row, c3_3, 48);
  row += cStep;
  v128.store(row, c4_0, 0);
  v128.store(row, c4_1, 16);
  v128.store(row, c4_2, 32);
  v128.store(row, c4_3, 48);
  row += cStep;
  v128.store(row, c5_0, 0);
  v128.store(row, c5_1, 16);
  v128.store(row, c5_2, 32);
  v128.store(row, c5_3, 48);
}

/**
 * 6 rows and 16 columns of C from a packed panel of A (6 floats per k) and of B (16 floats per k), k >= 1.
 * For engines that join neighbouring vectors to 256 bits: then these are twelve accumulators. Others spill.
 */
export function tile6x16(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body6x16(k, a, b, c, cStep, false);
}

/** The same, added to C. A function of its own: sums that may start in two ways are not joined to 256 bits. */
export function tileAdd6x16(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body6x16(k, a, b, c, cStep, true);
}
