/** @file The logistic function in f64, for the reference kernels. */

/** 1 / (1 + exp(-x)) in f64, from exp of a negative number only. */
export function logistic(x: number): number {
  const e = Math.exp(-Math.abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
