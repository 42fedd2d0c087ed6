// Register-blocked inner loops of the matrix product. Not exported by the module. Written by generate-tiles.mjs: do not
// edit.
//
// Every element is one chain over k in increasing order, from 0, that is added to C when accumulating.
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
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0), c0_0);
    c0_1 = f32x4.add(v128.load(row, 16), c0_1);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0), c1_0);
    c1_1 = f32x4.add(v128.load(row, 16), c1_1);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0), c2_0);
    c2_1 = f32x4.add(v128.load(row, 16), c2_1);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0), c3_0);
    c3_1 = f32x4.add(v128.load(row, 16), c3_1);
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
      const b0 = v128.load(b, 0);
      const b1 = v128.load(b, 16);
      const a0 = v128.load_splat<f32>(a, 0);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 32);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 64);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 96);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 32);
      const b1 = v128.load(b, 48);
      const a0 = v128.load_splat<f32>(a, 4);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 36);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 68);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 100);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 64);
      const b1 = v128.load(b, 80);
      const a0 = v128.load_splat<f32>(a, 8);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 40);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 72);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 104);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 96);
      const b1 = v128.load(b, 112);
      const a0 = v128.load_splat<f32>(a, 12);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 44);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 76);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 108);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end3) break;
    {
      const b0 = v128.load(b, 128);
      const b1 = v128.load(b, 144);
      const a0 = v128.load_splat<f32>(a, 16);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 48);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 80);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 112);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end4) break;
    {
      const b0 = v128.load(b, 160);
      const b1 = v128.load(b, 176);
      const a0 = v128.load_splat<f32>(a, 20);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 52);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 84);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 116);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end5) break;
    {
      const b0 = v128.load(b, 192);
      const b1 = v128.load(b, 208);
      const a0 = v128.load_splat<f32>(a, 24);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 56);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 88);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 120);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end6) break;
    {
      const b0 = v128.load(b, 224);
      const b1 = v128.load(b, 240);
      const a0 = v128.load_splat<f32>(a, 28);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      const a1 = v128.load_splat<f32>(a, 60);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      const a2 = v128.load_splat<f32>(a, 92);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      const a3 = v128.load_splat<f32>(a, 124);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
    }
    if (b == end7) break;
    a += aStep;
    b += 256;
  }
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0), c0_0);
    c0_1 = f32x4.add(v128.load(row, 16), c0_1);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0), c1_0);
    c1_1 = f32x4.add(v128.load(row, 16), c1_1);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0), c2_0);
    c2_1 = f32x4.add(v128.load(row, 16), c2_1);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0), c3_0);
    c3_1 = f32x4.add(v128.load(row, 16), c3_1);
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

