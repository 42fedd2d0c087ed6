// Register-blocked inner loops of the matrix product. Not exported by the module.
//
// Every element of C is one chain over k in increasing order, started from C itself when accumulating. So the
// blocking cannot be seen in the result: it equals the plain triple loop bit for bit.

/**
 * A tile of 4 rows and 8 columns of C from a packed panel of A (4 floats per k) and of B (8 floats per k), k >= 1.
 *
 * Each of the four unrolled steps ends in a real exit test. Without it the compiler lifts all loads of the unrolled
 * body to its top and spills the accumulators, which costs a third of the speed. Eight accumulators are what fits.
 */
export function microTile(k: i32, a: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  if (acc) {
    let row = c;
    c00 = v128.load(row);
    c01 = v128.load(row, 16);
    row += cStep;
    c10 = v128.load(row);
    c11 = v128.load(row, 16);
    row += cStep;
    c20 = v128.load(row);
    c21 = v128.load(row, 16);
    row += cStep;
    c30 = v128.load(row);
    c31 = v128.load(row, 16);
  }
  const end0 = b + (<usize>k << 5) - 32;
  const end1 = b + (<usize>k << 5) - 64;
  const end2 = b + (<usize>k << 5) - 96;
  const end3 = b + (<usize>k << 5) - 128;
  while (true) {
    {
      const b0 = v128.load(b, 0);
      const b1 = v128.load(b, 16);
      const a0 = v128.load_splat<f32>(a, 0);
      c00 = f32x4.add(c00, f32x4.mul(a0, b0));
      c01 = f32x4.add(c01, f32x4.mul(a0, b1));
      const a1 = v128.load_splat<f32>(a, 4);
      c10 = f32x4.add(c10, f32x4.mul(a1, b0));
      c11 = f32x4.add(c11, f32x4.mul(a1, b1));
      const a2 = v128.load_splat<f32>(a, 8);
      c20 = f32x4.add(c20, f32x4.mul(a2, b0));
      c21 = f32x4.add(c21, f32x4.mul(a2, b1));
      const a3 = v128.load_splat<f32>(a, 12);
      c30 = f32x4.add(c30, f32x4.mul(a3, b0));
      c31 = f32x4.add(c31, f32x4.mul(a3, b1));
    }
    if (b == end0) break;
    {
      const b0 = v128.load(b, 32);
      const b1 = v128.load(b, 48);
      const a0 = v128.load_splat<f32>(a, 16);
      c00 = f32x4.add(c00, f32x4.mul(a0, b0));
      c01 = f32x4.add(c01, f32x4.mul(a0, b1));
      const a1 = v128.load_splat<f32>(a, 20);
      c10 = f32x4.add(c10, f32x4.mul(a1, b0));
      c11 = f32x4.add(c11, f32x4.mul(a1, b1));
      const a2 = v128.load_splat<f32>(a, 24);
      c20 = f32x4.add(c20, f32x4.mul(a2, b0));
      c21 = f32x4.add(c21, f32x4.mul(a2, b1));
      const a3 = v128.load_splat<f32>(a, 28);
      c30 = f32x4.add(c30, f32x4.mul(a3, b0));
      c31 = f32x4.add(c31, f32x4.mul(a3, b1));
    }
    if (b == end1) break;
    {
      const b0 = v128.load(b, 64);
      const b1 = v128.load(b, 80);
      const a0 = v128.load_splat<f32>(a, 32);
      c00 = f32x4.add(c00, f32x4.mul(a0, b0));
      c01 = f32x4.add(c01, f32x4.mul(a0, b1));
      const a1 = v128.load_splat<f32>(a, 36);
      c10 = f32x4.add(c10, f32x4.mul(a1, b0));
      c11 = f32x4.add(c11, f32x4.mul(a1, b1));
      const a2 = v128.load_splat<f32>(a, 40);
      c20 = f32x4.add(c20, f32x4.mul(a2, b0));
      c21 = f32x4.add(c21, f32x4.mul(a2, b1));
      const a3 = v128.load_splat<f32>(a, 44);
      c30 = f32x4.add(c30, f32x4.mul(a3, b0));
      c31 = f32x4.add(c31, f32x4.mul(a3, b1));
    }
    if (b == end2) break;
    {
      const b0 = v128.load(b, 96);
      const b1 = v128.load(b, 112);
      const a0 = v128.load_splat<f32>(a, 48);
      c00 = f32x4.add(c00, f32x4.mul(a0, b0));
      c01 = f32x4.add(c01, f32x4.mul(a0, b1));
      const a1 = v128.load_splat<f32>(a, 52);
      c10 = f32x4.add(c10, f32x4.mul(a1, b0));
      c11 = f32x4.add(c11, f32x4.mul(a1, b1));
      const a2 = v128.load_splat<f32>(a, 56);
      c20 = f32x4.add(c20, f32x4.mul(a2, b0));
      c21 = f32x4.add(c21, f32x4.mul(a2, b1));
      const a3 = v128.load_splat<f32>(a, 60);
      c30 = f32x4.add(c30, f32x4.mul(a3, b0));
      c31 = f32x4.add(c31, f32x4.mul(a3, b1));
    }
    if (b == end3) break;
    a += 64;
    b += 128;
  }
  let row = c;
  v128.store(row, c00);
  v128.store(row, c01, 16);
  row += cStep;
  v128.store(row, c10);
  v128.store(row, c11, 16);
  row += cStep;
  v128.store(row, c20);
  v128.store(row, c21, 16);
  row += cStep;
  v128.store(row, c30);
  v128.store(row, c31, 16);
}

/**
 * One column of 16 rows from four packed panels of A, `panelBytes` apart, and a column of B taken as it lies. The 16
 * results are at `c`, consecutive, and are started from there when accumulating.
 */
export function microColumn16(
  k: i32, a: usize, panelBytes: usize, b: usize, bStep: usize, c: usize, acc: bool,
): void {
  let a1 = a + panelBytes;
  let a2 = a1 + panelBytes;
  let a3 = a2 + panelBytes;
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  let c2 = f32x4.splat(0);
  let c3 = f32x4.splat(0);
  if (acc) {
    c0 = v128.load(c);
    c1 = v128.load(c, 16);
    c2 = v128.load(c, 32);
    c3 = v128.load(c, 48);
  }
  for (let i = 0; i < k; i++) {
    const factor = v128.load_splat<f32>(b);
    c0 = f32x4.add(c0, f32x4.mul(v128.load(a), factor));
    c1 = f32x4.add(c1, f32x4.mul(v128.load(a1), factor));
    c2 = f32x4.add(c2, f32x4.mul(v128.load(a2), factor));
    c3 = f32x4.add(c3, f32x4.mul(v128.load(a3), factor));
    a += 16;
    a1 += 16;
    a2 += 16;
    a3 += 16;
    b += bStep;
  }
  v128.store(c, c0);
  v128.store(c, c1, 16);
  v128.store(c, c2, 32);
  v128.store(c, c3, 48);
}

/** One column of 4 rows from one packed panel of A. */
export function microColumn4(k: i32, a: usize, b: usize, bStep: usize, c: usize, acc: bool): void {
  let sums = acc ? v128.load(c) : f32x4.splat(0);
  for (let i = 0; i < k; i++) {
    sums = f32x4.add(sums, f32x4.mul(v128.load(a), v128.load_splat<f32>(b)));
    a += 16;
    b += bStep;
  }
  v128.store(c, sums);
}
