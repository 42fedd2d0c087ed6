// Gradients of pooling: the gradient of a bag goes to every unique row that was in it. Additions run in the order of
// rows, then values, whatever the blocking over columns; those of features with many ids are sums of blocks.
import { V1, V2, V3, V4, V5, V6, V7, VECTOR, WORD } from "../units";
import { addRow } from "../dense/loops";
import { beginBlocks, endBlocks, isInBlocks, noteAddition } from "./block-sums";

/** ugrad row += 16 columns of gradient held in registers, for each inverse entry of `q`..`e`. */
@inline
function scatter16(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = v128.load(g), g1 = v128.load(g, V1), g2 = v128.load(g, V2), g3 = v128.load(g, V3);
  if (mean) {
    g0 = f32x4.div(g0, count);
    g1 = f32x4.div(g1, count);
    g2 = f32x4.div(g2, count);
    g3 = f32x4.div(g3, count);
  }
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    v128.store(u, f32x4.add(v128.load(u), g0));
    v128.store(u, f32x4.add(v128.load(u, V1), g1), V1);
    v128.store(u, f32x4.add(v128.load(u, V2), g2), V2);
    v128.store(u, f32x4.add(v128.load(u, V3), g3), V3);
  }
}

/** 17 columns in one walk: the width of an embedding of 16 with its bias. */
@inline
function scatter17(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = v128.load(g);
  let g1 = v128.load(g, V1);
  let g2 = v128.load(g, V2);
  let g3 = v128.load(g, V3);
  let bias = load<f32>(g, 4 * VECTOR);
  if (mean) {
    g0 = f32x4.div(g0, count);
    g1 = f32x4.div(g1, count);
    g2 = f32x4.div(g2, count);
    g3 = f32x4.div(g3, count);
    bias /= f32x4.extract_lane(count, 0);
  }
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    v128.store(u, f32x4.add(v128.load(u), g0));
    v128.store(u, f32x4.add(v128.load(u, V1), g1), V1);
    v128.store(u, f32x4.add(v128.load(u, V2), g2), V2);
    v128.store(u, f32x4.add(v128.load(u, V3), g3), V3);
    store<f32>(u, load<f32>(u, 4 * VECTOR) + bias, 4 * VECTOR);
  }
}

/** 32 columns in one walk: a bag ends at a random place, and each walk pays for guessing it wrong. */
@inline
function scatter32(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = v128.load(g), g1 = v128.load(g, V1), g2 = v128.load(g, V2), g3 = v128.load(g, V3);
  let g4 = v128.load(g, V4), g5 = v128.load(g, V5), g6 = v128.load(g, V6), g7 = v128.load(g, V7);
  if (mean) {
    g0 = f32x4.div(g0, count);
    g1 = f32x4.div(g1, count);
    g2 = f32x4.div(g2, count);
    g3 = f32x4.div(g3, count);
    g4 = f32x4.div(g4, count);
    g5 = f32x4.div(g5, count);
    g6 = f32x4.div(g6, count);
    g7 = f32x4.div(g7, count);
  }
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    v128.store(u, f32x4.add(v128.load(u), g0));
    v128.store(u, f32x4.add(v128.load(u, V1), g1), V1);
    v128.store(u, f32x4.add(v128.load(u, V2), g2), V2);
    v128.store(u, f32x4.add(v128.load(u, V3), g3), V3);
    v128.store(u, f32x4.add(v128.load(u, V4), g4), V4);
    v128.store(u, f32x4.add(v128.load(u, V5), g5), V5);
    v128.store(u, f32x4.add(v128.load(u, V6), g6), V6);
    v128.store(u, f32x4.add(v128.load(u, V7), g7), V7);
  }
}

/** 33 columns in one walk: an embedding of 32 with its bias. */
@inline
function scatter33(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = v128.load(g), g1 = v128.load(g, V1), g2 = v128.load(g, V2), g3 = v128.load(g, V3);
  let g4 = v128.load(g, V4), g5 = v128.load(g, V5), g6 = v128.load(g, V6), g7 = v128.load(g, V7);
  let bias = load<f32>(g, 8 * VECTOR);
  if (mean) {
    g0 = f32x4.div(g0, count);
    g1 = f32x4.div(g1, count);
    g2 = f32x4.div(g2, count);
    g3 = f32x4.div(g3, count);
    g4 = f32x4.div(g4, count);
    g5 = f32x4.div(g5, count);
    g6 = f32x4.div(g6, count);
    g7 = f32x4.div(g7, count);
    bias /= f32x4.extract_lane(count, 0);
  }
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    v128.store(u, f32x4.add(v128.load(u), g0));
    v128.store(u, f32x4.add(v128.load(u, V1), g1), V1);
    v128.store(u, f32x4.add(v128.load(u, V2), g2), V2);
    v128.store(u, f32x4.add(v128.load(u, V3), g3), V3);
    v128.store(u, f32x4.add(v128.load(u, V4), g4), V4);
    v128.store(u, f32x4.add(v128.load(u, V5), g5), V5);
    v128.store(u, f32x4.add(v128.load(u, V6), g6), V6);
    v128.store(u, f32x4.add(v128.load(u, V7), g7), V7);
    store<f32>(u, load<f32>(u, 8 * VECTOR) + bias, 8 * VECTOR);
  }
}