/** As tile4x8, of rows of A that were packed as the other side: 8 of the k in a row of a panel, panels `aStep` apart. */
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
  if (acc) {
    let row = c;
    c0_0 = f32x4.add(v128.load(row, 0), c0_0);
    c0_1 = f32x4.add(v128.load(row, 16), c0_1);
    c0_2 = f32x4.add(v128.load(row, 32), c0_2);
    c0_3 = f32x4.add(v128.load(row, 48), c0_3);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0), c1_0);
    c1_1 = f32x4.add(v128.load(row, 16), c1_1);
    c1_2 = f32x4.add(v128.load(row, 32), c1_2);
    c1_3 = f32x4.add(v128.load(row, 48), c1_3);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0), c2_0);
    c2_1 = f32x4.add(v128.load(row, 16), c2_1);
    c2_2 = f32x4.add(v128.load(row, 32), c2_2);
    c2_3 = f32x4.add(v128.load(row, 48), c2_3);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0), c3_0);
    c3_1 = f32x4.add(v128.load(row, 16), c3_1);
    c3_2 = f32x4.add(v128.load(row, 32), c3_2);
    c3_3 = f32x4.add(v128.load(row, 48), c3_3);
    row += cStep;
    c4_0 = f32x4.add(v128.load(row, 0), c4_0);
    c4_1 = f32x4.add(v128.load(row, 16), c4_1);
    c4_2 = f32x4.add(v128.load(row, 32), c4_2);
    c4_3 = f32x4.add(v128.load(row, 48), c4_3);
    row += cStep;
    c5_0 = f32x4.add(v128.load(row, 0), c5_0);
    c5_1 = f32x4.add(v128.load(row, 16), c5_1);
    c5_2 = f32x4.add(v128.load(row, 32), c5_2);
    c5_3 = f32x4.add(v128.load(row, 48), c5_3);
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
      const b0 = v128.load(b, 0);
      const b1 = v128.load(b, 16);
      const b2 = v128.load(b, 32);
      const b3 = v128.load(b, 48);
      const a0 = v128.load_splat<f32>(a, 0);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 64);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 128);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 192);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 256);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 320);
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
      const a0 = v128.load_splat<f32>(a, 4);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 68);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 132);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 196);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 260);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 324);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 128);
      const b1 = v128.load(b, 144);
      const b2 = v128.load(b, 160);
      const b3 = v128.load(b, 176);
      const a0 = v128.load_splat<f32>(a, 8);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 72);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 136);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 200);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 264);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 328);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 192);
      const b1 = v128.load(b, 208);
      const b2 = v128.load(b, 224);
      const b3 = v128.load(b, 240);
      const a0 = v128.load_splat<f32>(a, 12);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 76);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 140);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 204);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 268);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 332);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end3) break;
    {
      const b0 = v128.load(b, 256);
      const b1 = v128.load(b, 272);
      const b2 = v128.load(b, 288);
      const b3 = v128.load(b, 304);
      const a0 = v128.load_splat<f32>(a, 16);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 80);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 144);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 208);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 272);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 336);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end4) break;
    {
      const b0 = v128.load(b, 320);
      const b1 = v128.load(b, 336);
      const b2 = v128.load(b, 352);
      const b3 = v128.load(b, 368);
      const a0 = v128.load_splat<f32>(a, 20);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 84);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 148);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 212);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 276);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 340);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end5) break;
    {
      const b0 = v128.load(b, 384);
      const b1 = v128.load(b, 400);
      const b2 = v128.load(b, 416);
      const b3 = v128.load(b, 432);
      const a0 = v128.load_splat<f32>(a, 24);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 88);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 152);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 216);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 280);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 344);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end6) break;
    {
      const b0 = v128.load(b, 448);
      const b1 = v128.load(b, 464);
      const b2 = v128.load(b, 480);
      const b3 = v128.load(b, 496);
      const a0 = v128.load_splat<f32>(a, 28);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 92);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 156);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 220);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 284);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 348);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end7) break;
    {
      const b0 = v128.load(b, 512);
      const b1 = v128.load(b, 528);
      const b2 = v128.load(b, 544);
      const b3 = v128.load(b, 560);
      const a0 = v128.load_splat<f32>(a, 32);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 96);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 160);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 224);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 288);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 352);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end8) break;
    {
      const b0 = v128.load(b, 576);
      const b1 = v128.load(b, 592);
      const b2 = v128.load(b, 608);
      const b3 = v128.load(b, 624);
      const a0 = v128.load_splat<f32>(a, 36);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 100);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 164);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 228);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 292);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 356);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end9) break;
    {
      const b0 = v128.load(b, 640);
      const b1 = v128.load(b, 656);
      const b2 = v128.load(b, 672);
      const b3 = v128.load(b, 688);
      const a0 = v128.load_splat<f32>(a, 40);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 104);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 168);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 232);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 296);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 360);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end10) break;
    {
      const b0 = v128.load(b, 704);
      const b1 = v128.load(b, 720);
      const b2 = v128.load(b, 736);
      const b3 = v128.load(b, 752);
      const a0 = v128.load_splat<f32>(a, 44);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 108);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 172);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 236);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 300);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 364);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end11) break;
    {
      const b0 = v128.load(b, 768);
      const b1 = v128.load(b, 784);
      const b2 = v128.load(b, 800);
      const b3 = v128.load(b, 816);
      const a0 = v128.load_splat<f32>(a, 48);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 112);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 176);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 240);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 304);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 368);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end12) break;
    {
      const b0 = v128.load(b, 832);
      const b1 = v128.load(b, 848);
      const b2 = v128.load(b, 864);
      const b3 = v128.load(b, 880);
      const a0 = v128.load_splat<f32>(a, 52);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 116);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 180);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 244);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 308);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 372);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end13) break;
    {
      const b0 = v128.load(b, 896);
      const b1 = v128.load(b, 912);
      const b2 = v128.load(b, 928);
      const b3 = v128.load(b, 944);
      const a0 = v128.load_splat<f32>(a, 56);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 120);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 184);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 248);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 312);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 376);
      c5_0 = madd(a5, b0, c5_0);
      c5_1 = madd(a5, b1, c5_1);
      c5_2 = madd(a5, b2, c5_2);
      c5_3 = madd(a5, b3, c5_3);
    }
    if (b == end14) break;
    {
      const b0 = v128.load(b, 960);
      const b1 = v128.load(b, 976);
      const b2 = v128.load(b, 992);
      const b3 = v128.load(b, 1008);
      const a0 = v128.load_splat<f32>(a, 60);
      c0_0 = madd(a0, b0, c0_0);
      c0_1 = madd(a0, b1, c0_1);
      c0_2 = madd(a0, b2, c0_2);
      c0_3 = madd(a0, b3, c0_3);
      const a1 = v128.load_splat<f32>(a, 124);
      c1_0 = madd(a1, b0, c1_0);
      c1_1 = madd(a1, b1, c1_1);
      c1_2 = madd(a1, b2, c1_2);
      c1_3 = madd(a1, b3, c1_3);
      const a2 = v128.load_splat<f32>(a, 188);
      c2_0 = madd(a2, b0, c2_0);
      c2_1 = madd(a2, b1, c2_1);
      c2_2 = madd(a2, b2, c2_2);
      c2_3 = madd(a2, b3, c2_3);
      const a3 = v128.load_splat<f32>(a, 252);
      c3_0 = madd(a3, b0, c3_0);
      c3_1 = madd(a3, b1, c3_1);
      c3_2 = madd(a3, b2, c3_2);
      c3_3 = madd(a3, b3, c3_3);
      const a4 = v128.load_splat<f32>(a, 316);
      c4_0 = madd(a4, b0, c4_0);
      c4_1 = madd(a4, b1, c4_1);
      c4_2 = madd(a4, b2, c4_2);
      c4_3 = madd(a4, b3, c4_3);
      const a5 = v128.load_splat<f32>(a, 380);
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
    c0_0 = f32x4.add(v128.load(row, 0), c0_0);
    c0_1 = f32x4.add(v128.load(row, 16), c0_1);
    c0_2 = f32x4.add(v128.load(row, 32), c0_2);
    c0_3 = f32x4.add(v128.load(row, 48), c0_3);
    row += cStep;
    c1_0 = f32x4.add(v128.load(row, 0), c1_0);
    c1_1 = f32x4.add(v128.load(row, 16), c1_1);
    c1_2 = f32x4.add(v128.load(row, 32), c1_2);
    c1_3 = f32x4.add(v128.load(row, 48), c1_3);
    row += cStep;
    c2_0 = f32x4.add(v128.load(row, 0), c2_0);
    c2_1 = f32x4.add(v128.load(row, 16), c2_1);
    c2_2 = f32x4.add(v128.load(row, 32), c2_2);
    c2_3 = f32x4.add(v128.load(row, 48), c2_3);
    row += cStep;
    c3_0 = f32x4.add(v128.load(row, 0), c3_0);
    c3_1 = f32x4.add(v128.load(row, 16), c3_1);
    c3_2 = f32x4.add(v128.load(row, 32), c3_2);
    c3_3 = f32x4.add(v128.load(row, 48), c3_3);
    row += cStep;
    c4_0 = f32x4.add(v128.load(row, 0), c4_0);
    c4_1 = f32x4.add(v128.load(row, 16), c4_1);
    c4_2 = f32x4.add(v128.load(row, 32), c4_2);
    c4_3 = f32x4.add(v128.load(row, 48), c4_3);
    row += cStep;
    c5_0 = f32x4.add(v128.load(row, 0), c5_0);
    c5_1 = f32x4.add(v128.load(row, 16), c5_1);
    c5_2 = f32x4.add(v128.load(row, 32), c5_2);
    c5_3 = f32x4.add(v128.load(row, 48), c5_3);
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

/** As tile6x16, of rows of A that were packed as the other side: 16 of the k in a row of a panel, panels `aStep` apart. */
export function tileCrossed6x16(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed6x16(k, a, aStep, b, c, cStep, false);
}

/** The same, added to C. */
export function tileCrossedAdd6x16(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed6x16(k, a, aStep, b, c, cStep, true);
}
