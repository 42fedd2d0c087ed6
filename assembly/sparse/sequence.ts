// Ragged ids as sequences of at most `n` positions per example.
import { WORD } from "../units";
import { moveRun } from "../dense/vectors";
import { beginBlocks, endBlocks, isInBlocks, noteAddition } from "./block-sums";

/** dst[r, j] = 1 for the first min(length of row r, n) positions, else 0. */
export function seqMaskF32(splits: usize, rows: i32, n: i32, dst: usize, dstStride: i32): void {
  for (let r = 0; r < rows; r++, splits += 4, dst += <usize>dstStride << 2) {
    const length = load<i32>(splits, WORD) - load<i32>(splits);
    for (let j = 0; j < n; j++) store<f32>(dst + (<usize>j << 2), j < length ? 1 : 0);
  }
}

/** out[r, j, :] = the row of the j-th id of example r, for j below n; zeros where there is none. */
export function firstNF32(
  rowPtrs: usize, inverse: usize, splits: usize, rows: i32, dim: i32, n: i32, out: usize, outStride: i32,
): void {
  const step = <usize>dim << 2;
  for (let r = 0; r < rows; r++, splits += 4, out += <usize>outStride << 2) {
    const length = load<i32>(splits, WORD) - load<i32>(splits);
    const used = min(length, n);
    let d = out;
    for (let j = 0; j < used; j++, d += step) {
      const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(inverse + (<usize>j << 2)) << 2));
      moveRun(row, d, dim, false);
    }
    memory.fill(d, 0, <usize>(n - used) * step);
    inverse += <usize>length << 2;
  }
}

/** Positions that have an id. */
function usedPositions(splits: usize, rows: i32, n: i32): i32 {
  let used = 0;
  for (let r = 0; r < rows; r++, splits += 4) used += min(load<i32>(splits, WORD) - load<i32>(splits), n);
  return used;
}

/** ugrad[inverse[j], :] += grad[r, j, :] for the positions that have an id; sums as in scatterAddF32. */
export function firstNGradF32(
  grad: usize, gradStride: i32, inverse: usize, splits: usize, rows: i32, dim: i32, n: i32,
  ugrad: usize, ugradStride: i32, scratch: usize,
): void {
  const step = <usize>dim << 2;
  const ugradBytes = <usize>ugradStride << 2;
  const used = scratch != 0 ? usedPositions(splits, rows, n) : 0;
  const inBlocks = isInBlocks(scratch, used);
  if (inBlocks) {
    const positions = load<i32>(splits + (<usize>rows << 2)) - load<i32>(splits);
    beginBlocks(scratch, used, dim, inverse, positions);
  }
  for (let r = 0; r < rows; r++, splits += 4, grad += <usize>gradStride << 2) {
    const length = load<i32>(splits, WORD) - load<i32>(splits);
    let g = grad;
    for (let j = 0; j < min(length, n); j++, g += step) {
      const id = load<u32>(inverse + (<usize>j << 2));
      const sum = ugrad + <usize>id * ugradBytes;
      moveRun(g, sum, dim, true);
      if (inBlocks) noteAddition(scratch, id, sum);
    }
    inverse += <usize>length << 2;
  }
  if (inBlocks) endBlocks(scratch, ugrad, ugradBytes);
}
