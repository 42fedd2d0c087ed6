// Moves parts of rows: a row is read as [outer, n, inner] floats.
import { moveRun } from "./vectors";

/** For each of `blocks`: dst[r, b * dstStep + c] (+)= src[r, b * srcStep + c] over `width` floats. */
export function copyBlocksF32(
  src: usize, srcStride: i32, srcStep: i32, dst: usize, dstStride: i32, dstStep: i32,
  rows: i32, blocks: i32, width: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    let s = src;
    let d = dst;
    for (let b = 0; b < blocks; b++) {
      if (acc) moveRun(s, d, width, true);
      else moveRun(s, d, width, false);
      s += <usize>srcStep << 2;
      d += <usize>dstStep << 2;
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

@inline
function transpose(src: usize, dst: usize, n: i32, d: i32, acc: bool): void {
  const sStep = <usize>d << 2;
  const dStep = <usize>n << 2;
  for (let i = 0; i < n; i++) {
    let s = src + <usize>i * sStep;
    let to = dst + (<usize>i << 2);
    for (let j = 0; j < d; j++, s += 4, to += dStep) {
      const value = load<f32>(s);
      store<f32>(to, acc ? load<f32>(to) + value : value);
    }
  }
}

/** dst[r, o, j, i] (+)= src[r, o, i, j], with i below `n` and j below `inner`. */
export function transposeInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, outer: i32, n: i32, inner: i32, acc: i32,
): void {
  const step = <usize>(n * inner) << 2;
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < outer; o++) {
      const at = <usize>o * step;
      if (acc) transpose(src + at, dst + at, n, inner, true);
      else transpose(src + at, dst + at, n, inner, false);
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

/** dst[r, o, k, :] (+)= src[r, o, indices[k], :] for `count` u32 indices below `n`. */
export function gatherInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, outer: i32, n: i32, inner: i32, indices: usize, count: i32, acc: i32,
): void {
  const width = <usize>inner << 2;
  for (let r = 0; r < rows; r++) {
    let d = dst;
    for (let o = 0; o < outer; o++) {
      const s = src + <usize>(o * n) * width;
      for (let k = 0; k < count; k++, d += width) {
        const from = s + <usize>load<u32>(indices + (<usize>k << 2)) * width;
        if (acc) moveRun(from, d, inner, true);
        else moveRun(from, d, inner, false);
      }
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

/**
 * Gradient of gatherInnerF32: dst[r, o, indices[k], :] += src[r, o, k, :], in order of k, from 0 unless `acc` is set.
 */
export function scatterInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, outer: i32, n: i32, inner: i32, indices: usize, count: i32, acc: i32,
): void {
  const width = <usize>inner << 2;
  for (let r = 0; r < rows; r++) {
    if (!acc) memory.fill(dst, 0, <usize>(outer * n) * width);
    let s = src;
    for (let o = 0; o < outer; o++) {
      const d = dst + <usize>(o * n) * width;
      for (let k = 0; k < count; k++, s += width) {
        moveRun(s, d + <usize>load<u32>(indices + (<usize>k << 2)) * width, inner, true);
      }
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}
