// Reductions over an inner dimension and what undoes them: a row is read as [outer, n, inner] floats.
import { put, put1 } from "./loops";
import { fillRun, moveRun, scaleRun, sumRun } from "./vectors";

/**
 * dst[r, o, i] (+)= factor * sum over j of src[r, o, j, i]. The sum is in order of j, from 0; with `inner` 1 it has the
 * order of sumRun.
 */
export function sumInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, outer: i32, n: i32, inner: i32, factor: f32, acc: i32,
): void {
  const step = <usize>inner << 2;
  const end = step * <usize>n;
  for (let r = 0; r < rows; r++) {
    let s = src;
    let d = dst;
    for (let o = 0; o < outer; o++, s += end, d += step) {
      if (inner == 1) {
        put1(d, factor * sumRun(s, n), acc != 0);
        continue;
      }
      let i = 0;
      for (; i + 4 <= inner; i += 4) {
        const c = s + (<usize>i << 2);
        let sum = f32x4.splat(0);
        for (let p = c; p < c + end; p += step) sum = f32x4.add(sum, v128.load(p));
        put(d + (<usize>i << 2), f32x4.mul(f32x4.splat(factor), sum), acc != 0);
      }
      for (; i < inner; i++) {
        const c = s + (<usize>i << 2);
        let sum: f32 = 0;
        for (let p = c; p < c + end; p += step) sum += load<f32>(p);
        put1(d + (<usize>i << 2), factor * sum, acc != 0);
      }
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

/** dst[r, o, i] (+)= the largest src[r, o, j, i]; NaN where one is NaN. `n` is at least 1. */
export function maxInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, outer: i32, n: i32, inner: i32, acc: i32,
): void {
  const step = <usize>inner << 2;
  const end = step * <usize>n;
  for (let r = 0; r < rows; r++) {
    let s = src;
    let d = dst;
    for (let o = 0; o < outer; o++, s += end, d += step) {
      let i = 0;
      for (; i + 4 <= inner; i += 4) {
        const c = s + (<usize>i << 2);
        let top = v128.load(c);
        for (let p = c + step; p < c + end; p += step) top = f32x4.max(top, v128.load(p));
        put(d + (<usize>i << 2), top, acc != 0);
      }
      for (; i < inner; i++) {
        const c = s + (<usize>i << 2);
        let top = load<f32>(c);
        for (let p = c + step; p < c + end; p += step) top = max<f32>(top, load<f32>(p));
        put1(d + (<usize>i << 2), top, acc != 0);
      }
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

/** dx[r, o, j, i] (+)= dy[r, o, i] shared equally among the x that equal y, else 0. */
export function maxInnerGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, y: usize, yStride: i32, dx: usize, dxStride: i32,
  rows: i32, outer: i32, n: i32, inner: i32, acc: i32,
): void {
  const step = <usize>inner << 2;
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < outer; o++) {
      const block = <usize>(o * n) * step;
      for (let i = 0; i < inner; i++) {
        const at = <usize>(o * inner + i) << 2;
        const top = load<f32>(y + at);
        const first = block + (<usize>i << 2);
        let ties: f32 = 0;
        for (let j = 0, p = first; j < n; j++, p += step) if (load<f32>(x + p) == top) ties += 1;
        const share = load<f32>(dy + at) / ties;
        for (let j = 0, p = first; j < n; j++, p += step) {
          put1(dx + p, load<f32>(x + p) == top ? share : 0, acc != 0);
        }
      }
    }
    dy += <usize>dyStride << 2;
    x += <usize>xStride << 2;
    y += <usize>yStride << 2;
    dx += <usize>dxStride << 2;
  }
}

/** dst[r, o, j, i] (+)= factor * src[r, o, i] for all j below `n`. */
export function broadcastInnerF32(
  src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, outer: i32, n: i32, inner: i32, factor: f32, acc: i32,
): void {
  const step = <usize>inner << 2;
  for (let r = 0; r < rows; r++) {
    let s = src;
    let d = dst;
    for (let o = 0; o < outer; o++, s += step) {
      if (inner == 1 && !acc) {
        fillRun(factor * load<f32>(s), d, n);
        d += <usize>n << 2;
        continue;
      }
      for (let j = 0; j < n; j++, d += step) {
        if (acc) scaleRun(factor, s, d, inner, true);
        else if (factor == 1) moveRun(s, d, inner, false);
        else scaleRun(factor, s, d, inner, false);
      }
    }
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}
