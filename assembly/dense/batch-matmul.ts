// Matrix products per example. The matrices are small (fields, positions, heads), so nothing is packed: what is
// contiguous decides between a product by columns of b and dot products.
import { V1 } from "../units";
import { MATMUL_SHAPE } from "../generated/layouts";
import { put, put1 } from "./loops";
import { dotRun, sumLanes4 } from "./vectors";

/** One row of c, columns [j, n): c[j] (+)= sum over p, in order, of a[p] * b[p, j]. Strides are bytes. */
@inline
function rowByColumns(a: usize, aCol: usize, b: usize, bRow: usize, c: usize, j: i32, n: i32, k: i32, acc: bool): void {
  for (; j + 8 <= n; j += 8) {
    let s0 = f32x4.splat(0), s1 = s0;
    let q = b + (<usize>j << 2);
    for (let p = 0, at = a; p < k; p++, at += aCol, q += bRow) {
      const v = v128.load32_splat(at);
      s0 = f32x4.add(s0, f32x4.mul(v, v128.load(q)));
      s1 = f32x4.add(s1, f32x4.mul(v, v128.load(q, V1)));
    }
    put(c + (<usize>j << 2), s0, acc);
    put(c + (<usize>j << 2) + 16, s1, acc);
  }
  for (; j + 4 <= n; j += 4) {
    let s = f32x4.splat(0);
    let q = b + (<usize>j << 2);
    for (let p = 0, at = a; p < k; p++, at += aCol, q += bRow) {
      s = f32x4.add(s, f32x4.mul(v128.load32_splat(at), v128.load(q)));
    }
    put(c + (<usize>j << 2), s, acc);
  }
  for (; j < n; j++) {
    let s: f32 = 0;
    let q = b + (<usize>j << 2);
    for (let p = 0, at = a; p < k; p++, at += aCol, q += bRow) s += load<f32>(at) * load<f32>(q);
    put1(c + (<usize>j << 2), s, acc);
  }
}

/** Four rows of c at once for whole blocks of eight columns; the columns that are left go row by row. */
@inline
function byColumns(
  a: usize, aRow: usize, aCol: usize, b: usize, bRow: usize, c: usize, cRow: usize, m: i32, n: i32, k: i32, acc: bool,
): void {
  let i = 0;
  for (; i + 4 <= m; i += 4, a += aRow << 2, c += cRow << 2) {
    let j = 0;
    for (; j + 8 <= n; j += 8) {
      let s00 = f32x4.splat(0), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
      let q = b + (<usize>j << 2);
      for (let p = 0, at = a; p < k; p++, at += aCol, q += bRow) {
        const b0 = v128.load(q), b1 = v128.load(q, V1);
        const v0 = v128.load32_splat(at), v1 = v128.load32_splat(at + aRow);
        const v2 = v128.load32_splat(at + aRow * 2), v3 = v128.load32_splat(at + aRow * 3);
        s00 = f32x4.add(s00, f32x4.mul(v0, b0));
        s01 = f32x4.add(s01, f32x4.mul(v0, b1));
        s10 = f32x4.add(s10, f32x4.mul(v1, b0));
        s11 = f32x4.add(s11, f32x4.mul(v1, b1));
        s20 = f32x4.add(s20, f32x4.mul(v2, b0));
        s21 = f32x4.add(s21, f32x4.mul(v2, b1));
        s30 = f32x4.add(s30, f32x4.mul(v3, b0));
        s31 = f32x4.add(s31, f32x4.mul(v3, b1));
      }
      let d = c + (<usize>j << 2);
      put(d, s00, acc);
      put(d + 16, s01, acc);
      d += cRow;
      put(d, s10, acc);
      put(d + 16, s11, acc);
      d += cRow;
      put(d, s20, acc);
      put(d + 16, s21, acc);
      d += cRow;
      put(d, s30, acc);
      put(d + 16, s31, acc);
    }
    if (j == n) continue;
    for (let row: usize = 0; row < 4; row++) {
      rowByColumns(a + aRow * row, aCol, b, bRow, c + cRow * row, j, n, k, acc);
    }
  }
  for (; i < m; i++, a += aRow, c += cRow) rowByColumns(a, aCol, b, bRow, c, 0, n, k, acc);
}

