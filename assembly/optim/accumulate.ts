// Row optimizers that keep running sums: adadelta, momentum, moving average, and adagrad with decoupled decay. f32 at
// every operation, no fused multiply-add, any 4-byte alignment. State blocks of `n` floats follow each other.
import { add, decayed, div, divisor, mul, root, splat, sub } from "./lanes";

@inline
function stepAdadelta<T>(
  w: usize, accum: usize, update: usize, g: usize, lr: T, decay: T, rho: T, rest: T, eps: T,
): void {
  const weight = load<T>(w);
  const h = decayed<T>(load<T>(g), weight, decay);
  const a = add<T>(mul<T>(load<T>(accum), rho), mul<T>(mul<T>(h, h), rest));
  const before = load<T>(update);
  const u = mul<T>(div<T>(root<T>(add<T>(before, eps)), divisor<T>(root<T>(add<T>(a, eps)))), h);
  store<T>(accum, a);
  store<T>(w, sub<T>(weight, mul<T>(u, lr)));
  store<T>(update, add<T>(mul<T>(before, rho), mul<T>(mul<T>(u, u), rest)));
}

/**
 * h = g + decay * w; accum' = accum * rho + h^2 * (1 - rho); u = sqrt(update + eps) / sqrt(accum' + eps) * h;
 * w' = w - u * lr; update' = update * rho + u^2 * (1 - rho). State: accum[n], update[n].
 */
export function applyAdadeltaF32(
  w: usize, state: usize, g: usize, n: i32, lr: f32, decay: f32, rho: f32, epsilon: f32,
): void {
  const rest: f32 = 1 - rho;
  let accum = state;
  let update = state + (<usize>n << 2);
  const vLr = splat<v128>(lr), vDecay = splat<v128>(decay), vRho = splat<v128>(rho), vRest = splat<v128>(rest);
  const vEps = splat<v128>(epsilon);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, accum += 16, update += 16, g += 16) {
    stepAdadelta<v128>(w, accum, update, g, vLr, vDecay, vRho, vRest, vEps);
  }
  for (; left > 0; left--, w += 4, accum += 4, update += 4, g += 4) {
    stepAdadelta<f32>(w, accum, update, g, lr, decay, rho, rest, epsilon);
  }
}

@inline
function stepMomentum<T>(w: usize, state: usize, g: usize, lr: T, decay: T, mu: T, onePlus: T, nesterov: bool): void {
  const weight = load<T>(w);
  const dx = mul<T>(lr, decayed<T>(load<T>(g), weight, decay));
  const before = mul<T>(mu, load<T>(state));
  const after = sub<T>(before, dx);
  store<T>(state, after);
  store<T>(w, nesterov ? add<T>(sub<T>(weight, before), mul<T>(onePlus, after)) : add<T>(weight, after));
}

/**
 * dx = lr * (g + decay * w); n' = mu * n - dx; w' = w + n', or with nesterov (w - mu * n) + (1 + mu) * n'. State: n[n].
 */
export function applyMomentumF32(
  w: usize, state: usize, g: usize, n: i32, lr: f32, decay: f32, mu: f32, nesterov: i32,
): void {
  const onePlus: f32 = 1 + mu;
  const vLr = splat<v128>(lr), vDecay = splat<v128>(decay), vMu = splat<v128>(mu), vOnePlus = splat<v128>(onePlus);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, state += 16, g += 16) {
    stepMomentum<v128>(w, state, g, vLr, vDecay, vMu, vOnePlus, nesterov != 0);
  }
  for (; left > 0; left--, w += 4, state += 4, g += 4) {
    stepMomentum<f32>(w, state, g, lr, decay, mu, onePlus, nesterov != 0);
  }
}

/** w' = mu * w + (1 - mu) * g: the gradient is the value that was observed. No state, no rate. */
export function applyMovingAverageF32(w: usize, g: usize, n: i32, mu: f32): void {
  const rest: f32 = 1 - mu;
  const vMu = splat<v128>(mu), vRest = splat<v128>(rest);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, g += 16) {
    store<v128>(w, add<v128>(mul<v128>(vMu, load<v128>(w)), mul<v128>(vRest, load<v128>(g))));
  }
  for (; left > 0; left--, w += 4, g += 4) store<f32>(w, mu * load<f32>(w) + rest * load<f32>(g));
}

@inline
function stepDecoupled<T>(w: usize, norm: usize, g: usize, lr: T, shrink: T): void {
  const weight = load<T>(w);
  const h = load<T>(g);
  const sum = add<T>(load<T>(norm), mul<T>(h, h));
  store<T>(norm, sum);
  store<T>(w, sub<T>(sub<T>(weight, mul<T>(div<T>(lr, divisor<T>(root<T>(sum))), h)), mul<T>(shrink, weight)));
}

/**
 * Adagrad whose decay stays out of the accumulator: w' = (w - lr / sqrt(norm') * g) - (lr * decay) * w. State: norm[n].
 */
export function applyDecoupledAdagradF32(w: usize, norm: usize, g: usize, n: i32, lr: f32, decay: f32): void {
  const shrink: f32 = lr * decay;
  const vLr = splat<v128>(lr), vShrink = splat<v128>(shrink);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, norm += 16, g += 16) stepDecoupled<v128>(w, norm, g, vLr, vShrink);
  for (; left > 0; left--, w += 4, norm += 4, g += 4) stepDecoupled<f32>(w, norm, g, lr, shrink);
}
