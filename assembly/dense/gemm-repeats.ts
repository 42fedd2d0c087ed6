// The product with a matrix in which fields of columns repeat (drawn in repeats.ts): each distinct row of a field is
// multiplied once, and the products are added up per row. Columns outside of fields are multiplied as they are.
import { V1, V2, V3, V4, V5, V6, V7 } from "../units";
import { FIELD_BYTES } from "../generated/layouts";
import { gemmF32, gemmScratchBytes } from "./gemm";
import { multiplyBlock, packColumns, packRows, panels } from "./gemm-block";
import { TILE_BYTES, TILE_COLS, TILE_ROWS } from "./gemm-shape";
import {
  addFloats, BLOCK_COLUMNS, BLOCK_STEP, columnOf, copyDistinct, copyRows, distinctOf, floatsOf, numbersOf, pays,
} from "./repeats";

/**
 * Distinct rows of the fields whose products are made before they are added, unless one field has more: with the sums
 * they stay in L2, and the more fields are added at once the less often a sum is read and written.
 */
const GROUP_ROWS: i32 = 4096;
/** Rows of a packed block, a multiple of the tile's rows: with their products they stay in L1. */
const BLOCK_ROWS: i32 = 96;

@inline
function groupCapacity(rows: i32, fieldCount: i32): i32 {
  return min(max(rows, GROUP_ROWS), rows * fieldCount);
}

/** Bytes of the distinct rows of all fields, packed: every field may end in a panel that is not full. */
@inline
function packedBytes(rows: i32, k: i32, fieldCount: i32, width: i32): usize {
  return (<usize>rows * <usize>k + <usize>(fieldCount * TILE_ROWS) * <usize>width) << 2;
}

/** Bytes of packed weights of a field and BLOCK_COLUMNS. */
@inline
function weightBytes(width: i32): usize {
  return <usize>(panels(BLOCK_COLUMNS, TILE_COLS) * TILE_COLS) * (<usize>width << 2);
}

/** Bytes of scratch gemmRepeatsF32 needs, with fields of at most `width` columns. */
export function gemmRepeatsScratchBytes(rows: i32, n: i32, k: i32, fieldCount: i32, width: i32): usize {
  const fields = TILE_BYTES + weightBytes(width) + <usize>rows * (<usize>width << 2)
    + packedBytes(rows, k, fieldCount, width) + <usize>(groupCapacity(rows, fieldCount) + rows) * BLOCK_STEP;
  return max(gemmScratchBytes(rows, n, k), fields) + 64;
}

/** The first field that the group which begins at `from` does not take. */
function groupEnd(from: usize, end: usize, capacity: i32): usize {
  let rows = distinctOf(from);
  let f = from + FIELD_BYTES;
  for (; f < end; f += FIELD_BYTES) {
    rows += distinctOf(f);
    if (rows > capacity) break;
  }
  return f;
}

@inline
function packedFieldBytes(field: usize): usize {
  return <usize>(panels(distinctOf(field), TILE_ROWS) * TILE_ROWS * floatsOf(field)) << 2;
}

/** out[r][0..32) += products[number of row r], for each field of the group in order. */
function addProducts32(group: usize, end: usize, rows: i32, products: usize, out: usize): void {
  for (let r: usize = 0, last = <usize>rows << 2; r < last; r += 4, out += BLOCK_STEP) {
    let s0 = v128.load(out), s1 = v128.load(out, V1), s2 = v128.load(out, V2), s3 = v128.load(out, V3);
    let s4 = v128.load(out, V4), s5 = v128.load(out, V5), s6 = v128.load(out, V6), s7 = v128.load(out, V7);
    let base = products;
    for (let f = group; f < end; f += FIELD_BYTES) {
      const at = base + <usize>load<u32>(numbersOf(f) + r) * BLOCK_STEP;
      s0 = f32x4.add(s0, v128.load(at));
      s1 = f32x4.add(s1, v128.load(at, V1));
      s2 = f32x4.add(s2, v128.load(at, V2));
      s3 = f32x4.add(s3, v128.load(at, V3));
      s4 = f32x4.add(s4, v128.load(at, V4));
      s5 = f32x4.add(s5, v128.load(at, V5));
      s6 = f32x4.add(s6, v128.load(at, V6));
      s7 = f32x4.add(s7, v128.load(at, V7));
      base += <usize>distinctOf(f) * BLOCK_STEP;
    }
    v128.store(out, s0);
    v128.store(out, s1, V1);
    v128.store(out, s2, V2);
    v128.store(out, s3, V3);
    v128.store(out, s4, V4);
    v128.store(out, s5, V5);
    v128.store(out, s6, V6);
    v128.store(out, s7, V7);
  }
}