@inline
function scatter4(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = v128.load(g);
  if (mean) g0 = f32x4.div(g0, count);
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    v128.store(u, f32x4.add(v128.load(u), g0));
  }
}

@inline
function scatter1(g: usize, q: usize, e: usize, ugrad: usize, strideBytes: usize, mean: bool, count: v128): void {
  let g0 = load<f32>(g);
  if (mean) g0 /= f32x4.extract_lane(count, 0);
  for (; q < e; q += 4) {
    const u = ugrad + <usize>load<u32>(q) * strideBytes;
    store<f32>(u, load<f32>(u) + g0);
  }
}

@inline
function scatter(
  grad: usize, gradStride: i32, inverse: usize, splits: usize, rows: i32, dim: i32, ugrad: usize, ugradStride: i32,
  mean: bool,
): void {
  const dimBytes = <usize>dim << 2;
  const gradBytes = <usize>gradStride << 2;
  const ugradBytes = <usize>ugradStride << 2;
  let q = inverse;
  let begin = load<i32>(splits);
  for (let r: i32 = 0; r < rows; r++) {
    splits += 4;
    const end = load<i32>(splits);
    const e = q + (<usize>(end - begin) << 2);
    if (q < e) {
      const count = mean ? f32x4.splat(<f32>(end - begin)) : f32x4.splat(1);
      let c: usize = 0;
      for (; c + 128 <= dimBytes && c + 132 != dimBytes; c += 128) {
        scatter32(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
      }
      if (c + 132 == dimBytes) {
        scatter33(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
        c += 132;
      } else if (c + 68 == dimBytes) {
        scatter17(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
        c += 68;
      } else if (c + 64 <= dimBytes) {
        scatter16(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
        c += 64;
      }
      for (; c + 16 <= dimBytes; c += 16) scatter4(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
      for (; c < dimBytes; c += 4) scatter1(grad + c, q, e, ugrad + c, ugradBytes, mean, count);
    }
    q = e;
    begin = end;
    grad += gradBytes;
  }
}

/** dst += src / by, over `count` floats. */
@inline
function addQuotient(src: usize, by: v128, dst: usize, count: i32): void {
  for (; count >= 4; count -= 4, src += 16, dst += 16) {
    v128.store(dst, f32x4.add(v128.load(dst), f32x4.div(v128.load(src), by)));
  }
  const one = f32x4.extract_lane(by, 0);
  for (; count > 0; count--, src += 4, dst += 4) store<f32>(dst, load<f32>(dst) + load<f32>(src) / one);
}

/** The same additions in the same order, and the sum of an id in blocks. */
@inline
function scatterInBlocks(
  grad: usize, gradStride: i32, inverse: usize, splits: usize, rows: i32, dim: i32, ugrad: usize, ugradStride: i32,
  mean: bool, positions: i32, scratch: usize,
): void {
  const ugradBytes = <usize>ugradStride << 2;
  beginBlocks(scratch, positions, dim, inverse, positions);
  let q = inverse;
  for (let r = 0; r < rows; r++, splits += 4, grad += <usize>gradStride << 2) {
    const length = load<i32>(splits, WORD) - load<i32>(splits);
    const count = f32x4.splat(<f32>length);
    for (const e = q + (<usize>length << 2); q < e; q += 4) {
      const id = load<u32>(q);
      const sum = ugrad + <usize>id * ugradBytes;
      if (mean) addQuotient(grad, count, sum, dim);
      else addRow(grad, sum, dim);
      noteAddition(scratch, id, sum);
    }
  }
  endBlocks(scratch, ugrad, ugradBytes);
}

/** Ids of all rows. */
@inline
function positionsOf(splits: usize, rows: i32): i32 {
  return load<i32>(splits + (<usize>rows << 2)) - load<i32>(splits);
}

/**
 * ugrad[inverse[j - splits[0]], :] += grad[r, :] for every row r and every j of splits[r]..splits[r + 1], in that
 * order; with `scratch` (0 for none) the sums of many ids are sums of blocks.
 */
export function scatterAddF32(
  grad: usize, gradStride: i32, inverse: usize, splits: usize, rows: i32, dim: i32, ugrad: usize, ugradStride: i32,
  scratch: usize,
): void {
  const positions = positionsOf(splits, rows);
  if (isInBlocks(scratch, positions)) {
    scatterInBlocks(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, false, positions, scratch);
  } else scatter(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, false);
}

/** As scatterAddF32 with grad[r, :] divided by the number of values of row r: the gradient of poolMeanF32. */
export function scatterMeanF32(
  grad: usize, gradStride: i32, inverse: usize, splits: usize, rows: i32, dim: i32, ugrad: usize, ugradStride: i32,
  scratch: usize,
): void {
  const positions = positionsOf(splits, rows);
  if (isInBlocks(scratch, positions)) {
    scatterInBlocks(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, true, positions, scratch);
  } else scatter(grad, gradStride, inverse, splits, rows, dim, ugrad, ugradStride, true);
}
