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

/** Of a float, all but its sign. f32x4.abs() makes this anew for every four floats. */
const MAGNITUDE: u32 = 0x7fffffff;

/** A step of four weights. */
@inline
function ftrlFour(
  w: usize, norm: usize, zero: usize, g: usize, rate: v128, beta: v128, l1: v128, l2lr: v128, standard: bool,
): void {
  const grad = v128.load(g);
  const before = v128.load(norm);
  const after = f32x4.add(before, f32x4.mul(grad, grad));
  const root = f32x4.sqrt(after);
  const s = f32x4.div(f32x4.sub(root, f32x4.sqrt(before)), rate);
  const z = f32x4.add(v128.load(zero), f32x4.sub(grad, f32x4.mul(s, v128.load(w))));
  const push = standard ? v128.or(v128.and(z, f32x4.splat(-0.0)), l1) : v128.and(i32x4.shr_s(z, 31), l1);
  const step = f32x4.div(f32x4.mul(rate, f32x4.sub(push, z)), divisor<v128>(f32x4.add(f32x4.add(root, beta), l2lr)));
  v128.store(norm, after);
  v128.store(zero, z);
  v128.store(w, v128.and(step, f32x4.gt(v128.and(z, i32x4.splat(MAGNITUDE)), l1)));
}

/** A step of one weight. */
@inline
function ftrlOne(
  w: usize, norm: usize, zero: usize, g: usize, lr: f32, beta: f32, l1: f32, l2lr: f32, standard: bool,
): void {
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
}

/**
 * As applyFtrlF32 says; with `standard`, sign(zero') stands in place of neg(zero'). The loop ends in its condition:
 * engines then compute before it what does not change in it.
 */
@inline
export function stepFtrl(
  w: usize, norm: usize, zero: usize, g: usize, n: i32, lr: f32, beta: f32, l1: f32, l2: f32, standard: bool,
): void {
  if (lr == 0) {
    collectFtrl(norm, zero, g, n);
    return;
  }
  const l2lr: f32 = l2 * lr;
  const rate = f32x4.splat(lr), betas = f32x4.splat(beta), l1s = f32x4.splat(l1), l2s = f32x4.splat(l2lr);
  if (n >= 4) {
    do {
      ftrlFour(w, norm, zero, g, rate, betas, l1s, l2s, standard);
      w += 16;
      norm += 16;
      zero += 16;
      g += 16;
      n -= 4;
    } while (n >= 4);
  }
  for (; n > 0; n--, w += 4, norm += 4, zero += 4, g += 4) ftrlOne(w, norm, zero, g, lr, beta, l1, l2lr, standard);
}
