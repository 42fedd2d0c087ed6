// Factors and dot products per group: a row is `groups` vectors of `width` floats.
import { put1 } from "./loops";
import { dotRun, scaleRun } from "./vectors";

/** dst[r, g, :] (+)= factors[r, g] * src[r, g, :]. */
export function scaleGroupsF32(
  factors: usize, factorsStride: i32, src: usize, srcStride: i32, dst: usize, dstStride: i32,
  rows: i32, groups: i32, width: i32, acc: i32,
): void {
  const step = <usize>width << 2;
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const factor = load<f32>(factors + (<usize>g << 2));
      const at = <usize>g * step;
      if (acc) scaleRun(factor, src + at, dst + at, width, true);
      else scaleRun(factor, src + at, dst + at, width, false);
    }
    factors += <usize>factorsStride << 2;
    src += <usize>srcStride << 2;
    dst += <usize>dstStride << 2;
  }
}

/** out[r, g] (+)= dot of a[r, g, :] and b[r, g, :], in the order of dotRun. */
export function groupDotF32(
  a: usize, aStride: i32, b: usize, bStride: i32, out: usize, outStride: i32,
  rows: i32, groups: i32, width: i32, acc: i32,
): void {
  const step = <usize>width << 2;
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const at = <usize>g * step;
      put1(out + (<usize>g << 2), dotRun(a + at, b + at, width), acc != 0);
    }
    a += <usize>aStride << 2;
    b += <usize>bStride << 2;
    out += <usize>outStride << 2;
  }
}
