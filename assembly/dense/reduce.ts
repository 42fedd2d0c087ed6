// Reductions. Each has one fixed order, so the same operands give the same bytes.
import { V1, V2, V3 } from "../units";
import { PLAIN, sumColumns } from "./column-sums";

/** dst[c] (+)= the sum over r of src[r, c], in the order of sumColumns. */
export function sumRowsF32(src: usize, srcStride: i32, dst: usize, rows: i32, cols: i32, acc: i32): void {
  sumColumns(PLAIN, src, srcStride, 0, 0, 0, dst, rows, 1, cols, acc != 0);
}

/**
 * dst[0] = factor * (sum of all elements).
 *
 * The sum is f64, element by element in row-major order, and is rounded to f32 once, after the factor: a mean loss
 * over a large batch keeps every digit an f32 can show, and strides cannot change it.
 */
export function sumF32(src: usize, srcStride: i32, rows: i32, cols: i32, dst: usize, factor: f32): void {
  let sum: f64 = 0;
  const step = <usize>srcStride << 2;
  for (let r = 0; r < rows; r++) {
    const end = src + (<usize>cols << 2);
    for (let s = src; s != end; s += 4) sum += <f64>load<f32>(s);
    src += step;
  }
  store<f32>(dst, <f32>(<f64>factor * sum));
}

/** dst[i] = ((src[0][i] + src[1][i]) + src[2][i]) + ... in slice order; 0 when there are no slices. */
export function reduceSlicesF32(src: usize, sliceStride: i32, slices: i32, dst: usize, n: i32): void {
  if (slices <= 0) {
    memory.fill(dst, 0, <usize>n << 2);
    return;
  }
  const step = <usize>sliceStride << 2;
  let left = n;
  while (left >= 16) {
    let s = src;
    let v0 = v128.load(s);
    let v1 = v128.load(s, V1);
    let v2 = v128.load(s, V2);
    let v3 = v128.load(s, V3);
    for (let i = 1; i < slices; i++) {
      s += step;
      v0 = f32x4.add(v0, v128.load(s));
      v1 = f32x4.add(v1, v128.load(s, V1));
      v2 = f32x4.add(v2, v128.load(s, V2));
      v3 = f32x4.add(v3, v128.load(s, V3));
    }
    v128.store(dst, v0);
    v128.store(dst, v1, V1);
    v128.store(dst, v2, V2);
    v128.store(dst, v3, V3);
    src += 64;
    dst += 64;
    left -= 16;
  }
  while (left > 0) {
    let s = src;
    let v = load<f32>(s);
    for (let i = 1; i < slices; i++) {
      s += step;
      v += load<f32>(s);
    }
    store<f32>(dst, v);
    src += 4;
    dst += 4;
    left--;
  }
}
