// Gradients of gemmRepeatsF32. Gradients of rows that are equal in a field are added up first; one product of the sums
// with the distinct rows is left, and one with the weights.
import { V1, V2, V3, V4, V5, V6, V7, WORD } from "../units";
import { FIELD_BYTES, REPEATS } from "../generated/layouts";
import { gemmF32, gemmScratchBytes } from "./gemm";
import { multiplyBlocks, multiplyCrossedBlock, packColumns, packRows, panels } from "./gemm-block";
import { TILE_BYTES, TILE_COLS, TILE_ROWS } from "./gemm-shape";
import { put, put1 } from "./loops";
import {
  addFloats, BLOCK_COLUMNS, BLOCK_STEP, columnOf, copyRows, copyDistinct, distinctOf, floatsOf, orderOf, pays, startsOf,
} from "./repeats";

/** Bytes of the distinct rows of all fields, packed across: every field may end in a panel that is not full. */
@inline
function packedBytes(rows: i32, k: i32, fieldCount: i32): usize {
  return <usize>rows * (<usize>(k + fieldCount * (TILE_ROWS - 1)) << 2);
}

@inline
function packedFieldBytes(field: usize): usize {
  return <usize>(panels(floatsOf(field), TILE_ROWS) * TILE_ROWS * distinctOf(field)) << 2;
}

/** Bytes of sums, which lie in panels as the packed side of a product; the last tile of rows may not be full. */
@inline
function sumBytes(rows: i32): usize {
  return <usize>(rows + TILE_ROWS) * (<usize>BLOCK_COLUMNS << 2);
}

/** Bytes of packed weights of a field and BLOCK_COLUMNS. */
@inline
function weightBytes(width: i32): usize {
  return <usize>(panels(width, TILE_COLS) * TILE_COLS) * (<usize>BLOCK_COLUMNS << 2);
}

/** Bytes of scratch gemmRepeatsGradF32 needs, with fields of at most `width` columns. */
export function gemmRepeatsGradScratchBytes(rows: i32, n: i32, k: i32, fieldCount: i32, width: i32): usize {
  const fields = TILE_BYTES + weightBytes(width) + packedBytes(rows, k, fieldCount) + <usize>rows * (<usize>k << 2)
    + max(<usize>rows * (<usize>width << 2), sumBytes(rows)) + <usize>rows * BLOCK_STEP;
  return max(max(gemmScratchBytes(k, n, rows), gemmScratchBytes(rows, k, n)), fields) + 64;
}

/** Where the vector with that number begins in its panel, and which panel that is. */
@inline
function inPanel(vector: usize): usize {
  return (vector * 4) % <usize>TILE_COLS << 2;
}

@inline
function panelOf(vector: usize): usize {
  return (vector * 4) / <usize>TILE_COLS;
}

/**
 * The sum of grad[row][0..32) over the rows that are listed from `at` to `last`, put into panels or added to what is
 * there.
 */
@inline
function sumRows32(at: usize, last: usize, grad: usize, to: usize, step: usize, adds: bool): void {
  let row = grad + <usize>load<u32>(at) * BLOCK_STEP;
  let s0 = v128.load(row), s1 = v128.load(row, V1), s2 = v128.load(row, V2), s3 = v128.load(row, V3);
  let s4 = v128.load(row, V4), s5 = v128.load(row, V5), s6 = v128.load(row, V6), s7 = v128.load(row, V7);
  for (at += 4; at < last; at += 4) {
    row = grad + <usize>load<u32>(at) * BLOCK_STEP;
    s0 = f32x4.add(s0, v128.load(row));
    s1 = f32x4.add(s1, v128.load(row, V1));
    s2 = f32x4.add(s2, v128.load(row, V2));
    s3 = f32x4.add(s3, v128.load(row, V3));
    s4 = f32x4.add(s4, v128.load(row, V4));
    s5 = f32x4.add(s5, v128.load(row, V5));
    s6 = f32x4.add(s6, v128.load(row, V6));
    s7 = f32x4.add(s7, v128.load(row, V7));
  }
  put(to + panelOf(0) * step + inPanel(0), s0, adds);
  put(to + panelOf(1) * step + inPanel(1), s1, adds);
  put(to + panelOf(2) * step + inPanel(2), s2, adds);
  put(to + panelOf(3) * step + inPanel(3), s3, adds);
  put(to + panelOf(4) * step + inPanel(4), s4, adds);
  put(to + panelOf(5) * step + inPanel(5), s5, adds);
  put(to + panelOf(6) * step + inPanel(6), s6, adds);
  put(to + panelOf(7) * step + inPanel(7), s7, adds);
}

