// Adam and amsgrad over one row. The powers of the betas are kept per row, so the bias correction counts that row's own
// updates and not the global step.
import { FLOAT } from "../units";
import { add, decayed, div, divisor, larger, mul, root, splat, sub } from "./lanes";

@inline
export function stepAdam<T>(
  w: usize, m: usize, v: usize, vhat: usize, g: usize,
  rate: T, beta1: T, rest1: T, rest2: T, decay: T, epsilon: T, nesterov: bool, keepsMax: bool,
): void {
  const weight = load<T>(w);
  const h = decayed<T>(load<T>(g), weight, decay);
  const mean = load<T>(m);
  const first = add<T>(mean, mul<T>(sub<T>(h, mean), rest1));
  const square = load<T>(v);
  const second = add<T>(square, mul<T>(sub<T>(mul<T>(h, h), square), rest2));
  store<T>(m, first);
  store<T>(v, second);
  let scale = second;
  if (keepsMax) {
    scale = larger<T>(load<T>(vhat), second);
    store<T>(vhat, scale);
  }
  const direction = nesterov ? add<T>(mul<T>(h, rest1), mul<T>(beta1, first)) : first;
  store<T>(w, sub<T>(weight, div<T>(mul<T>(direction, rate), add<T>(root<T>(scale), epsilon))));
}

/**
 * A power that runs out of normal floats becomes 0, which changes no step: 1 less either is 1. Left alone it would stay
 * at the smallest subnormal for good, and arithmetic on that made a step of 16 weights more than twice as slow.
 */
@inline
function nextPower(power: f32, beta: f32): f32 {
  const next: f32 = power * beta;
  return next < <f32>1.17549435e-38 ? 0 : next;
}

/**
 * A step of either; `keepsMax` is amsgrad. Both flags are known where it is put; `epsilon` is a divisor() already. The
 * loop ends in its condition: what does not change in it is then computed before.
 */
@inline
export function adamStep(
  w: usize, state: usize, g: usize, n: i32,
  lr: f32, beta1: f32, beta2: f32, decay: f32, epsilon: f32, nesterov: bool, keepsMax: bool,
): void {
  const block = <usize>n << 2;
  let m = state;
  let v = state + block;
  let vhat = v + block;
  const powers = keepsMax ? vhat + block : vhat;
  const power1 = load<f32>(powers);
  const power2 = load<f32>(powers, FLOAT);
  const rate: f32 = (lr * sqrt<f32>(1 - power2)) / (1 - power1);
  const rest1: f32 = 1 - beta1;
  const rest2: f32 = 1 - beta2;
  const vRate = splat<v128>(rate);
  const vBeta1 = splat<v128>(beta1);
  const vRest1 = splat<v128>(rest1);
  const vRest2 = splat<v128>(rest2);
  const vDecay = splat<v128>(decay), vEps = splat<v128>(epsilon);
  let left = n;
  if (left >= 4) {
    do {
      stepAdam<v128>(w, m, v, vhat, g, vRate, vBeta1, vRest1, vRest2, vDecay, vEps, nesterov, keepsMax);
      left -= 4;
      w += 16;
      m += 16;
      v += 16;
      vhat += 16;
      g += 16;
    } while (left >= 4);
  }
  for (; left > 0; left--, w += 4, m += 4, v += 4, vhat += 4, g += 4) {
    stepAdam<f32>(w, m, v, vhat, g, rate, beta1, rest1, rest2, decay, epsilon, nesterov, keepsMax);
  }
  store<f32>(powers, nextPower(power1, beta1));
  store<f32>(powers, nextPower(power2, beta2), FLOAT);
}

/**
 * rate = lr * sqrt(1 - power2) / (1 - power1); h = g + decay * w; m' = m + (h - m) * (1 - beta1);
 * v' = v + (h^2 - v) * (1 - beta2); w' = w - d * rate / (sqrt(v') + epsilon), d = m' or with nesterov
 * h * (1 - beta1) + beta1 * m'; then the powers advance. An epsilon of 0 is the root of the smallest float. State:
 * m[n], v[n], power1, power2.
 */
export function applyAdamF32(
  w: usize, state: usize, g: usize, n: i32,
  lr: f32, beta1: f32, beta2: f32, decay: f32, epsilon: f32, nesterov: i32,
): void {
  const eps = divisor<f32>(epsilon);
  if (nesterov != 0) adamStep(w, state, g, n, lr, beta1, beta2, decay, eps, true, false);
  else adamStep(w, state, g, n, lr, beta1, beta2, decay, eps, false, false);
}

/** Adam with vhat' = max(vhat, v') in place of v' in the denominator. State: m[n], v[n], vhat[n], power1, power2. */
export function applyAmsgradF32(
  w: usize, state: usize, g: usize, n: i32,
  lr: f32, beta1: f32, beta2: f32, decay: f32, epsilon: f32, nesterov: i32,
): void {
  const eps = divisor<f32>(epsilon);
  if (nesterov != 0) adamStep(w, state, g, n, lr, beta1, beta2, decay, eps, true, true);
  else adamStep(w, state, g, n, lr, beta1, beta2, decay, eps, false, true);
}
