// Pooling of embedding rows into ragged bags. Sums run in the order of the values, from zero, one accumulator per
// column, so SIMD width and blocking never change a bit of the result. That also lets the last vector of a row that is
// no multiple of four wide reach back over columns that are done: it writes the same bits again.
import { V1, V2, V3 } from "../units";

/**
 * 16 columns from `c` of one bag, sums in registers; `q`..`e` are its inverse entries, `c` is in bytes. Wider would
 * need fewer walks over the bag, but the compiler loads all columns of a row before it adds the first, and runs out of
 * registers.
 */
@inline
function pool16(rowPtrs: usize, q: usize, e: usize, c: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, V1));
    a2 = f32x4.add(a2, v128.load(row, V2));
    a3 = f32x4.add(a3, v128.load(row, V3));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
    a1 = f32x4.div(a1, count);
    a2 = f32x4.div(a2, count);
    a3 = f32x4.div(a3, count);
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, V1);
  v128.store(out + c, a2, V2);
  v128.store(out + c, a3, V3);
}

/** The same, and in the same walk the four columns at `t`. */
@inline
function pool16Tail(rowPtrs: usize, q: usize, e: usize, c: usize, t: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, z = a0;
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2));
    z = f32x4.add(z, v128.load(row + t));
    a0 = f32x4.add(a0, v128.load(row + c));
    a1 = f32x4.add(a1, v128.load(row + c, V1));
    a2 = f32x4.add(a2, v128.load(row + c, V2));
    a3 = f32x4.add(a3, v128.load(row + c, V3));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
    a1 = f32x4.div(a1, count);
    a2 = f32x4.div(a2, count);
    a3 = f32x4.div(a3, count);
    z = f32x4.div(z, count);
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, V1);
  v128.store(out + c, a2, V2);
  v128.store(out + c, a3, V3);
  v128.store(out + t, z);
}

@inline
function pool8(rowPtrs: usize, q: usize, e: usize, c: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0), a1 = a0;
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, V1));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
    a1 = f32x4.div(a1, count);
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, V1);
}

@inline
function pool4(rowPtrs: usize, q: usize, e: usize, c: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0);
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + c;
    a0 = f32x4.add(a0, v128.load(row));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
  }
  v128.store(out + c, a0);
}

@inline
function pool1(rowPtrs: usize, q: usize, e: usize, c: usize, out: usize, mean: bool, count: v128): void {
  let a: f32 = 0;
  for (; q < e; q += 4) a += load<f32>(<usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + c);
  if (mean) a /= f32x4.extract_lane(count, 0);
  store<f32>(out + c, a);
}

/** One bag: a walk over its values per 16 columns, the last of which takes up to four columns more. */
@inline
function poolBag(rowPtrs: usize, q: usize, e: usize, bytes: usize, out: usize, mean: bool, count: v128): void {
  let c: usize = 0;
  const t = bytes - 16;
  for (; c + 80 < bytes; c += 64) pool16(rowPtrs, q, e, c, out, mean, count);
  const left = bytes - c;
  if (left > 64) {
    pool16Tail(rowPtrs, q, e, c, t, out, mean, count);
  } else if (left == 64) {
    pool16(rowPtrs, q, e, c, out, mean, count);
  } else {
    if (left >= 32) {
      pool8(rowPtrs, q, e, c, out, mean, count);
      c += 32;
    }
    for (; c + 16 <= bytes; c += 16) pool4(rowPtrs, q, e, c, out, mean, count);
    if (c < bytes) {
      if (bytes >= 16) pool4(rowPtrs, q, e, t, out, mean, count);
      else for (; c < bytes; c += 4) pool1(rowPtrs, q, e, c, out, mean, count);
    }
  }
}

@inline
function pool(
  rowPtrs: usize, inverse: usize, splits: usize, rows: i32, dim: i32, out: usize, outStride: i32, mean: bool,
): void {
  const strideBytes = <usize>outStride << 2;
  let q = inverse;
  let begin = load<i32>(splits);
  for (let r: i32 = 0; r < rows; r++) {
    splits += 4;
    const end = load<i32>(splits);
    const e = q + (<usize>(end - begin) << 2);
    // An empty row divides zeros by one, which leaves zeros.
    const count = mean ? f32x4.splat(<f32>max(end - begin, 1)) : f32x4.splat(1);
    poolBag(rowPtrs, q, e, <usize>dim << 2, out, mean, count);
    q = e;
    begin = end;
    out += strideBytes;
  }
}

/**
 * out[r, :] = sum over j of splits[r]..splits[r + 1] of the f32 row at rowPtrs[inverse[j - splits[0]]], in order of j;
 * an empty row is zeros. Rows may lie at any multiple of 4. An absent id points at a row of zeros.
 */
export function poolSumF32(
  rowPtrs: usize, inverse: usize, splits: usize, rows: i32, dim: i32, out: usize, outStride: i32,
): void {
  pool(rowPtrs, inverse, splits, rows, dim, out, outStride, false);
}

/** As poolSumF32, then divided by the number of values of the row; an empty row is zeros. */
export function poolMeanF32(
  rowPtrs: usize, inverse: usize, splits: usize, rows: i32, dim: i32, out: usize, outStride: i32,
): void {
  pool(rowPtrs, inverse, splits, rows, dim, out, outStride, true);
}
