// Lookups of features that have the same number of ids in every row, and their gradients: one call moves all slices of
// all features of a table between its rows and the matrices of the model. src/memory/record-layout.ts draws a piece.
//
// `inverse` is u32[rows][ids per row]. A block of rows is done for all pieces before the next: what it writes and reads
// again stays near, and a piece is decoded once per block.
import { V1, V2, V3 } from "../units";
import { PIECE, PIECE_BYTES } from "../generated/layouts";
import { addRow } from "../dense/loops";
import { beginBlocks, endBlocks, isInBlocks, noteAddition } from "./block-sums";

const BLOCK_ROWS: u32 = 32;

@inline
function rowOf(rowPtrs: usize, at: usize): usize {
  return <usize>load<u32>(rowPtrs + (<usize>load<u32>(at) << 2));
}

/** Any number of ids and floats, added or not. Ids in order, from the first one's row. */
function gatherAny(
  rowPtrs: usize, at: usize, atStep: usize, rows: u32, ids: usize, offset: usize, floats: usize, out: usize,
  outStep: usize,
  add: bool,
): void {
  const bytes = floats << 2;
  for (let r: u32 = 0; r < rows; r++, at += atStep, out += outStep) {
    const last = at + (ids << 2);
    let c: usize = 0;
    for (; c + 16 <= bytes; c += 16) {
      let sum = v128.load(rowOf(rowPtrs, at) + offset + c);
      for (let q = at + 4; q < last; q += 4) sum = f32x4.add(sum, v128.load(rowOf(rowPtrs, q) + offset + c));
      v128.store(out + c, add ? f32x4.add(v128.load(out + c), sum) : sum);
    }
    for (; c < bytes; c += 4) {
      let sum = load<f32>(rowOf(rowPtrs, at) + offset + c);
      for (let q = at + 4; q < last; q += 4) sum += load<f32>(rowOf(rowPtrs, q) + offset + c);
      store<f32>(out + c, add ? load<f32>(out + c) + sum : sum);
    }
  }
}

/** One id per row, 16 floats, not added: an embedding that goes to its place in a wider matrix. */
function gather16(
  rowPtrs: usize, at: usize, atStep: usize, rows: u32, offset: usize, out: usize, outStep: usize,
): void {
  for (let r: u32 = 0; r < rows; r++, at += atStep, out += outStep) {
    const row = rowOf(rowPtrs, at) + offset;
    const a = v128.load(row), b = v128.load(row, V1), c = v128.load(row, V2), d = v128.load(row, V3);
    v128.store(out, a);
    v128.store(out, b, V1);
    v128.store(out, c, V2);
    v128.store(out, d, V3);
  }
}

/** One id per row, one float, added: a bias that goes into a sum. */
function gatherAdd1(
  rowPtrs: usize, at: usize, atStep: usize, rows: u32, offset: usize, out: usize, outStep: usize,
): void {
  for (let r: u32 = 0; r < rows; r++, at += atStep, out += outStep) {
    store<f32>(out, load<f32>(out) + load<f32>(rowOf(rowPtrs, at) + offset));
  }
}

/**
 * For each piece and row: the floats of the rows of its ids, summed in order, go to its matrix. Rows are at the
 * addresses rowPtrs[inverse[r, i]]. Pieces are done in order, so that those that add find what earlier ones wrote.
 */
export function gatherSlicesF32(
  rowPtrs: usize, inverse: usize, idsPerRow: u32, rows: u32, pieces: usize, pieceCount: u32,
): void {
  const step = <usize>idsPerRow << 2;
  const end = pieces + <usize>pieceCount * PIECE_BYTES;
  for (let first: u32 = 0; first < rows; first += BLOCK_ROWS) {
    const count = min(BLOCK_ROWS, rows - first);
    const block = inverse + <usize>first * step;
    for (let p = pieces; p < end; p += PIECE_BYTES) {
      const at = block + (<usize>load<u32>(p, PIECE.first) << 2);
      const ids = <usize>load<u32>(p, PIECE.ids);
      const offset = <usize>load<u32>(p, PIECE.offset);
      const floats = <usize>load<u32>(p, PIECE.floats);
      const outStep = <usize>load<u32>(p, PIECE.stride);
      const out = <usize>load<u32>(p, PIECE.matrix) + <usize>first * outStep;
      const add = load<u32>(p, PIECE.add) != 0;
      if (ids == 1 && floats == 16 && !add) gather16(rowPtrs, at, step, count, offset, out, outStep);
      else if (ids == 1 && floats == 1 && add) gatherAdd1(rowPtrs, at, step, count, offset, out, outStep);
      else gatherAny(rowPtrs, at, step, count, ids, offset, floats, out, outStep, add);
    }
  }
}

