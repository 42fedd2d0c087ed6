/** @file Floating point by whole numbers: results before rounding, and rounding to any format in any direction. */

/** mantissa times 2^exponent, with nothing lost. */
export interface Exact {
  readonly mantissa: bigint;
  readonly exponent: number;
}

export type Rounding = 'rn' | 'rz' | 'rm' | 'rp';

export interface Format {
  /** Bits of the significand, the hidden one included. */
  readonly precision: number;
  readonly exponentMin: number;
  readonly exponentMax: number;
}

export const F16: Format = { precision: 11, exponentMin: -14, exponentMax: 15 };
export const F32: Format = { precision: 24, exponentMin: -126, exponentMax: 127 };

/** A finite double as it is. */
export function exact(value: number): Exact {
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0]!;
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  const magnitude = field === 0 ? fraction : fraction | (1n << 52n);
  return { mantissa: bits >> 63n ? -magnitude : magnitude, exponent: Math.max(field, 1) - 1075 };
}

export function multiply(a: Exact, b: Exact): Exact {
  return { mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent };
}

export function add(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const at = ({ mantissa, exponent: e }: Exact) => mantissa << BigInt(e - exponent);
  return { mantissa: at(a) + at(b), exponent };
}

/** The number of `format` that `value` is rounded to. Zero comes out positive. */
export function roundTo({ precision, exponentMin, exponentMax }: Format, value: Exact, rounding: Rounding): number {
  const negative = value.mantissa < 0n;
  const magnitude = negative ? -value.mantissa : value.mantissa;
  if (magnitude === 0n) return 0;
  const top = value.exponent + magnitude.toString(2).length - 1;
  const unit = Math.max(top, exponentMin) - precision + 1;
  const drop = BigInt(Math.max(0, unit - value.exponent));
  let kept = magnitude >> drop;
  const rest = magnitude - (kept << drop);
  const up = rounding === 'rp' ? !negative : rounding === 'rm' && negative;
  const half = drop === 0n ? 0n : 1n << (drop - 1n);
  if (rest > 0n && (up || (rounding === 'rn' && (rest > half || (rest === half && kept & 1n))))) kept++;
  const exponent = drop === 0n ? value.exponent : unit;
  const sign = negative ? -1 : 1;
  const limit = 2 ** exponentMax * (2 - 2 ** (1 - precision));
  const rounded = Number(kept) * 2 ** Math.max(exponent, -1000) * 2 ** Math.min(0, exponent + 1000);
  if (rounded <= limit) return sign * rounded;
  return sign * (rounding === 'rn' || up ? Number.POSITIVE_INFINITY : limit);
}
