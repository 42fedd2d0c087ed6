// Whether floats are finite: their exponents are below the largest one.

/** `exponents` are floats of which the rest is masked off. */
// @ts-ignore: decorator
@inline export function isFinite4(exponents: v128): bool {
  return !v128.any_true(i32x4.eq(exponents, i32x4.splat(0x7f800000)));
}

/** True when the `dim` floats at `at` are all finite. */
export function isFiniteRow(at: usize, dim: u32): bool {
  const body = at + (<usize>(dim & ~3) << 2);
  const end = at + (<usize>dim << 2);
  let largest = i32x4.splat(0);
  let tail: u32 = 0;
  for (; at < body; at += 16) largest = i32x4.max_s(largest, v128.and(v128.load(at), i32x4.splat(0x7f800000)));
  for (; at < end; at += 4) tail = max<u32>(tail, load<u32>(at) & 0x7f800000);
  return tail != 0x7f800000 && isFinite4(largest);
}
