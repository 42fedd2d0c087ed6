// Rules of TensorFlow for dense variables: momentum and adam with slots of their own. f32 at every operation; a thread
// may step any range.
import { stepAdam } from "./adam";
import { add, divisor, mul, splat, sub } from "./lanes";

@inline
function stepMomentum<T>(w: usize, accum: usize, g: usize, lr: T, mu: T, nesterov: bool): void {
  const gradient = load<T>(g);
  const after = add<T>(mul<T>(mu, load<T>(accum)), gradient);
  store<T>(accum, after);
  const step = nesterov ? add<T>(mul<T>(gradient, lr), mul<T>(mul<T>(after, mu), lr)) : mul<T>(lr, after);
  store<T>(w, sub<T>(load<T>(w), step));
}

/**
 * accum' = mu * accum + g; w' = w - lr * accum', or with nesterov w - (g * lr + accum' * mu * lr). The rate is not in
 * the slot.
 */
export function applyDenseMomentumF32(
  w: usize, accum: usize, g: usize, n: i32, lr: f32, mu: f32, nesterov: i32,
): void {
  const vLr = splat<v128>(lr), vMu = splat<v128>(mu);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, accum += 16, g += 16) stepMomentum<v128>(w, accum, g, vLr, vMu, nesterov != 0);
  for (; left > 0; left--, w += 4, accum += 4, g += 4) stepMomentum<f32>(w, accum, g, lr, mu, nesterov != 0);
}

/**
 * The step of applyAdamF32 with slots and powers anywhere; the powers stay as they are, since all variables share them.
 */
export function applyDenseAdamF32(
  w: usize, m: usize, v: usize, g: usize, n: i32,
  lr: f32, power1: usize, power2: usize, beta1: f32, beta2: f32, decay: f32, epsilon: f32, nesterov: i32,
): void {
  const rate: f32 = (lr * sqrt<f32>(1 - load<f32>(power2))) / (1 - load<f32>(power1));
  const rest1: f32 = 1 - beta1, rest2: f32 = 1 - beta2;
  const vRate = splat<v128>(rate);
  const vBeta1 = splat<v128>(beta1);
  const vRest1 = splat<v128>(rest1);
  const vRest2 = splat<v128>(rest2);
  const eps = divisor<f32>(epsilon);
  const vDecay = splat<v128>(decay), vEps = splat<v128>(eps);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, m += 16, v += 16, g += 16) {
    stepAdam<v128>(w, m, v, 0, g, vRate, vBeta1, vRest1, vRest2, vDecay, vEps, nesterov != 0, false);
  }
  for (; left > 0; left--, w += 4, m += 4, v += 4, g += 4) {
    stepAdam<f32>(w, m, v, 0, g, rate, beta1, rest1, rest2, decay, eps, nesterov != 0, false);
  }
}
