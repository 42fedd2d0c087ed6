// The FTRL step of both kinds of l1. Not exported by the module: `standard` is a constant where this is inlined.
import { add, divisor, mul } from "../optim/lanes";

@inline
function collect<T>(norm: usize, zero: usize, g: usize): void {
  const grad = load<T>(g);
  store<T>(norm, add<T>(load<T>(norm), mul<T>(grad, grad)));
  store<T>(zero, add<T>(load<T>(zero), grad));
}

/** A step at a rate of 0: weights stay, their sums go on. A warm-up begins with one. */
export function collectFtrl(norm: usize, zero: usize, g: usize, n: i32): void {
  for (; n >= 4; n -= 4, norm += 16, zero += 16, g += 16) collect<v128>(norm, zero, g);
  for (; n > 0; n--, norm += 4, zero += 4, g += 4) collect<f32>(norm, zero, g);
}

/** As applyFtrlF32 says; with `standard`, sign(zero') stands in place of neg(zero'). */
@inline
export function stepFtrl(
  w: usize, norm: usize, zero: usize, g: usize, n: i32, lr: f32, beta: f32, l1: f32, l2: f32, standard: bool,
): void {
  if (lr == 0) {
    collectFtrl(norm, zero, g, n);
    return;
  }
  const l2lr: f32 = l2 * lr;
  const rate = f32x4.splat(lr);
  const betas = f32x4.splat(beta);
  const l1s = f32x4.splat(l1);
  const l2s = f32x4.splat(l2lr);
  let left = n;
  while (left >= 4) {
    const grad = v128.load(g);
    const before = v128.load(norm);
    const after = f32x4.add(before, f32x4.mul(grad, grad));
    const root = f32x4.sqrt(after);
    const s = f32x4.div(f32x4.sub(root, f32x4.sqrt(before)), rate);
    const z = f32x4.add(v128.load(zero), f32x4.sub(grad, f32x4.mul(s, v128.load(w))));
    const push = standard ? v128.or(v128.and(z, f32x4.splat(-0.0)), l1s) : v128.and(i32x4.shr_s(z, 31), l1s);
    const step = f32x4.div(f32x4.mul(rate, f32x4.sub(push, z)), divisor<v128>(f32x4.add(f32x4.add(root, betas), l2s)));
    v128.store(norm, after);
    v128.store(zero, z);
    v128.store(w, v128.and(step, f32x4.gt(f32x4.abs(z), l1s)));
    w += 16;
    norm += 16;
    zero += 16;
    g += 16;
    left -= 4;
  }
  while (left > 0) {
    const grad = load<f32>(g);
    const before = load<f32>(norm);
    const after: f32 = before + grad * grad;
    const root = sqrt<f32>(after);
    const s: f32 = (root - sqrt<f32>(before)) / lr;
    const z: f32 = load<f32>(zero) + (grad - s * load<f32>(w));
    // Masks, not choices: a choice of floats compiles to a branch, and half the signs would be guessed wrong.
    const push = standard ? copysign<f32>(l1, z) : reinterpret<f32>((reinterpret<i32>(z) >> 31) & reinterpret<i32>(l1));
    const step: f32 = (lr * (push - z)) / divisor<f32>((root + beta) + l2lr);
    store<f32>(norm, after);
    store<f32>(zero, z);
    store<i32>(w, reinterpret<i32>(step) & -i32(abs<f32>(z) > l1));
    w += 4;
    norm += 4;
    zero += 4;
    g += 4;
    left--;
  }
}
