// Optimizers that look at the whole row: one norm decides for all its weights. Sums over a row run in four lanes which
// are added as (0 + 1) + (2 + 3), then the tail in order; the references do the same.
import { collectFtrl } from "../dense/ftrl";
import { add, decayed, div, divisor, larger, maxLanes, mul, root, splat, sub, sumLanes } from "./lanes";

/**
 * h = g + decay * w; q' = q + max h^2; l = lr / (beta + sqrt(q')); z = h - w / l; c = ||z||; w' = 0 where c < l2 (or c
 * is 0), else z * (-l * (c - l2) / c). The weights stay where l or c is no finite number: at a rate of 0, and where
 * nothing that l divides by is above 0. State: q, one float. The gradient is overwritten with z.
 */
export function applyGroupAdagradF32(
  w: usize, state: usize, g: usize, n: i32, lr: f32, beta: f32, l2: f32, decay: f32,
): void {
  const end = w + (<usize>n << 2);
  const body = w + (<usize>(n & ~3) << 2);
  const toG = g - w; // addresses wrap alike
  let peak = splat<v128>(0);
  let p = w;
  for (; p < body; p += 16) {
    const h = decayed<v128>(load<v128>(p + toG), load<v128>(p), splat<v128>(decay));
    store<v128>(p + toG, h);
    peak = larger<v128>(peak, mul<v128>(h, h));
  }
  let top = maxLanes(peak);
  for (; p < end; p += 4) {
    const h = decayed<f32>(load<f32>(p + toG), load<f32>(p), decay);
    store<f32>(p + toG, h);
    top = max<f32>(top, h * h);
  }
  const q: f32 = load<f32>(state) + top;
  store<f32>(state, q);
  const l: f32 = lr / (beta + sqrt<f32>(q));
  let squares = splat<v128>(0);
  for (p = w; p < body; p += 16) {
    const z = sub<v128>(load<v128>(p + toG), div<v128>(load<v128>(p), splat<v128>(l)));
    store<v128>(p + toG, z);
    squares = add<v128>(squares, mul<v128>(z, z));
  }
  let sum = sumLanes(squares);
  for (; p < end; p += 4) {
    const z = sub<f32>(load<f32>(p + toG), div<f32>(load<f32>(p), l));
    store<f32>(p + toG, z);
    sum = sum + z * z;
  }
  const c = sqrt<f32>(sum);
  if (!(c <= f32.MAX_VALUE && l <= f32.MAX_VALUE)) return;
  if (c < l2 || c == 0) {
    memory.fill(w, 0, end - w);
    return;
  }
  const factor: f32 = (-l * (c - l2)) / c;
  for (p = w; p < body; p += 16) store<v128>(p, mul<v128>(splat<v128>(factor), load<v128>(p + toG)));
  for (; p < end; p += 4) store<f32>(p, factor * load<f32>(p + toG));
}

@inline
function accumulateFtrl<T>(w: usize, norm: usize, zero: usize, g: usize, lr: T): T {
  const grad = load<T>(g);
  const before = load<T>(norm);
  const after = add<T>(before, mul<T>(grad, grad));
  const s = div<T>(sub<T>(root<T>(after), root<T>(before)), lr);
  const z = sub<T>(add<T>(load<T>(zero), grad), mul<T>(s, load<T>(w)));
  store<T>(norm, after);
  store<T>(zero, z);
  return mul<T>(z, z);
}

@inline
function weighFtrl<T>(w: usize, norm: usize, zero: usize, lr: T, factor: T, beta: T, l2lr: T): void {
  const scaled = mul<T>(mul<T>(lr, load<T>(zero)), factor);
  store<T>(w, div<T>(scaled, divisor<T>(add<T>(add<T>(beta, root<T>(load<T>(norm))), l2lr))));
}

/**
 * norm' = norm + g^2; s = (sqrt(norm') - sqrt(norm)) / lr; zero' = (zero + g) - s * w; c = ||zero'||; w' = 0 where
 * c < l1 (or c is 0), else lr * zero' * ((l1 - c) / c) / ((beta + sqrt(norm')) + l2 * lr). At a rate of 0 as
 * collectFtrl. State: norm[n], zero[n].
 */
export function applyGroupFtrlF32(
  w: usize, state: usize, g: usize, n: i32, lr: f32, beta: f32, l1: f32, l2: f32,
): void {
  if (lr == 0) {
    collectFtrl(state, state + (<usize>n << 2), g, n);
    return;
  }
  const end = w + (<usize>n << 2);
  const body = w + (<usize>(n & ~3) << 2);
  const toNorm = state - w;
  const toZero = toNorm + (<usize>n << 2);
  const toG = g - w;
  const vLr = splat<v128>(lr);
  let squares = splat<v128>(0);
  let p = w;
  for (; p < body; p += 16) {
    squares = add<v128>(squares, accumulateFtrl<v128>(p, p + toNorm, p + toZero, p + toG, vLr));
  }
  let sum = sumLanes(squares);
  for (; p < end; p += 4) sum = sum + accumulateFtrl<f32>(p, p + toNorm, p + toZero, p + toG, lr);
  const c = sqrt<f32>(sum);
  if (c < l1 || c == 0) {
    memory.fill(w, 0, end - w);
    return;
  }
  // Zeros of a tiny rate are so long that their squares are infinite: l1 is nothing to them.
  const factor: f32 = c <= f32.MAX_VALUE ? (l1 - c) / c : -1;
  const l2lr: f32 = l2 * lr;
  const vFactor = splat<v128>(factor), vBeta = splat<v128>(beta), vL2 = splat<v128>(l2lr);
  for (p = w; p < body; p += 16) weighFtrl<v128>(p, p + toNorm, p + toZero, vLr, vFactor, vBeta, vL2);
  for (; p < end; p += 4) weighFtrl<f32>(p, p + toNorm, p + toZero, lr, factor, beta, l2lr);
}