/**
 * Adds the blocks of rows behind the first. Few numbers have any: a function of its own keeps the loop over numbers
 * short.
 */
function addBlocks32(at: usize, end: usize, grad: usize, to: usize, step: usize): void {
  for (; at < end; at += REPEATS << 2) sumRows32(at, min(at + (REPEATS << 2), end), grad, to, step, true);
}

/** Sums over the rows of each number of grad[row][0..32), into panels that are `step` bytes apart. */
function sumGradients32(field: usize, grad: usize, to: usize, step: usize): void {
  const order = orderOf(field), starts = startsOf(field);
  const distinct = <usize>distinctOf(field);
  for (let number: usize = 0; number < distinct; number++, to += <usize>TILE_COLS << 2) {
    const at = order + (<usize>load<u32>(starts + (number << 2)) << 2);
    const end = order + (<usize>load<u32>(starts + (number << 2), WORD) << 2);
    const last = min(at + (REPEATS << 2), end);
    sumRows32(at, last, grad, to, step, false);
    if (last < end) addBlocks32(last, end, grad, to, step);
  }
}

/** The same of one column. */
function sumGradients1(field: usize, grad: usize, to: usize): void {
  const order = orderOf(field), starts = startsOf(field);
  const distinct = <usize>distinctOf(field);
  for (let number: usize = 0; number < distinct; number++, to += <usize>TILE_COLS << 2) {
    let at = order + (<usize>load<u32>(starts + (number << 2)) << 2);
    const end = order + (<usize>load<u32>(starts + (number << 2), WORD) << 2);
    for (let adds = false; at < end; adds = true) {
      const last = min(at + (REPEATS << 2), end);
      let sum = load<f32>(grad + <usize>load<u32>(at) * BLOCK_STEP);
      for (at += 4; at < last; at += 4) sum += load<f32>(grad + <usize>load<u32>(at) * BLOCK_STEP);
      put1(to, sum, adds);
    }
  }
}

/** The same of any number of columns. What of the last panel is not filled stays as it is: no result of it is read. */
function sumGradients(field: usize, columns: i32, grad: usize, to: usize): void {
  const step = <usize>distinctOf(field) * (<usize>TILE_COLS << 2);
  let c = 0;
  for (; c + 32 <= columns; c += 32) {
    sumGradients32(field, grad + (<usize>c << 2), to + <usize>(c / TILE_COLS) * step, step);
  }
  for (; c < columns; c++) {
    const at = to + <usize>(c / TILE_COLS) * step + (<usize>(c % TILE_COLS) << 2);
    sumGradients1(field, grad + (<usize>c << 2), at);
  }
}

/** Zeroes the columns of the fields; neighbouring fields in one go. */
function zeroFields(fields: usize, end: usize, rows: i32, dx: usize, dxStep: usize): void {
  for (let f = fields; f < end; ) {
    const from = columnOf(f);
    let to = from;
    for (; f < end && columnOf(f) == to; f += FIELD_BYTES) to += floatsOf(f);
    let at = dx + (<usize>from << 2);
    for (let r = 0; r < rows; r++, at += dxStep) memory.fill(at, 0, <usize>(to - from) << 2);
  }
}

/** dx[first row of each number] += its gradient, in the columns of a field. */
function addToFirstRows(field: usize, grads: usize, dx: usize, dxStep: usize): void {
  const floats = floatsOf(field);
  const order = orderOf(field), starts = startsOf(field);
  const last = starts + (<usize>distinctOf(field) << 2);
  for (let at = starts; at < last; at += 4, grads += <usize>floats << 2) {
    addFloats(dx + <usize>load<u32>(order + (<usize>load<u32>(at) << 2)) * dxStep, grads, floats);
  }
}

/**
 * dw = x^T * grad and, of dx (+)= grad * w^T, the columns dxFrom..dxFrom + dxCount. Either is left out when its address
 * is 0. `dx` points to column dxFrom; no field lies across the ends of those columns, nor outside of them if dx is
 * wanted.
 *
 * In the columns of a field dx is right only in sums over the rows of an id: the whole sum is in the first row that has
 * it. Where little repeats both are what gemmF32 gives. `scratch` has gemmRepeatsGradScratchBytes.
 */