/** c[i, j] (+)= dot of row i of a and column j of b, both contiguous, in the order of dotRun. */
@inline
function byDots(
  a: usize, aRow: usize, b: usize, bCol: usize, c: usize, cRow: usize, m: i32, n: i32, k: i32, acc: bool,
): void {
  for (let i = 0; i < m; i++, a += aRow, c += cRow) {
    let q = b;
    let j = 0;
    for (; j + 4 <= n; j += 4, q += bCol << 2) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      let x = a, y = q, left = k;
      for (; left >= 4; left -= 4, x += 16, y += 16) {
        const v = v128.load(x);
        s0 = f32x4.add(s0, f32x4.mul(v, v128.load(y)));
        s1 = f32x4.add(s1, f32x4.mul(v, v128.load(y + bCol)));
        s2 = f32x4.add(s2, f32x4.mul(v, v128.load(y + bCol * 2)));
        s3 = f32x4.add(s3, f32x4.mul(v, v128.load(y + bCol * 3)));
      }
      let sums = sumLanes4(s0, s1, s2, s3);
      for (; left > 0; left--, x += 4, y += 4) {
        let v = f32x4.splat(load<f32>(y));
        v = f32x4.replace_lane(v, 1, load<f32>(y + bCol));
        v = f32x4.replace_lane(v, 2, load<f32>(y + bCol * 2));
        v = f32x4.replace_lane(v, 3, load<f32>(y + bCol * 3));
        sums = f32x4.add(sums, f32x4.mul(v128.load32_splat(x), v));
      }
      put(c + (<usize>j << 2), sums, acc);
    }
    for (; j < n; j++, q += bCol) put1(c + (<usize>j << 2), dotRun(a, q, k), acc);
  }
}

/** Neither side is contiguous: element by element, in order of p. */
@inline
function byElements(
  a: usize, aRow: usize, aCol: usize, b: usize, bRow: usize, bCol: usize, c: usize, cRow: usize,
  m: i32, n: i32, k: i32, acc: bool,
): void {
  for (let i = 0; i < m; i++, a += aRow, c += cRow) {
    for (let j = 0; j < n; j++) {
      let s: f32 = 0;
      let x = a, y = b + <usize>j * bCol;
      for (let p = 0; p < k; p++, x += aCol, y += bRow) s += load<f32>(x) * load<f32>(y);
      put1(c + (<usize>j << 2), s, acc);
    }
  }
}

/** c (+)= a * b for small matrices, [m, k] x [k, n]; strides are bytes and the columns of c are contiguous. */
export function smallMatMul(
  a: usize, aRow: usize, aCol: usize, b: usize, bRow: usize, bCol: usize, c: usize, cRow: usize,
  m: i32, n: i32, k: i32, acc: bool,
): void {
  if (bCol == 4) byColumns(a, aRow, aCol, b, bRow, c, cRow, m, n, k, acc);
  else if (aCol == 4 && bRow == 4) byDots(a, aRow, b, bCol, c, cRow, m, n, k, acc);
  else byElements(a, aRow, aCol, b, bRow, bCol, c, cRow, m, n, k, acc);
}

/**
 * For each row and group: c (+)= a * b, [m, k] x [k, n]. `shape` points to a MATMUL_SHAPE.
 * A stride of 0 between rows lets all examples share an operand.
 */
export function batchMatMulF32(
  a: usize, aStride: i32, b: usize, bStride: i32, c: usize, cStride: i32, rows: i32, shape: usize, acc: i32,
): void {
  const groups = load<i32>(shape, MATMUL_SHAPE.groups);
  const m = load<i32>(shape, MATMUL_SHAPE.m);
  const n = load<i32>(shape, MATMUL_SHAPE.n);
  const k = load<i32>(shape, MATMUL_SHAPE.k);
  const aGroup = <usize>load<u32>(shape, MATMUL_SHAPE.aGroup) << 2;
  const aRow = <usize>load<u32>(shape, MATMUL_SHAPE.aRow) << 2;
  const aCol = <usize>load<u32>(shape, MATMUL_SHAPE.aCol) << 2;
  const bGroup = <usize>load<u32>(shape, MATMUL_SHAPE.bGroup) << 2;
  const bRow = <usize>load<u32>(shape, MATMUL_SHAPE.bRow) << 2, bCol = <usize>load<u32>(shape, MATMUL_SHAPE.bCol) << 2;
  const cGroup = <usize>load<u32>(shape, MATMUL_SHAPE.cGroup) << 2;
  const cRow = <usize>load<u32>(shape, MATMUL_SHAPE.cRow) << 2;
  for (let r = 0; r < rows; r++) {
    for (let g: usize = 0; g < <usize>groups; g++) {
      smallMatMul(a + g * aGroup, aRow, aCol, b + g * bGroup, bRow, bCol, c + g * cGroup, cRow, m, n, k, acc != 0);
    }
    a += <usize>aStride << 2;
    b += <usize>bStride << 2;
    c += <usize>cStride << 2;
  }
}

/** a * b: the number of rows of a matrix whose rows are the inner rows of every example. */
export function multiplyU32(a: u32, b: u32): u32 {
  return a * b;
}
