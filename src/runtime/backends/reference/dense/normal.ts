/** @file The standard normal distribution in f64, for the reference kernels: Math has no erf. */

/** Below this a series of positive terms is exact; above it a continued fraction is. */
const SERIES_MAX = 3;

/** The share of a standard normal below `x`. */
export function normalCdf(x: number): number {
  const size = Math.abs(x);
  if (Number.isNaN(x) || size === Number.POSITIVE_INFINITY) return x === size ? 1 : x === -size ? 0 : x;
  if (size < SERIES_MAX) {
    const half = normalPdf(size) * series(size);
    return x < 0 ? 0.5 - half : 0.5 + half;
  }
  const tail = normalPdf(size) / fraction(size);
  return x < 0 ? tail : 1 - tail;
}

export function normalPdf(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/** x + x^3 / 3 + x^5 / (3 * 5) + … */
function series(x: number): number {
  let [sum, term] = [x, x];
  for (let n = 3; term > sum * 1e-17; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return sum;
}

/** x + 1 / (x + 2 / (x + 3 / …)): the density over the tail. */
function fraction(x: number): number {
  let value = x;
  for (let k = 120; k > 0; k--) value = x + k / value;
  return value;
}
