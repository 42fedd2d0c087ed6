// Dropout by counters: whether an element stays is a hash of seed, step, example and column, so the gradient finds the
// same elements without having kept them, and threads do not matter. The hash is hashU32 of src/base/random.ts.
import { gather, scatter } from "./loops";

@inline
function mix(word: u32): u32 {
  let mixed = word ^ (word >> 16);
  mixed *= 0x7feb352d;
  mixed ^= mixed >> 15;
  mixed *= 0x846ca68b;
  return mixed ^ (mixed >> 16);
}

@inline
function mix4(words: v128): v128 {
  let mixed = v128.xor(words, i32x4.shr_u(words, 16));
  mixed = i32x4.mul(mixed, i32x4.splat(0x7feb352d));
  mixed = v128.xor(mixed, i32x4.shr_u(mixed, 15));
  mixed = i32x4.mul(mixed, i32x4.splat(0x846ca68b));
  return v128.xor(mixed, i32x4.shr_u(mixed, 16));
}

/**
 * y[r, c] (+)= scale * x[r, c] where hashU32(seed, step, first + r, c) >= drop, else 0. The step is the low word of the
 * counter at `step`.
 */
export function dropoutF32(
  x: usize, xStride: i32, y: usize, yStride: i32, rows: i32, cols: i32,
  first: u32, step: usize, seed: u32, drop: u32, scale: f32, acc: i32,
): void {
  const ofStep = mix(mix(seed ^ 0x9e3779b9) ^ load<u32>(step));
  const factor = f32x4.splat(scale);
  const limit = i32x4.splat(drop);
  for (let r = 0; r < rows; r++) {
    let s = x + ((<usize>(r * xStride)) << 2);
    let d = y + ((<usize>(r * yStride)) << 2);
    const ofRow = i32x4.splat(mix(ofStep ^ ((first + <u32>r) * 0x85ebca6b)));
    let column = i32x4(0, 1, 2, 3);
    for (let left = cols; left > 0; left -= 4, s += 16, d += 16) {
      const hash = mix4(v128.xor(ofRow, i32x4.mul(column, i32x4.splat(0xc2b2ae35))));
      column = i32x4.add(column, i32x4.splat(4));
      const stays = i32x4.ge_u(hash, limit);
      if (left >= 4) {
        const v = v128.and(f32x4.mul(v128.load(s), factor), stays);
        v128.store(d, acc ? f32x4.add(v128.load(d), v) : v);
        continue;
      }
      let v = v128.and(f32x4.mul(gather(s, 4, left), factor), stays);
      if (acc) v = f32x4.add(gather(d, 4, left), v);
      scatter(d, 4, left, v);
    }
  }
}

/** dst (+)= x / divisor[0], 0 where that is 0. */
export function divideByScalarF32(
  x: usize, xStride: i32, divisor: usize, dst: usize, dstStride: i32, rows: i32, cols: i32, acc: i32,
): void {
  const by = load<f32>(divisor);
  for (let r = 0; r < rows; r++) {
    const s = x + ((<usize>(r * xStride)) << 2);
    const d = dst + ((<usize>(r * dstStride)) << 2);
    for (let c: usize = 0; c < <usize>cols << 2; c += 4) {
      const v: f32 = by == 0 ? 0 : load<f32>(s + c) / by;
      store<f32>(d + c, acc ? load<f32>(d + c) + v : v);
    }
  }
}
