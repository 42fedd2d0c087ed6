// The largest values of groups of neighbouring floats.
import { put1 } from "./loops";

/**
 * values[r, g, :] = the `k` largest of x[r, g, :], largest first, and indices[r, g, :] their places as floats; of equal
 * values the first comes first. By insertion: k is small. `k` is at least 1 and at most `width`.
 */
export function topKF32(
  x: usize, xStride: i32, values: usize, valuesStride: i32, indices: usize, indicesStride: i32,
  rows: i32, groups: i32, width: i32, k: i32,
): void {
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const s = x + (<usize>(g * width) << 2);
      const v = values + (<usize>(g * k) << 2);
      const p = indices + (<usize>(g * k) << 2);
      for (let j = 0; j < width; j++) {
        const value = load<f32>(s + (<usize>j << 2));
        let at = min(j, k);
        while (at > 0 && value > load<f32>(v + (<usize>(at - 1) << 2))) at--;
        if (at == k) continue;
        for (let i = min(j, k - 1); i > at; i--) {
          const to = <usize>i << 2;
          store<f32>(v + to, load<f32>(v + to - 4));
          store<f32>(p + to, load<f32>(p + to - 4));
        }
        store<f32>(v + (<usize>at << 2), value);
        store<f32>(p + (<usize>at << 2), <f32>j);
      }
    }
    x += <usize>xStride << 2;
    values += <usize>valuesStride << 2;
    indices += <usize>indicesStride << 2;
  }
}

/** dx[r, g, indices[r, g, i]] (+)= dy[r, g, i], the rest 0 unless `acc` is set. */
export function topKGradF32(
  dy: usize, dyStride: i32, indices: usize, indicesStride: i32, dx: usize, dxStride: i32,
  rows: i32, groups: i32, width: i32, k: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    if (!acc) memory.fill(dx, 0, <usize>(groups * width) << 2);
    for (let i = 0; i < groups * k; i++) {
      const at = <usize>i << 2;
      const place = (i / k) * width + <i32>load<f32>(indices + at);
      put1(dx + (<usize>place << 2), load<f32>(dy + at), true);
    }
    dy += <usize>dyStride << 2;
    indices += <usize>indicesStride << 2;
    dx += <usize>dxStride << 2;
  }
}
