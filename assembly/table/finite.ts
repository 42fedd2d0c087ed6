// Whether floats are finite: their exponents are below the largest one.

/** The bits of an exponent, all set in NaN and infinities alone. */
export const EXPONENT: u32 = 0x7f800000;

/** The larger exponents of two vectors, of which the first has nothing else. */
@inline
export function largerExponents(exponents: v128, x: v128): v128 {
  return i32x4.max_s(exponents, v128.and(x, i32x4.splat(EXPONENT)));
}

@inline
export function isFinite4(exponents: v128): bool {
  return !v128.any_true(i32x4.eq(exponents, i32x4.splat(EXPONENT)));
}

/** True when the `dim` floats at `at` are all finite. */
export function isFiniteRow(at: usize, dim: u32): bool {
  const body = at + (<usize>(dim & ~3) << 2);
  const end = at + (<usize>dim << 2);
  let largest = i32x4.splat(0);
  let tail: u32 = 0;
  for (; at < body; at += 16) largest = largerExponents(largest, v128.load(at));
  for (; at < end; at += 4) tail = max<u32>(tail, load<u32>(at) & EXPONENT);
  return tail != EXPONENT && isFinite4(largest);
}