export function gemmRepeatsGradF32(
  x: usize, xStride: i32, w: usize, grad: usize, gradStride: i32, dx: usize, dxStride: i32, dxFrom: i32, dxCount: i32,
  dxAcc: i32, dw: usize, rows: i32, n: i32, k: i32, fields: usize, fieldCount: i32, width: i32,
  scratch: usize,
): void {
  const end = fields + <usize>fieldCount * FIELD_BYTES;
  const wStep = <usize>n << 2;
  const gradStep = <usize>gradStride << 2;
  const xStep = <usize>xStride << 2;
  const dxStep = <usize>dxStride << 2;
  const first = pays(fields, end, rows) ? fields : end;
  multiplyRest(
    x, xStride, w, grad, gradStride, dx, dxStride, dxFrom, dxCount, dxAcc, dw, rows, n, k, first, end, scratch,
  );
  if (first == end) return;
  const tile = scratch;
  const weights = tile + TILE_BYTES;
  const packed = weights + weightBytes(width);
  const grads = packed + packedBytes(rows, k, fieldCount);
  const sums = grads + <usize>rows * (<usize>k << 2);
  const near = sums + max(<usize>rows * (<usize>width << 2), sumBytes(rows));
  if (dx && !dxAcc) zeroFields(fields, end, rows, dx - (<usize>dxFrom << 2), dxStep);
  let to = packed;
  for (let f = fields; f < end; f += FIELD_BYTES) {
    const floats = floatsOf(f);
    copyDistinct(f, x, xStep, sums);
    packRows(sums, 4, <usize>floats << 2, floats, distinctOf(f), to);
    to += packedFieldBytes(f);
  }
  for (let c = 0; c < n; c += BLOCK_COLUMNS) {
    const columns = min(BLOCK_COLUMNS, n - c);
    copyRows(grad + (<usize>c << 2), gradStep, near, BLOCK_STEP, rows, columns);
    let rowsAt = packed, gradsAt = grads;
    for (let f = fields; f < end; f += FIELD_BYTES) {
      const floats = floatsOf(f), distinct = distinctOf(f);
      const corner = <usize>columnOf(f) * wStep + (<usize>c << 2);
      sumGradients(f, columns, near, sums);
      if (dw) multiplyBlocks(rowsAt, sums, dw + corner, wStep, floats, columns, distinct, false, tile);
      if (dx) {
        const step = <usize>distinct * (<usize>TILE_COLS << 2), gradsStep = <usize>floats << 2;
        packColumns(w + corner, wStep, 4, floats, columns, weights);
        multiplyCrossedBlock(sums, step, weights, gradsAt, gradsStep, distinct, floats, columns, c > 0, tile);
      }
      rowsAt += packedFieldBytes(f);
      gradsAt += <usize>(distinct * floats) << 2;
    }
  }
  if (!dx) return;
  let from = grads;
  for (let f = fields; f < end; f += FIELD_BYTES) {
    addToFirstRows(f, from, dx + (<usize>(columnOf(f) - dxFrom) << 2), dxStep);
    from += <usize>(distinctOf(f) * floatsOf(f)) << 2;
  }
}

/** Both gradients in the columns outside of fields. */
function multiplyRest(
  x: usize, xStride: i32, w: usize, grad: usize, gradStride: i32, dx: usize, dxStride: i32, dxFrom: i32, dxCount: i32,
  dxAcc: i32, dw: usize, rows: i32, n: i32, k: i32, fields: usize, end: usize, scratch: usize,
): void {
  const wStep = <usize>n << 2;
  let column: i32 = 0;
  for (let f = fields; f <= end; f += FIELD_BYTES) {
    const next = f == end ? k : columnOf(f);
    if (next > column && dw) {
      const from = x + (<usize>column << 2);
      gemmF32(from, 1, xStride, grad, gradStride, 1, dw + <usize>column * wStep, n, next - column, n, rows, 0, scratch);
    }
    const from = max(column, dxFrom), to = min(next, dxFrom + dxCount);
    if (dx && to > from) {
      const at = dx + (<usize>(from - dxFrom) << 2);
      gemmF32(grad, gradStride, 1, w + <usize>from * wStep, 1, n, at, dxStride, rows, to - from, n, dxAcc, scratch);
    }
    if (f < end) column = next + floatsOf(f);
  }
}
