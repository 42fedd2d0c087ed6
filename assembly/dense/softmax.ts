// Softmax over groups of neighbouring floats, with a mask if there is one, and its gradient.
import { gather, put, put1, scatter } from "./loops";
import { expNonPositive } from "./math";
import { dotRun, fillRun, sumLanes } from "./vectors";

/** The largest of `width` floats that the mask keeps (`mask` 0 keeps all); -Infinity when there is none. */
@inline
function topOf(x: usize, mask: usize, width: i32): f32 {
  let tops = f32x4.splat(-Infinity);
  let left = width;
  for (; left >= 4; left -= 4, x += 16) {
    let v = v128.load(x);
    if (mask != 0) {
      v = v128.bitselect(v, f32x4.splat(-Infinity), f32x4.ne(v128.load(mask), f32x4.splat(0)));
      mask += 16;
    }
    tops = f32x4.max(tops, v);
  }
  const half = f32x4.max(tops, v128.shuffle<f32>(tops, tops, 2, 3, 0, 1));
  let top = max<f32>(f32x4.extract_lane(half, 0), f32x4.extract_lane(half, 1));
  for (; left > 0; left--, x += 4) {
    if (mask == 0 || load<f32>(mask) != 0) top = max<f32>(top, load<f32>(x));
    if (mask != 0) mask += 4;
  }
  return top;
}

/**
 * y[r, g, :] = exp(x - max) / sum of exp(x - max), within 4 ulp. Where the mask is 0 the result is 0 and x does not
 * count; a group without any other is all 0. `mask` 0 means none; `maskStep` is the distance of the masks of two groups
 * in floats, 0 when they share one.
 */
export function softmaxF32(
  x: usize, xStride: i32, mask: usize, maskStride: i32, maskStep: i32, y: usize, yStride: i32,
  rows: i32, groups: i32, width: i32,
): void {
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const at = <usize>(g * width) << 2;
      const s = x + at;
      const d = y + at;
      const m = mask == 0 ? 0 : mask + (<usize>(g * maskStep) << 2);
      const top = topOf(s, m, width);
      if (top == -Infinity) {
        fillRun(0, d, width);
        continue;
      }
      const shift = f32x4.splat(top);
      let total = f32x4.splat(0);
      for (let i: usize = 0, left = width; left > 0; left -= 4, i += 16) {
        const v = left >= 4 ? v128.load(s + i) : gather(s + i, 4, left);
        const kept = m == 0 ? f32x4.splat(1) : left >= 4 ? v128.load(m + i) : gather(m + i, 4, left);
        // What the mask leaves out may be larger than the top: exp takes no positive numbers.
        const below = f32x4.pmin(f32x4.sub(v, shift), f32x4.splat(0));
        const e = v128.and(expNonPositive(below), f32x4.ne(kept, f32x4.splat(0)));
        if (left >= 4) v128.store(d + i, e);
        else scatter(d + i, 4, left, e);
        if (left >= 4) total = f32x4.add(total, e);
        else total = f32x4.add(total, gather(d + i, 4, left));
      }
      const sum = sumLanes(total);
      const sums = f32x4.splat(sum);
      let i: usize = 0, left = width;
      for (; left >= 4; left -= 4, i += 16) v128.store(d + i, f32x4.div(v128.load(d + i), sums));
      for (; left > 0; left--, i += 4) store<f32>(d + i, load<f32>(d + i) / sum);
    }
    x += <usize>xStride << 2;
    if (mask != 0) mask += <usize>maskStride << 2;
    y += <usize>yStride << 2;
  }
}

/** dx (+)= y * (dy - dot of dy and y), per group. Where y is 0 by the mask, so is dx. */
export function softmaxGradF32(
  dy: usize, dyStride: i32, y: usize, yStride: i32, dx: usize, dxStride: i32,
  rows: i32, groups: i32, width: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const at = <usize>(g * width) << 2;
      const a = dy + at, b = y + at, d = dx + at;
      const mean = dotRun(a, b, width);
      const means = f32x4.splat(mean);
      let i: usize = 0, left = width;
      for (; left >= 4; left -= 4, i += 16) {
        put(d + i, f32x4.mul(v128.load(b + i), f32x4.sub(v128.load(a + i), means)), acc != 0);
      }
      for (; left > 0; left--, i += 4) put1(d + i, load<f32>(b + i) * (load<f32>(a + i) - mean), acc != 0);
    }
    dy += <usize>dyStride << 2;
    y += <usize>yStride << 2;
    dx += <usize>dxStride << 2;
  }
}
