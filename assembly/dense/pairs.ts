// Products of all pairs of fields of two sides, and the compressed interaction made of them. A side is some vectors of
// `dim` floats, one after the other.
import { PAIR_ROWS } from "../generated/layouts";
import { smallMatMul } from "./batch-matmul";
import { transposeInnerF32 } from "./blocks";
import { addRow } from "./loops";
import { multiplyRun } from "./vectors";

@inline
function products(left: usize, right: usize, out: usize, lefts: i32, rights: i32, dim: i32, acc: bool): void {
  const step = <usize>dim << 2;
  for (let l = 0; l < lefts; l++, left += step) {
    let other = right;
    for (let r = 0; r < rights; r++, other += step, out += step) multiplyRun(left, other, out, dim, acc);
  }
}

/** out[r, i, j, :] (+)= left[r, i, :] * right[r, j, :]. */
export function pairProductsF32(
  left: usize, leftStride: i32, right: usize, rightStride: i32, out: usize, outStride: i32,
  rows: i32, lefts: i32, rights: i32, dim: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    if (acc) products(left, right, out, lefts, rights, dim, true);
    else products(left, right, out, lefts, rights, dim, false);
    left += <usize>leftStride << 2;
    right += <usize>rightStride << 2;
    out += <usize>outStride << 2;
  }
}

/** dx[i, :] (+)= sum over j, in order, of dy[i * step + j * otherStep, :] * other[j, :]. Steps count vectors. */
@inline
function productsGrad(
  dy: usize, other: usize, dx: usize, count: i32, others: i32, dim: i32, step: i32, otherStep: i32, acc: bool,
): void {
  const width = <usize>dim << 2;
  for (let i = 0; i < count; i++, dx += width) {
    let g = dy + <usize>(i * step) * width;
    let o = other;
    if (others == 0 && !acc) memory.fill(dx, 0, width);
    for (let j = 0; j < others; j++, o += width, g += <usize>otherStep * width) {
      if (acc || j > 0) multiplyRun(g, o, dx, dim, true);
      else multiplyRun(g, o, dx, dim, false);
    }
  }
}

/** Gradient of pairProductsF32 for the side of `count` vectors; the steps say where the pairs of vector i are in dy. */
export function pairProductsGradF32(
  dy: usize, dyStride: i32, other: usize, otherStride: i32, dx: usize, dxStride: i32,
  rows: i32, count: i32, others: i32, dim: i32, step: i32, otherStep: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    productsGrad(dy, other, dx, count, others, dim, step, otherStep, acc != 0);
    dy += <usize>dyStride << 2;
    other += <usize>otherStride << 2;
    dx += <usize>dxStride << 2;
  }
}

/**
 * out[r, o, :] (+)= sum over i and j of w[i * rights + j, o] * left[r, i, :] * right[r, j, :]. The products of one
 * example lie in `scratch`, lefts * rights * dim floats, and are used from there while they are near.
 */
export function cinF32(
  left: usize, leftStride: i32, right: usize, rightStride: i32, w: usize, out: usize, outStride: i32,
  rows: i32, lefts: i32, rights: i32, dim: i32, outs: i32, scratch: usize, acc: i32,
): void {
  const width = <usize>dim << 2;
  for (let r = 0; r < rows; r++) {
    products(left, right, scratch, lefts, rights, dim, false);
    const wRow = <usize>outs << 2;
    smallMatMul(w, 4, wRow, scratch, width, 4, out, width, outs, dim, lefts * rights, acc != 0);
    left += <usize>leftStride << 2;
    right += <usize>rightStride << 2;
    out += <usize>outStride << 2;
  }
}

/**
 * Gradients of cinF32 for both sides and for w. dw is summed over the rows, in blocks of 256. `scratch` has room for
 * (2 * lefts * rights + outs) * dim + lefts * rights * outs floats: products, their gradients, dy transposed, so that
 * dw is summed by whole vectors, and the sum of a block. Of an example dLeft is written before dRight, which may be
 * added to the same place.
 */
export function cinGradF32(
  dy: usize, dyStride: i32, left: usize, leftStride: i32, right: usize, rightStride: i32, w: usize,
  dLeft: usize, dLeftStride: i32, accLeft: i32, dRight: usize, dRightStride: i32, accRight: i32, dw: usize,
  rows: i32, lefts: i32, rights: i32, dim: i32, outs: i32, scratch: usize,
): void {
  const width = <usize>dim << 2;
  const wRow = <usize>outs << 2;
  const pairs = lefts * rights;
  const dProducts = scratch + <usize>pairs * width;
  const transposed = dProducts + <usize>pairs * width;
  const blockSum = transposed + <usize>outs * width;
  const weights = pairs * outs;
  memory.fill(dw, 0, <usize>weights << 2);
  let sum = dw;
  for (let r = 0; r < rows; r++) {
    if (r > 0 && r % PAIR_ROWS == 0) {
      if (sum != dw) addRow(sum, dw, weights);
      sum = blockSum;
      memory.fill(sum, 0, <usize>weights << 2);
    }
    products(left, right, scratch, lefts, rights, dim, false);
    transposeInnerF32(dy, 0, transposed, 0, 1, 1, outs, dim, 0);
    smallMatMul(scratch, width, 4, transposed, wRow, 4, sum, wRow, pairs, outs, dim, true);
    smallMatMul(w, wRow, 4, dy, width, 4, dProducts, width, pairs, dim, outs, false);
    productsGrad(dProducts, right, dLeft, lefts, rights, dim, rights, 1, accLeft != 0);
    productsGrad(dProducts, left, dRight, rights, lefts, dim, 1, rights, accRight != 0);
    dy += <usize>dyStride << 2;
    left += <usize>leftStride << 2;
    right += <usize>rightStride << 2;
    dLeft += <usize>dLeftStride << 2;
    dRight += <usize>dRightStride << 2;
  }
  if (sum != dw) addRow(sum, dw, weights);
}
