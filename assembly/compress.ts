// Float compressors and the quantizers that let training see what serving will: half, 8-bit fixed point, one bit.
// Encoded bytes and floats may have any alignment. Bodies and tails compute an element in the same way.
import { tanh4 } from "./dense/math";
import { halfFromF32, halfFromF32x4, halfToF32, halfToF32x4 } from "./half";

/** dst = src as halves, 2 bytes each. */
export function encodeHalfF32(src: usize, dst: usize, n: i32): void {
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 8) {
    const halves = halfFromF32x4(v128.load(src));
    v128.store64_lane(dst, i16x8.narrow_i32x4_u(halves, halves), 0);
  }
  for (; left > 0; left--, src += 4, dst += 2) store<u16>(dst, <u16>halfFromF32(load<f32>(src)));
}

/** dst = values of the halves at src. */
export function decodeHalfF32(src: usize, dst: usize, n: i32): void {
  let left = n;
  for (; left >= 4; left -= 4, src += 8, dst += 16) {
    v128.store(dst, halfToF32x4(i32x4.extend_low_i16x8_u(v128.load64_zero(src))));
  }
  for (; left > 0; left--, src += 2, dst += 4) store<f32>(dst, halfToF32(<u32>load<u16>(src)));
}

/** Steps of a value: half a step away from 0, cut off, within a byte; NaN is 0. */
@inline
function steps4(x: v128, step: v128, half: v128): v128 {
  const known = v128.and(x, f32x4.eq(x, x));
  const away = f32x4.add(known, v128.or(half, v128.and(known, f32x4.splat(-0.0))));
  const steps = i32x4.trunc_sat_f32x4_s(f32x4.div(away, step));
  return i32x4.max_s(i32x4.min_s(steps, i32x4.splat(127)), i32x4.splat(-128));
}

@inline
function steps1(x: f32, step: f32, half: f32): i32 {
  if (x != x) return 0;
  const steps = (x + copysign<f32>(half, x)) / step;
  return steps >= 127 ? 127 : steps <= -128 ? -128 : <i32>steps;
}

/** dst[i] = src[i] in steps of r / 128, one signed byte each, away from 0 at half steps and saturating. */
export function encodeFixedR8F32(src: usize, dst: usize, n: i32, r: f32): void {
  const step: f32 = r / 128;
  const half: f32 = step / 2;
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 4) {
    const steps = steps4(v128.load(src), f32x4.splat(step), f32x4.splat(half));
    const narrow = i16x8.narrow_i32x4_s(steps, steps);
    v128.store32_lane(dst, i8x16.narrow_i16x8_s(narrow, narrow), 0);
  }
  for (; left > 0; left--, src += 4, dst++) store<i8>(dst, <i8>steps1(load<f32>(src), step, half));
}

/** dst[i] = src[i] * r / 128. */
export function decodeFixedR8F32(src: usize, dst: usize, n: i32, r: f32): void {
  const step: f32 = r / 128;
  for (let i = 0; i < n; i++, src++, dst += 4) store<f32>(dst, <f32>load<i8>(src) * step);
}

/** dst = what decoding the encoded src would give. dst may be src. */
export function quantizeFixedR8F32(src: usize, dst: usize, n: i32, r: f32): void {
  const step: f32 = r / 128;
  const half: f32 = step / 2;
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 16) {
    const steps = steps4(v128.load(src), f32x4.splat(step), f32x4.splat(half));
    v128.store(dst, f32x4.mul(f32x4.convert_i32x4_s(steps), f32x4.splat(step)));
  }
  for (; left > 0; left--, src += 4, dst += 4) store<f32>(dst, <f32>steps1(load<f32>(src), step, half) * step);
}

@inline
function tanh1(x: f32): f32 {
  return f32x4.extract_lane(tanh4(f32x4.splat(x)), 0);
}

/** dst = amplitude * tanh(scale * src). dst may be src. */
export function hashNetForwardF32(src: usize, dst: usize, n: i32, scale: f32, amplitude: f32): void {
  let left = n;
  for (; left >= 4; left -= 4, src += 16, dst += 16) {
    v128.store(dst, f32x4.mul(f32x4.splat(amplitude), tanh4(f32x4.mul(f32x4.splat(scale), v128.load(src)))));
  }
  for (; left > 0; left--, src += 4, dst += 4) store<f32>(dst, amplitude * tanh1(scale * load<f32>(src)));
}

/**
 * g *= (amplitude * scale) * ((1 - y) * (1 + y)), y = tanh(scale * w). As 1 - y * y it would lose its last digits near
 * 1.
 */
export function hashNetBackwardF32(w: usize, g: usize, n: i32, scale: f32, amplitude: f32): void {
  const factor: f32 = amplitude * scale;
  const one = f32x4.splat(1);
  let left = n;
  for (; left >= 4; left -= 4, w += 16, g += 16) {
    const y = tanh4(f32x4.mul(f32x4.splat(scale), v128.load(w)));
    const slope = f32x4.mul(f32x4.sub(one, y), f32x4.add(one, y));
    v128.store(g, f32x4.mul(v128.load(g), f32x4.mul(f32x4.splat(factor), slope)));
  }
  for (; left > 0; left--, w += 4, g += 4) {
    const y = tanh1(scale * load<f32>(w));
    const slope: f32 = (<f32>1 - y) * (<f32>1 + y);
    store<f32>(g, load<f32>(g) * (factor * slope));
  }
}

/** dst[i] = 1 where amplitude * tanh(scale * src[i]) is above 0, else -1, one signed byte each. */
export function encodeOneBitF32(src: usize, dst: usize, n: i32, scale: f32, amplitude: f32): void {
  for (let i = 0; i < n; i++, src += 4, dst++) {
    store<i8>(dst, amplitude * tanh1(scale * load<f32>(src)) > 0 ? 1 : -1);
  }
}

/** dst[i] = src[i] * amplitude. */
export function decodeOneBitF32(src: usize, dst: usize, n: i32, amplitude: f32): void {
  for (let i = 0; i < n; i++, src++, dst += 4) store<f32>(dst, <f32>load<i8>(src) * amplitude);
}
