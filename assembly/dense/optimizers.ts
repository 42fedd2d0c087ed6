// Optimizer steps over `n` consecutive floats, f32 at every operation and no fused multiply-add. Lanes are
// independent, so body and tail agree bit for bit. The table code runs these once per row (n = 1..64, any 4-byte
// alignment), the dense part once per range: no branch here depends on the data. A rule is a function that is put into
// its caller's loop, and a kernel that is that function alone.
import { V1 } from "../units";
import { add, decayed, div, divisor, mul, root, sub } from "../optim/lanes";
import { stepFtrl } from "./ftrl";

/** w -= lr * g. */
@inline
export function sgdStep(w: usize, g: usize, n: i32, lr: f32): void {
  const rate = f32x4.splat(lr);
  let left = n;
  while (left >= 4) {
    v128.store(w, f32x4.sub(v128.load(w), f32x4.mul(rate, v128.load(g))));
    w += 16;
    g += 16;
    left -= 4;
  }
  while (left > 0) {
    store<f32>(w, load<f32>(w) - lr * load<f32>(g));
    w += 4;
    g += 4;
    left--;
  }
}

export function applySgdF32(w: usize, g: usize, n: i32, lr: f32): void {
  sgdStep(w, g, n, lr);
}

/** Of four weights, or of one; `decays`, whether decay is not 0, is known where this is put. */
@inline
function adagradWeights<T>(w: usize, norm: usize, g: usize, rate: T, decay: T, decays: bool): void {
  const weight = load<T>(w);
  const h = decays ? decayed<T>(load<T>(g), weight, decay) : load<T>(g);
  const sum = add<T>(load<T>(norm), mul<T>(h, h));
  store<T>(norm, sum);
  store<T>(w, sub<T>(weight, mul<T>(div<T>(rate, divisor<T>(root<T>(sum))), h)));
}

/**
 * Two vectors side by side, stored together: what engines join to 256 bits. Square root and division take as long for
 * eight floats as for four.
 */
@inline
function adagradPair(w: usize, norm: usize, g: usize, rate: v128, decay: v128, decays: bool): void {
  const weight0 = v128.load(w);
  const weight1 = v128.load(w, V1);
  const h0 = decays ? decayed<v128>(v128.load(g), weight0, decay) : v128.load(g);
  const h1 = decays ? decayed<v128>(v128.load(g, V1), weight1, decay) : v128.load(g, V1);
  const sum0 = f32x4.add(v128.load(norm), f32x4.mul(h0, h0));
  const sum1 = f32x4.add(v128.load(norm, V1), f32x4.mul(h1, h1));
  const next0 = f32x4.sub(weight0, f32x4.mul(f32x4.div(rate, divisor<v128>(f32x4.sqrt(sum0))), h0));
  const next1 = f32x4.sub(weight1, f32x4.mul(f32x4.div(rate, divisor<v128>(f32x4.sqrt(sum1))), h1));
  v128.store(norm, sum0);
  v128.store(norm, sum1, V1);
  v128.store(w, next0);
  v128.store(w, next1, V1);
}

/**
 * h = g + decay * w; norm += h * h; w -= lr / sqrt(norm) * h. No epsilon: the initial norm keeps steps small, and 0 / 0
 * is 0. Without decay, as most rows are, h is g.
 */
@inline
export function adagradStep(w: usize, norm: usize, g: usize, n: i32, lr: f32, decay: f32, decays: bool): void {
  const rate = f32x4.splat(lr);
  const shrink = f32x4.splat(decay);
  for (; n >= 8; n -= 8, w += 32, norm += 32, g += 32) adagradPair(w, norm, g, rate, shrink, decays);
  for (; n >= 4; n -= 4, w += 16, norm += 16, g += 16) adagradWeights<v128>(w, norm, g, rate, shrink, decays);
  for (; n > 0; n--, w += 4, norm += 4, g += 4) adagradWeights<f32>(w, norm, g, lr, decay, decays);
}

export function applyAdagradF32(w: usize, norm: usize, g: usize, n: i32, lr: f32, decay: f32): void {
  if (decay == 0) adagradStep(w, norm, g, n, lr, decay, false);
  else adagradStep(w, norm, g, n, lr, decay, true);
}

/**
 * norm' = norm + g * g; s = (sqrt(norm') - sqrt(norm)) / lr; zero' = zero + (g - s * w);
 * w = lr * (neg(zero') * l1 - zero') / ((sqrt(norm') + beta) + l2 * lr) where |zero'| > l1, else 0.
 *
 * neg is 1 where the sign bit is set and 0 elsewhere, not the sign: upstream's numbers depend on it. At a rate of 0,
 * where s is not defined, norm' = norm + g * g; zero' = zero + g, and the weights stay.
 */
export function applyFtrlF32(
  w: usize, norm: usize, zero: usize, g: usize, n: i32, lr: f32, beta: f32, l1: f32, l2: f32,
): void {
  stepFtrl(w, norm, zero, g, n, lr, beta, l1, l2, false);
}
