/**
 * @file Functions of one number with their slopes, and how exactly kernels compute both.
 *
 * Errors are in units of U (half a unit in the last place of 1) and absolute: `error(x)` of the value, `slopeError(x)`
 * of the slope. What kernels promise is said beside them in `assembly/dense`: exp within 1 ulp, log and log1pUnit
 * within 2, log1p within 4.
 */

export interface Curve {
  f(x: number): number;
  slope(x: number): number;
  error(x: number): number;
  slopeError(x: number): number;
}

const sigmoidAt = (x: number): number => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplusAt = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
/** A few roundings and the argument's own: exp of a product of x is off by the error of that product. */
const relative = (f: (x: number) => number, ulps: number) => (x: number) => ulps * Math.abs(f(x));

/** Straight pieces: no rounding in the value but of a factor, none in the slope. */
const straight = (f: (x: number) => number, slope: (x: number) => number): Curve => {
  return { f, slope, error: relative(f, 2), slopeError: relative(slope, 1) };
};

export const relu = straight(
  (x) => Math.max(x, 0),
  (x) => (x > 0 ? 1 : 0),
);
/** x below zero, nothing above it. */
export const below = straight(
  (x) => Math.min(x, 0),
  (x) => (x > 0 ? 0 : 1),
);
export const abs = straight(Math.abs, Math.sign);
export const sign: Curve = { f: Math.sign, slope: () => 0, error: () => 0, slopeError: () => 0 };
export const leakyRelu = (slope: number): Curve =>
  straight(
    (x) => (x > 0 ? x : slope * x),
    (x) => (x > 0 ? 1 : slope),
  );

export const exp: Curve = {
  f: Math.exp,
  slope: Math.exp,
  error: relative(Math.exp, 4),
  slopeError: relative(Math.exp, 8),
};
export const log: Curve = {
  f: Math.log,
  slope: (x) => 1 / x,
  error: relative(Math.log, 6),
  slopeError: relative((x) => 1 / x, 4),
};
export const log1p: Curve = {
  f: Math.log1p,
  slope: (x) => 1 / (1 + x),
  error: relative(Math.log1p, 10),
  slopeError: relative((x) => 1 / (1 + x), 4),
};
export const sqrt: Curve = {
  f: Math.sqrt,
  slope: (x) => 0.5 / Math.sqrt(x),
  error: relative(Math.sqrt, 2),
  slopeError: relative((x) => 0.5 / Math.sqrt(x), 6),
};

/** The slope is taken from the value, y * (1 - y): near 1 the difference cancels. */
export const sigmoid: Curve = {
  f: sigmoidAt,
  slope: (x) => sigmoidAt(x) * sigmoidAt(-x),
  error: relative(sigmoidAt, 8),
  slopeError: relative(sigmoidAt, 12),
};
/** The slope is 1 - y^2. */
export const tanh: Curve = {
  f: Math.tanh,
  slope: (x) => 1 - Math.tanh(x) ** 2,
  error: relative(Math.tanh, 8),
  slopeError: (x) => 20 * Math.abs(Math.tanh(x)) + 2,
};
export const softplus: Curve = {
  f: softplusAt,
  slope: sigmoidAt,
  error: relative(softplusAt, 8),
  slopeError: relative(sigmoidAt, 8),
};

const swishAt = (x: number): number => x * sigmoidAt(x);
export const swish: Curve = {
  f: swishAt,
  slope: (x) => sigmoidAt(x) * (1 + x * sigmoidAt(-x)),
  error: relative(swishAt, 10),
  slopeError: (x) => 16 * sigmoidAt(x) * (1 + Math.abs(x)),
};

/** The standard normal distribution, by its series near 0 and a continued fraction in the tails: to 1e-13 at least. */
export function normalCdf(x: number): number {
  const z = Math.abs(x);
  if (z < 3) {
    let [term, total] = [z, z];
    for (let n = 1; n < 80; n++) {
      term *= (z * z) / (2 * n + 1);
      total += term;
    }
    const upper = 0.5 + total * bell(z);
    return x < 0 ? 1 - upper : upper;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / (z + fraction);
  const tail = bell(z) / (z + fraction);
  return x < 0 ? tail : 1 - tail;
}
function bell(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}

/** The tail is a fit within 5e-7, 8.4 U, times exp(-x^2 / 2), which is off by the rounding of its argument. */
const geluUlps = (x: number): number => 20 + 2 * x * x;
export const gelu: Curve = {
  f: (x) => x * normalCdf(x),
  slope: (x) => normalCdf(x) + x * bell(x),
  error: (x) => geluUlps(x) * Math.abs(x) * normalCdf(x),
  slopeError: (x) => geluUlps(x) * (normalCdf(x) + Math.abs(x) * bell(x)),
};

const [C, A] = [2 * Math.sqrt(2 / Math.PI), 0.044715];
const gateAt = (x: number): number => sigmoidAt(C * (x + A * x ** 3));
/** The sigmoid's argument is a sum of rounded products, and exp makes its error one of the value. */
const gateUlps = (x: number): number => 12 + 6 * C * (Math.abs(x) + A * Math.abs(x) ** 3);
export const geluTanh: Curve = {
  f: (x) => x * gateAt(x),
  slope: (x) => gateAt(x) + x * gateAt(x) * (1 - gateAt(x)) * C * (1 + 3 * A * x * x),
  error: (x) => gateUlps(x) * Math.abs(x) * gateAt(x),
  slopeError: (x) => 2 * gateUlps(x) * gateAt(x) * (1 + Math.abs(x) * C * (1 + 3 * A * x * x)),
};
