// FTRL with the l1 of the literature. The one upstream has, with its indicator in place of the sign, is in
// dense/optimizers.ts and is the default.
import { stepFtrl } from "../dense/ftrl";

/**
 * As applyFtrlF32 with sign in place of the indicator: w = lr * (sign(zero') * l1 - zero') / (...) where |zero'| > l1,
 * else 0: both signs shrink towards 0.
 */
export function applyStandardFtrlF32(
  w: usize, norm: usize, zero: usize, g: usize, n: i32, lr: f32, beta: f32, l1: f32, l2: f32,
): void {
  stepFtrl(w, norm, zero, g, n, lr, beta, l1, l2, true);
}
