// Optimizers of dense variables that the rows of tables do not have. f32 at every operation; a thread may step any
// range.
import { add, decayed, div, divisor, mul, root, splat, sub } from "./lanes";

@inline
function stepAdamom<T>(
  w: usize, m: usize, v: usize, c: usize, g: usize,
  lr: T, ada: T, mom: T, rest: T, epsilon: T, decay: T, one: T, second: bool, updates: bool,
): void {
  const weight = load<T>(w);
  let mean = load<T>(m);
  let square = load<T>(v);
  let count = load<T>(c);
  if (updates) {
    const h = decayed<T>(load<T>(g), weight, decay);
    mean = add<T>(mul<T>(mom, mean), mul<T>(rest, h));
    square = add<T>(mul<T>(ada, square), mul<T>(h, h));
    count = add<T>(mul<T>(ada, count), one);
    store<T>(m, mean);
    store<T>(v, square);
    store<T>(c, count);
  }
  const ratio = div<T>(square, divisor<T>(count));
  const scale = second ? add<T>(root<T>(ratio), epsilon) : root<T>(add<T>(ratio, epsilon));
  store<T>(w, sub<T>(weight, div<T>(mul<T>(mean, lr), divisor<T>(scale))));
}

/**
 * h = decay * w + g; m' = mom * m + (1 - mom) * h; v' = ada * v + h^2; c' = ada * c + 1;
 * w' = w - m' * lr / sqrt(v' / c' + epsilon), or with `second` / (sqrt(v' / c') + epsilon). Without `updates` the slots
 * stay.
 */
export function applyAdamomF32(
  w: usize, m: usize, v: usize, c: usize, g: usize, n: i32,
  lr: f32, ada: f32, mom: f32, epsilon: f32, decay: f32, second: i32, updates: i32,
): void {
  const rest: f32 = 1 - mom;
  let left = n;
  const vLr = splat<v128>(lr), vAda = splat<v128>(ada), vMom = splat<v128>(mom), vRest = splat<v128>(rest);
  const vEps = splat<v128>(epsilon), vDecay = splat<v128>(decay), vOne = splat<v128>(1);
  for (; left >= 4; left -= 4, w += 16, m += 16, v += 16, c += 16, g += 16) {
    stepAdamom<v128>(w, m, v, c, g, vLr, vAda, vMom, vRest, vEps, vDecay, vOne, second != 0, updates != 0);
  }
  for (; left > 0; left--, w += 4, m += 4, v += 4, c += 4, g += 4) {
    stepAdamom<f32>(w, m, v, c, g, lr, ada, mom, rest, epsilon, decay, 1, second != 0, updates != 0);
  }
}

@inline
function stepRmsprop<T>(
  w: usize, m: usize, v: usize, g: usize, lr: T, beta1: T, beta2: T, rest2: T, epsilon: T, decay: T, second: bool,
): void {
  const weight = load<T>(w);
  const h = decayed<T>(load<T>(g), weight, decay);
  const before = load<T>(v);
  const hh = mul<T>(h, h);
  const square = second ? add<T>(mul<T>(beta2, before), hh) : add<T>(before, mul<T>(sub<T>(hh, before), rest2));
  const scale = second ? add<T>(root<T>(square), epsilon) : root<T>(add<T>(square, epsilon));
  const mean = add<T>(mul<T>(beta1, load<T>(m)), div<T>(mul<T>(h, lr), divisor<T>(scale)));
  store<T>(v, square);
  store<T>(m, mean);
  store<T>(w, sub<T>(weight, mean));
}

/**
 * h = decay * w + g; v' = v + (h^2 - v) * (1 - beta2); m' = beta1 * m + h * lr / sqrt(v' + epsilon); w' = w - m'.
 * With `second` v' = beta2 * v + h^2 and m' = beta1 * m + h * lr / (sqrt(v') + epsilon).
 */
export function applyDenseRmspropF32(
  w: usize, m: usize, v: usize, g: usize, n: i32,
  lr: f32, beta1: f32, beta2: f32, epsilon: f32, decay: f32, second: i32,
): void {
  const rest2: f32 = 1 - beta2;
  let left = n;
  const vLr = splat<v128>(lr), vBeta1 = splat<v128>(beta1), vBeta2 = splat<v128>(beta2), vRest2 = splat<v128>(rest2);
  const vEps = splat<v128>(epsilon), vDecay = splat<v128>(decay);
  for (; left >= 4; left -= 4, w += 16, m += 16, v += 16, g += 16) {
    stepRmsprop<v128>(w, m, v, g, vLr, vBeta1, vBeta2, vRest2, vEps, vDecay, second != 0);
  }
  for (; left > 0; left--, w += 4, m += 4, v += 4, g += 4) {
    stepRmsprop<f32>(w, m, v, g, lr, beta1, beta2, rest2, epsilon, decay, second != 0);
  }
}
