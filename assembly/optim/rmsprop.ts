// Both rmsprops of the row optimizers. Everything between the loads and the stores is f64, two lanes at a time.

@inline
function half(w: v128, state: v128, g: v128, decay: v128, mu: v128, rest: v128): v128 {
  // Returns n' already rounded to f32 in the low two lanes; dx is made again by the caller, which is cheaper than two
  // results.
  const dx = f64x2.add(g, f64x2.mul(decay, w));
  return f32x4.demote_f64x2_zero(f64x2.add(f64x2.mul(mu, state), f64x2.mul(rest, f64x2.mul(dx, dx))));
}

@inline
function run(w: usize, state: usize, g: usize, n: i32, lr: f32, decay: f32, mu: f32, rest: f64): void {
  const vDecay = f64x2.splat(<f64>decay);
  const vMu = f64x2.splat(<f64>mu);
  const vRest = f64x2.splat(rest);
  const vLr = f64x2.splat(<f64>lr);
  const one = f64x2.splat(1);
  let left = n;
  for (; left >= 2; left -= 2, w += 8, state += 8, g += 8) {
    const weight = f64x2.promote_low_f32x4(v128.load64_zero(w));
    const grad = f64x2.promote_low_f32x4(v128.load64_zero(g));
    const after = half(weight, f64x2.promote_low_f32x4(v128.load64_zero(state)), grad, vDecay, vMu, vRest);
    const scale = f64x2.div(vLr, f64x2.add(f64x2.sqrt(f64x2.promote_low_f32x4(after)), one));
    const dx = f64x2.add(grad, f64x2.mul(vDecay, weight));
    v128.store64_lane(state, after, 0);
    v128.store64_lane(w, f32x4.demote_f64x2_zero(f64x2.sub(weight, f64x2.mul(scale, dx))), 0);
  }
  if (left > 0) {
    const weight = <f64>load<f32>(w);
    const dx: f64 = <f64>load<f32>(g) + <f64>decay * weight;
    const after = <f32>(<f64>mu * <f64>load<f32>(state) + rest * (dx * dx));
    store<f32>(state, after);
    store<f32>(w, <f32>(weight - (<f64>lr / (sqrt<f64>(<f64>after) + 1)) * dx));
  }
}

/** dx = g + decay * w; n' = f32(mu * n + (1 - mu) * dx^2); w' = w - lr / (sqrt(n') + 1) * dx. State: n[n]. */
export function applyRmspropF32(w: usize, state: usize, g: usize, n: i32, lr: f32, decay: f32, mu: f32): void {
  run(w, state, g, n, lr, decay, mu, 1 - <f64>mu);
}

/** The same with n' = f32(mu * n + dx^2). */
export function applyRmspropV2F32(w: usize, state: usize, g: usize, n: i32, lr: f32, decay: f32, mu: f32): void {
  run(w, state, g, n, lr, decay, mu, 1);
}
