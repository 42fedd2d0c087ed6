// Pooling of embedding rows into ragged bags. Sums run in the order of the values, from zero, one accumulator per
// column, so SIMD width and blocking never change a bit of the result.

/** out[r, c..c+4k) = sum of rows at those columns, k vector accumulators in registers; `q`..`e` are inverse entries. */
// @ts-ignore: decorator
@inline
function pool32(rowPtrs: usize, q: usize, e: usize, columnBytes: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + columnBytes;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, 16));
    a2 = f32x4.add(a2, v128.load(row, 32));
    a3 = f32x4.add(a3, v128.load(row, 48));
    a4 = f32x4.add(a4, v128.load(row, 64));
    a5 = f32x4.add(a5, v128.load(row, 80));
    a6 = f32x4.add(a6, v128.load(row, 96));
    a7 = f32x4.add(a7, v128.load(row, 112));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
    a1 = f32x4.div(a1, count);
    a2 = f32x4.div(a2, count);
    a3 = f32x4.div(a3, count);
    a4 = f32x4.div(a4, count);
    a5 = f32x4.div(a5, count);
    a6 = f32x4.div(a6, count);
    a7 = f32x4.div(a7, count);
  }
  v128.store(out + columnBytes, a0);
  v128.store(out + columnBytes, a1, 16);
  v128.store(out + columnBytes, a2, 32);
  v128.store(out + columnBytes, a3, 48);
  v128.store(out + columnBytes, a4, 64);
  v128.store(out + columnBytes, a5, 80);
  v128.store(out + columnBytes, a6, 96);
  v128.store(out + columnBytes, a7, 112);
}

// @ts-ignore: decorator
@inline
function pool16(rowPtrs: usize, q: usize, e: usize, columnBytes: usize, out: usize, mean: bool, count: v128): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + columnBytes;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, 16));
    a2 = f32x4.add(a2, v128.load(row, 32));
    a3 = f32x4.add(a3, v128.load(row, 48));
  }
  if (mean) {
    a0 = f32x4.div(a0, count);
    a1 = f32x4.div(a1, count);
    a2 = f32x4.div(a2, count);
    a3 = f32x4.div(a3, count);
  }
  v128.store(out + columnBytes, a0);
  v128.store(out + columnBytes, a1, 16);
  v128.store(out + columnBytes, a2, 32);
  v128.store(out + columnBytes, a3, 48);
}

// @ts-ignore: decorator
@inline
function pool4(rowPtrs: usize, q: usize, e: usize, columnBytes: usize, out: usize, mean: bool, count: v128): void {
  let a = f32x4.splat(0);
  for (; q < e; q += 4) {
    a = f32x4.add(a, v128.load(<usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + columnBytes));
  }
  if (mean) a = f32x4.div(a, count);
  v128.store(out + columnBytes, a);
}

// @ts-ignore: decorator
@inline
function pool1(rowPtrs: usize, q: usize, e: usize, columnBytes: usize, out: usize, mean: bool, count: v128): void {
  let a: f32 = 0;
  for (; q < e; q += 4) {
    a += load<f32>(<usize>load<u32>(rowPtrs + (<usize>load<u32>(q) << 2)) + columnBytes);
  }
  if (mean) a /= f32x4.extract_lane(count, 0);
  store<f32>(out + columnBytes, a);
}

// @ts-ignore: decorator
@inline
function pool(
  rowPtrs: usize, inverse: usize, splits: usize, rows: i32, dim: i32, out: usize, outStride: i32, mean: bool,
): void {
  const dimBytes = <usize>dim << 2;
  const strideBytes = <usize>outStride << 2;
  let q = inverse;
  let begin = load<i32>(splits);
  for (let r: i32 = 0; r < rows; r++) {
    splits += 4;
    const end = load<i32>(splits);
    const e = q + (<usize>(end - begin) << 2);
    // An empty row divides zeros by one, which leaves zeros.
    const count = mean ? f32x4.splat(<f32>max(end - begin, 1)) : f32x4.splat(1);
    let c: usize = 0;
    for (; c + 128 <= dimBytes; c += 128) pool32(rowPtrs, q, e, c, out, mean, count);
    for (; c + 64 <= dimBytes; c += 64) pool16(rowPtrs, q, e, c, out, mean, count);
    for (; c + 16 <= dimBytes; c += 16) pool4(rowPtrs, q, e, c, out, mean, count);
    for (; c < dimBytes; c += 4) pool1(rowPtrs, q, e, c, out, mean, count);
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
