/**
 * @file Numbers with a bound on what float32 may make of them: the arithmetic that optimizers are written in here.
 *
 * `v` is what exact arithmetic gives (float64 stands for it), `e` bounds how far a float32 computation of the same
 * formula, in any order, may be from it. Every function widens the bound by what it makes of the bounds of its
 * operands, and by its own rounding. Nothing is tuned: a comparison fails when rounding cannot explain it.
 */

/** Half the distance of 1 and the next float32: the largest relative error of one rounding. */
export const U = 2 ** -24;
/** Roundings that a kernel may take where the formula here takes one: a product with a reciprocal, a rounded factor. */
export const STEPS = 4;
/** The least float32: what rounding may add next to zero. */
export const TINY = 2 ** -149;

export interface Bounded {
  readonly v: number;
  readonly e: number;
}

export const exact = (v: number): Bounded => ({ v, e: 0 });
/** A constant of a formula: kernels have it as a float32. */
export const rounded = (v: number): Bounded => ({ v, e: Math.fround(v) === v ? 0 : U * Math.abs(v) });

/** A bound that is no number says nothing: it counts as endless. */
const bounded = (v: number, e: number): Bounded => ({ v, e: e >= 0 ? e : Number.POSITIVE_INFINITY });
/** One rounded operation with the result `v`, whose operands alone make it uncertain by `e`. */
const after = (v: number, e: number): Bounded => bounded(v, e + STEPS * U * (Math.abs(v) + e) + TINY);
const isZero = ({ v, e }: Bounded): boolean => v === 0 && e === 0;

export function add(a: Bounded, b: Bounded): Bounded {
  if (isZero(a)) return b;
  return isZero(b) ? a : after(a.v + b.v, a.e + b.e);
}

export const neg = ({ v, e }: Bounded): Bounded => ({ v: -v, e });
export const sub = (a: Bounded, b: Bounded): Bounded => add(a, neg(b));

export function mul(a: Bounded, b: Bounded): Bounded {
  if (isZero(a) || isZero(b)) return exact(0);
  return after(a.v * b.v, Math.abs(a.v) * b.e + Math.abs(b.v) * a.e + a.e * b.e);
}

export function div(a: Bounded, b: Bounded): Bounded {
  const v = a.v / b.v;
  const least = Math.abs(b.v) - b.e;
  return after(v, least > 0 ? (a.e + Math.abs(v) * b.e) / least : Number.POSITIVE_INFINITY);
}

export function sqrt(a: Bounded): Bounded {
  const v = Math.sqrt(a.v);
  const low = Math.sqrt(Math.max(0, a.v - a.e));
  return after(v, Math.max(Math.sqrt(a.v + a.e) - v, v - low));
}

export const square = (a: Bounded): Bounded => mul(a, a);
export const sumOf = (list: readonly Bounded[]): Bounded => {
  const size = list.reduce((sum, { v }) => sum + Math.abs(v), 0);
  const e = list.reduce((sum, one) => sum + one.e, 0);
  const v = list.reduce((sum, one) => sum + one.v, 0);
  return list.length === 1 ? list[0]! : bounded(v, e + (list.length + STEPS) * U * (size + e));
};

export const max = (a: Bounded, b: Bounded): Bounded => bounded(Math.max(a.v, b.v), Math.max(a.e, b.e));

/** Whether a < b: undefined where rounding may decide it. */
export function less(a: Bounded, b: Bounded): boolean | undefined {
  if (a.e + b.e === 0) return a.v < b.v;
  if (Math.abs(a.v - b.v) > a.e + b.e + STEPS * U * (Math.abs(a.v) + Math.abs(b.v))) return a.v < b.v;
  return undefined;
}

/** `yes` or `no` by a condition; both where that is open. */
export function choose(condition: boolean | undefined, yes: Bounded, no: Bounded): Bounded {
  if (condition !== undefined) return condition ? yes : no;
  return bounded(yes.v, Math.max(yes.e, Math.abs(yes.v - no.v) + no.e));
}

/** Whether `found`, a float32, is what `expected` may have become. */
export function explains({ v, e }: Bounded, found: number): boolean {
  if (e === Number.POSITIVE_INFINITY) return true;
  return Math.abs(found - v) <= e + U * (Math.abs(v) + e) + TINY;
}
