// Kernels that treat a matrix row by row: copies and dot products.
import { V1, V2, V3 } from "../units";
import { addRow, gather, scatter } from "./loops";

/** From this many bytes a row is copied by memory.copy; below it a SIMD loop is quicker. */
const BULK_COPY_BYTES: i32 = 1024;

@inline
function copyRow(src: usize, dst: usize, count: i32): void {
  let left = count;
  while (left >= 16) {
    const v0 = v128.load(src);
    const v1 = v128.load(src, V1);
    const v2 = v128.load(src, V2);
    const v3 = v128.load(src, V3);
    v128.store(dst, v0);
    v128.store(dst, v1, V1);
    v128.store(dst, v2, V2);
    v128.store(dst, v3, V3);
    src += 64;
    dst += 64;
    left -= 16;
  }
  while (left >= 4) {
    v128.store(dst, v128.load(src));
    src += 16;
    dst += 16;
    left -= 4;
  }
  while (left > 0) {
    store<u32>(dst, load<u32>(src));
    src += 4;
    dst += 4;
    left--;
  }
}

/** dst (+)= src. */
export function copyRowsF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  const flat = srcStride == cols && dstStride == cols;
  const count = flat ? cols * rows : cols;
  const rowCount = flat ? 1 : rows;
  const srcStep = <usize>srcStride << 2;
  const dstStep = <usize>dstStride << 2;
  const bulk = count << 2 >= BULK_COPY_BYTES;
  if (count == 1) {
    // One column, such as the biases of an embedding.
    for (let r = 0; r < rowCount; r++) {
      const value = load<f32>(src);
      store<f32>(dst, acc ? load<f32>(dst) + value : value);
      src += srcStep;
      dst += dstStep;
    }
    return;
  }
  for (let r = 0; r < rowCount; r++) {
    if (acc) addRow(src, dst, count);
    else if (bulk) memory.copy(dst, src, <usize>count << 2);
    else copyRow(src, dst, count);
    src += srcStep;
    dst += dstStep;
  }
}

/** The four sums q of a row of 16, as rowDotF32 defines them. */
@inline
function dot16(a: usize, b: usize): v128 {
  const zero = f32x4.splat(0);
  const low = f32x4.add(zero, f32x4.mul(v128.load(a), v128.load(b)));
  const high = f32x4.add(zero, f32x4.mul(v128.load(a, V1), v128.load(b, V1)));
  const low2 = f32x4.mul(v128.load(a, V2), v128.load(b, V2));
  const high2 = f32x4.mul(v128.load(a, V3), v128.load(b, V3));
  return f32x4.add(f32x4.add(low, low2), f32x4.add(high, high2));
}

/** The results of four rows from their sums q: the same additions as for one row, four at a time. */
@inline
function finish4(q0: v128, q1: v128, q2: v128, q3: v128): v128 {
  const x = f32x4.add(v128.shuffle<f32>(q0, q1, 0, 1, 4, 5), v128.shuffle<f32>(q0, q1, 2, 3, 6, 7));
  const y = f32x4.add(v128.shuffle<f32>(q2, q3, 0, 1, 4, 5), v128.shuffle<f32>(q2, q3, 2, 3, 6, 7));
  return f32x4.add(v128.shuffle<f32>(x, y, 0, 2, 4, 6), v128.shuffle<f32>(x, y, 1, 3, 5, 7));
}

/**
 * out[r] (+)= sum over c of a[r, c] * b[r, c].
 *
 * Order of the sum: eight partial sums p[c mod 8], from 0, over the whole blocks of eight; q[i] = p[i] + p[i + 4];
 * a whole block of four that is left goes to q; then (q0 + q2) + (q1 + q3); then what is left, one by one.
 */
export function rowDotF32(
  a: usize, aStride: i32, b: usize, bStride: i32, out: usize, outStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  const aStep = <usize>aStride << 2;
  const bStep = <usize>bStride << 2;
  const outStep = <usize>outStride << 2;
  let r = 0;
  if (cols == 16) {
    // The usual width of an embedding: four rows at once share the sums across lanes.
    for (; r + 4 <= rows; r += 4) {
      const q0 = dot16(a, b);
      const q1 = dot16(a + aStep, b + bStep);
      const q2 = dot16(a + aStep * 2, b + bStep * 2);
      const q3 = dot16(a + aStep * 3, b + bStep * 3);
      let sums = finish4(q0, q1, q2, q3);
      if (outStep == 4) {
        if (acc) sums = f32x4.add(v128.load(out), sums);
        v128.store(out, sums);
      } else {
        if (acc) sums = f32x4.add(gather(out, outStep, 4), sums);
        scatter(out, outStep, 4, sums);
      }
      a += aStep << 2;
      b += bStep << 2;
      out += outStep << 2;
    }
  }
  for (; r < rows; r++) {
    let x = a;
    let y = b;
    let left = cols;
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    while (left >= 8) {
      low = f32x4.add(low, f32x4.mul(v128.load(x), v128.load(y)));
      high = f32x4.add(high, f32x4.mul(v128.load(x, V1), v128.load(y, V1)));
      x += 32;
      y += 32;
      left -= 8;
    }
    let q = f32x4.add(low, high);
    if (left >= 4) {
      q = f32x4.add(q, f32x4.mul(v128.load(x), v128.load(y)));
      x += 16;
      y += 16;
      left -= 4;
    }
    q = f32x4.add(q, v128.shuffle<f32>(q, q, 2, 3, 0, 1));
    let sum: f32 = f32x4.extract_lane(q, 0) + f32x4.extract_lane(q, 1);
    while (left > 0) {
      sum += load<f32>(x) * load<f32>(y);
      x += 4;
      y += 4;
      left--;
    }
    store<f32>(out, acc ? load<f32>(out) + sum : sum);
    a += aStep;
    b += bStep;
    out += outStep;
  }
}
