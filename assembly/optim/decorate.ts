// What can be put around a row optimizer: delay compensation of the gradient before its step, rounding of the weights
// to half precision after it.
import { WORD } from "../units";
import { mix64 } from "../hash";
import { halfTowardZero, halfToF32 } from "../half";
import { add, mul, splat, sub } from "./lanes";

@inline
function compensate<T>(g: usize, w: usize, latest: usize, lambda: T): void {
  const grad = load<T>(g);
  store<T>(g, add<T>(grad, mul<T>(mul<T>(mul<T>(lambda, grad), grad), sub<T>(load<T>(w), load<T>(latest)))));
}

/** g' = g + lambda * g * g * (w - latest), `latest` being the weights the worker saw. */
export function compensateDelayF32(g: usize, w: usize, latest: usize, n: i32, lambda: f32): void {
  const vLambda = splat<v128>(lambda);
  let left = n;
  for (; left >= 4; left -= 4, g += 16, w += 16, latest += 16) compensate<v128>(g, w, latest, vLambda);
  for (; left > 0; left--, g += 4, w += 4, latest += 4) compensate<f32>(g, w, latest, lambda);
}

/**
 * A number in [0, 1] from the pair of multiply-with-carry words at `generator`: the stream of the reference. A pair
 * starts as (0, 1), and the first word then stays 0. Its numbers end at 0.275, so tables do not round by it.
 */
export function nextMwc(generator: usize): f32 {
  let a = load<u32>(generator);
  let b = load<u32>(generator, WORD);
  a = 36969 * (a & 65535) + (a >> 16);
  b = 18000 * (b & 65535) + (b >> 16);
  store<u32>(generator, a);
  store<u32>(generator, b, WORD);
  return <f32>(((a & 65535) << 16) + b) / 4294967296;
}

/** x as one of the two halves around it: the upper one when p is at most x's share of the way from the lower. */
export function roundToHalf(x: f32, p: f32): f32 {
  if (x != x) return x;
  const inner = halfTowardZero(x);
  const near = halfToF32(inner);
  if (near == x) return x; // also keeps the sign of zero
  const far = halfToF32(inner + 1); // the next magnitude; from the largest half on, infinity
  const down = x < 0 ? far : near;
  const up = x < 0 ? near : far;
  return p <= (x - down) / (up - down) ? up : down;
}

/** What the draws of the row of `id` at `step` come from. */
export function roundingKey(seed: u32, id: i64, step: i64): u64 {
  return mix64(mix64(<u64>id ^ (<u64>seed * 0x9E3779B97F4A7C15)) ^ mix64(<u64>step + 0x9E3779B97F4A7C15));
}

/**
 * Rounds `n` weights of a row in place, the first of them in column `first`. A draw is a hash of the key and the
 * column, one of 2^24 steps above 0 up to 1, of which as many are at most x's share as that share says: the mean of
 * what becomes of x is x.
 */
export function roundToHalfF32(w: usize, n: i32, key: u64, first: u32): void {
  for (let i = 0; i < n; i++, w += 4) {
    const bits = <u32>(mix64(key + <u64>(first + <u32>i) * 0xD1B54A32D192ED03) >> 40);
    store<f32>(w, roundToHalf(load<f32>(w), <f32>(bits + 1) * <f32>5.9604644775390625e-8));
  }
}