/** Any number of ids and floats. */
function scatterAny(
  at: usize, atStep: usize, rows: u32, ids: usize, floats: usize, grad: usize, gradStep: usize, sums: usize,
  sumStep: usize,
): void {
  const bytes = floats << 2;
  for (let r: u32 = 0; r < rows; r++, at += atStep, grad += gradStep) {
    const last = at + (ids << 2);
    for (let q = at; q < last; q += 4) {
      const to = sums + <usize>load<u32>(q) * sumStep;
      let c: usize = 0;
      for (; c + 16 <= bytes; c += 16) v128.store(to + c, f32x4.add(v128.load(to + c), v128.load(grad + c)));
      for (; c < bytes; c += 4) store<f32>(to + c, load<f32>(to + c) + load<f32>(grad + c));
    }
  }
}

/** One id per row and 16 floats. */
function scatter16(
  at: usize, atStep: usize, rows: u32, grad: usize, gradStep: usize, sums: usize, sumStep: usize,
): void {
  for (let r: u32 = 0; r < rows; r++, at += atStep, grad += gradStep) {
    const to = sums + <usize>load<u32>(at) * sumStep;
    v128.store(to, f32x4.add(v128.load(to), v128.load(grad)));
    v128.store(to, f32x4.add(v128.load(to, V1), v128.load(grad, V1)), V1);
    v128.store(to, f32x4.add(v128.load(to, V2), v128.load(grad, V2)), V2);
    v128.store(to, f32x4.add(v128.load(to, V3), v128.load(grad, V3)), V3);
  }
}

/** One id per row and one float. */
function scatter1(
  at: usize, atStep: usize, rows: u32, grad: usize, gradStep: usize, sums: usize, sumStep: usize,
): void {
  for (let r: u32 = 0; r < rows; r++, at += atStep, grad += gradStep) {
    const to = sums + <usize>load<u32>(at) * sumStep;
    store<f32>(to, load<f32>(to) + load<f32>(grad));
  }
}

/** Any number of ids and floats, the sum of an id, from `sums` on, in blocks. */
function scatterInBlocks(
  at: usize, atStep: usize, rows: u32, ids: usize, offset: usize, floats: usize, grad: usize, gradStep: usize,
  sums: usize,
  sumStep: usize, scratch: usize,
): void {
  for (let r: u32 = 0; r < rows; r++, at += atStep, grad += gradStep) {
    const last = at + (ids << 2);
    for (let q = at; q < last; q += 4) {
      const id = load<u32>(q);
      const sum = sums + <usize>id * sumStep;
      addRow(grad, sum + offset, <i32>floats);
      noteAddition(scratch, id, sum);
    }
  }
}

/** Whether a feature has so many ids that sums are made in blocks, which `scratch` is laid out for then. */
function beginSums(
  inverse: usize, idsPerRow: u32, rows: u32, pieces: usize, end: usize, sumStride: u32, scratch: usize,
): bool {
  let most: u32 = 0, all: u32 = 0;
  for (let p = pieces; p < end; p += PIECE_BYTES) {
    const ids = load<u32>(p, PIECE.ids);
    most = max(most, ids);
    all += ids;
  }
  if (!isInBlocks(scratch, <i64>rows * most)) return false;
  beginBlocks(scratch, <i64>rows * all, sumStride, inverse, rows * idsPerRow);
  return true;
}

/**
 * Gradient of gatherSlicesF32: the floats of each piece's matrix are added to the sums of its ids,
 * sums[inverse[r, i]] of `sumsStride` floats. Blocks of rows in order, in them pieces in order, then rows, then ids.
 * With `scratch` (0 for none) the sums of many ids are sums of blocks.
 */
export function scatterSlicesF32(
  inverse: usize, idsPerRow: u32, rows: u32, pieces: usize, pieceCount: u32, sums: usize, sumsStride: u32,
  scratch: usize,
): void {
  const step = <usize>idsPerRow << 2;
  const sumStep = <usize>sumsStride << 2;
  const end = pieces + <usize>pieceCount * PIECE_BYTES;
  const inBlocks = beginSums(inverse, idsPerRow, rows, pieces, end, sumsStride, scratch);
  for (let first: u32 = 0; first < rows; first += BLOCK_ROWS) {
    const count = min(BLOCK_ROWS, rows - first);
    const block = inverse + <usize>first * step;
    for (let p = pieces; p < end; p += PIECE_BYTES) {
      const at = block + (<usize>load<u32>(p, PIECE.first) << 2);
      const ids = <usize>load<u32>(p, PIECE.ids);
      const offset = <usize>load<u32>(p, PIECE.offset);
      const floats = <usize>load<u32>(p, PIECE.floats);
      const to = sums + offset;
      const gradStep = <usize>load<u32>(p, PIECE.stride);
      const grad = <usize>load<u32>(p, PIECE.matrix) + <usize>first * gradStep;
      if (inBlocks) scatterInBlocks(at, step, count, ids, offset, floats, grad, gradStep, sums, sumStep, scratch);
      else if (ids == 1 && floats == 16) scatter16(at, step, count, grad, gradStep, to, sumStep);
      else if (ids == 1 && floats == 1) scatter1(at, step, count, grad, gradStep, to, sumStep);
      else scatterAny(at, step, count, ids, floats, grad, gradStep, to, sumStep);
    }
  }
  if (inBlocks) endBlocks(scratch, sums, sumStep);
}
