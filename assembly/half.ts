// IEEE half precision. A conversion to half and back loses nothing but what rounding takes: subnormals are kept, values
// from 65520 on become infinite, NaN becomes the one NaN 0x7e00.

/** The half nearest to x, ties to even, as 16 bits. */
export function halfFromF32(x: f32): u32 {
  const bits = reinterpret<u32>(x);
  const sign = (bits >> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7e00;
  if (size >= 0x47800000) return sign | 0x7c00;
  // Below the smallest normal half the spacing is 2^-24: scaled by 2^24 the halves there are the whole numbers.
  if (size < 0x38800000) return sign | <u32>nearest<f32>(reinterpret<f32>(size) * 16777216);
  return sign | ((size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13);
}

/** The value of a half, exactly. */
export function halfToF32(half: u32): f32 {
  const sign = (half & 0x8000) << 16;
  const size = (half & 0x7fff) << 13;
  if (size >= 0x0f800000) return reinterpret<f32>(sign | 0x7f800000 | size);
  // The bits read as a float are 2^112 too small; that holds for subnormals too.
  return reinterpret<f32>(sign | reinterpret<u32>(reinterpret<f32>(size) * 5192296858534827628530496329220096.0));
}

/** The half with the largest magnitude that is not above that of x, which is not NaN. */
@inline
export function halfTowardZero(x: f32): u32 {
  const bits = reinterpret<u32>(x);
  const sign = (bits >> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size == 0x7f800000) return sign | 0x7c00;
  if (size >= 0x47800000) return sign | 0x7bff;
  if (size < 0x38800000) return sign | <u32>(reinterpret<f32>(size) * 16777216);
  return sign | ((size - 0x38000000) >> 13);
}

/** Four halves in the low 16 bits of the lanes. */
@inline
export function halfFromF32x4(x: v128): v128 {
  const sign = v128.and(i32x4.shr_u(x, 16), i32x4.splat(0x8000));
  const size = v128.and(x, i32x4.splat(0x7fffffff));
  const small = i32x4.trunc_sat_f32x4_u(f32x4.nearest(f32x4.mul(size, f32x4.splat(16777216))));
  const odd = v128.and(i32x4.shr_u(size, 13), i32x4.splat(1));
  const normal = i32x4.shr_u(i32x4.add(i32x4.add(size, i32x4.splat(0xfff - 0x38000000)), odd), 13);
  let out = v128.bitselect(small, normal, i32x4.lt_u(size, i32x4.splat(0x38800000)));
  out = v128.bitselect(i32x4.splat(0x7c00), out, i32x4.ge_u(size, i32x4.splat(0x47800000)));
  return v128.bitselect(i32x4.splat(0x7e00), v128.or(sign, out), i32x4.gt_u(size, i32x4.splat(0x7f800000)));
}

/** The values of four halves in the low 16 bits of the lanes. */
@inline
export function halfToF32x4(half: v128): v128 {
  const sign = i32x4.shl(v128.and(half, i32x4.splat(0x8000)), 16);
  const size = i32x4.shl(v128.and(half, i32x4.splat(0x7fff)), 13);
  const scaled = f32x4.mul(size, f32x4.splat(5192296858534827628530496329220096.0));
  const special = v128.or(size, i32x4.splat(0x7f800000));
  return v128.or(sign, v128.bitselect(special, scaled, i32x4.ge_u(size, i32x4.splat(0x0f800000))));
}