/** The same of fewer columns. */
function addProducts(group: usize, end: usize, rows: i32, columns: i32, products: usize, out: usize): void {
  for (let r: usize = 0, last = <usize>rows << 2; r < last; r += 4, out += BLOCK_STEP) {
    let base = products;
    for (let f = group; f < end; f += FIELD_BYTES) {
      addFloats(out, base + <usize>load<u32>(numbersOf(f) + r) * BLOCK_STEP, columns);
      base += <usize>distinctOf(f) * BLOCK_STEP;
    }
  }
}

/**
 * Products of a group of fields with some columns of w, row after row; returns where the packed rows of the group end.
 */
function multiplyGroup(
  group: usize, end: usize, packed: usize, w: usize, wStep: usize, columns: i32, products: usize, weights: usize,
  tile: usize,
): usize {
  for (let f = group; f < end; f += FIELD_BYTES) {
    const floats = floatsOf(f), distinct = distinctOf(f);
    packColumns(w + <usize>columnOf(f) * wStep, 4, wStep, columns, floats, weights);
    for (let i = 0; i < distinct; i += BLOCK_ROWS) {
      const rows = packed + (<usize>i * <usize>floats << 2);
      const to = products + <usize>i * BLOCK_STEP;
      multiplyBlock(rows, weights, to, BLOCK_STEP, min(BLOCK_ROWS, distinct - i), columns, floats, false, tile);
    }
    packed += packedFieldBytes(f);
    products += <usize>distinct * BLOCK_STEP;
  }
  return packed;
}

/**
 * out (+)= x * w with x of rows x k and w of k x n, row after row. An element is the sum over the columns outside of
 * fields, as gemmF32 has it and in their order, then the products of the fields in order; where little repeats it is
 * what gemmF32 gives. `width` is the columns of the widest field, `scratch` has gemmRepeatsScratchBytes.
 */
export function gemmRepeatsF32(
  x: usize, xStride: i32, w: usize, out: usize, outStride: i32, rows: i32, n: i32, k: i32, fields: usize,
  fieldCount: i32,
  width: i32, acc: i32, scratch: usize,
): void {
  const end = fields + <usize>fieldCount * FIELD_BYTES;
  if (!pays(fields, end, rows)) {
    gemmF32(x, xStride, 1, w, n, 1, out, outStride, rows, n, k, acc, scratch);
    return;
  }
  const wStep = <usize>n << 2, outStep = <usize>outStride << 2, xStep = <usize>xStride << 2;
  let column: i32 = 0, add = acc;
  for (let f = fields; f <= end; f += FIELD_BYTES) {
    const next = f == end ? k : columnOf(f);
    if (next > column || (f == end && !add)) {
      const from = x + (<usize>column << 2);
      gemmF32(from, xStride, 1, w + <usize>column * wStep, n, 1, out, outStride, rows, n, next - column, add, scratch);
      add = 1;
    }
    if (f < end) column = next + floatsOf(f);
  }
  const tile = scratch;
  const weights = tile + TILE_BYTES;
  const copy = weights + weightBytes(width);
  const packed = copy + <usize>rows * (<usize>width << 2);
  const sums = packed + packedBytes(rows, k, fieldCount, width);
  const products = sums + <usize>rows * BLOCK_STEP;
  let to = packed;
  for (let f = fields; f < end; f += FIELD_BYTES) {
    const floats = floatsOf(f);
    copyDistinct(f, x, xStep, copy);
    packRows(copy, <usize>floats << 2, 4, distinctOf(f), floats, to);
    to += packedFieldBytes(f);
  }
  const capacity = groupCapacity(rows, fieldCount);
  for (let c = 0; c < n; c += BLOCK_COLUMNS) {
    const columns = min(BLOCK_COLUMNS, n - c);
    const at = <usize>c << 2;
    copyRows(out + at, outStep, sums, BLOCK_STEP, rows, columns);
    let rowsAt = packed;
    for (let group = fields; group < end; ) {
      const last = groupEnd(group, end, capacity);
      rowsAt = multiplyGroup(group, last, rowsAt, w + at, wStep, columns, products, weights, tile);
      if (columns == BLOCK_COLUMNS) addProducts32(group, last, rows, products, sums);
      else addProducts(group, last, rows, columns, products, sums);
      group = last;
    }
    copyRows(sums, BLOCK_STEP, out + at, outStep, rows, columns);
  }
}
