/** 16-bit floating point, by bits. All conversions round to nearest, ties to even. */
#pragma once
#include <cmath>
#include "scalar.hpp"

namespace ptxsim {

inline u16 halfFromDouble(double value) {
  u64 x = bitsAs<u64>(value);
  u32 sign = static_cast<u32>(x >> 48) & 0x8000;
  s32 exponent = static_cast<s32>(x >> 52 & 0x7ff) - 1023;
  u64 mantissa = x & ((1ull << 52) - 1);
  if (exponent == 1024) return static_cast<u16>(mantissa ? 0x7fff : sign | 0x7c00);
  if (exponent > 15) return static_cast<u16>(sign | 0x7c00);
  if (exponent < -25) return static_cast<u16>(sign);
  mantissa |= 1ull << 52;
  // Normal numbers keep 10 bits after the point, subnormal ones what is left of 2^-24 steps.
  u32 drop = exponent >= -14 ? 42 : static_cast<u32>(42 + (-14 - exponent));
  u64 kept = mantissa >> drop, rest = mantissa & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  // `kept` has the leading one at bit 10 when normal: adding it to the exponent below carries as it should.
  u32 base = exponent >= -14 ? static_cast<u32>(exponent + 14) << 10 : 0;
  return static_cast<u16>(sign | (base + static_cast<u32>(kept)));
}

inline float halfToFloat(u16 half) {
  u32 sign = static_cast<u32>(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 31) return bitsAs<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return bitsAs<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return bitsAs<float>(bitsAs<u32>(magnitude) | sign);
}

inline u16 bfloatFromFloat(float value) {
  u32 x = bitsAs<u32>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<u16>((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/** An operation on f16 through a wider type that holds its exact result. */
template <class F>
struct HalfOp {
  template <class... A>
  static u16 f(A... a) {
    return halfFromDouble(F::f(static_cast<double>(halfToFloat(a))...));
  }
};
/** And on both halves of f16x2. */
template <class F>
struct HalfPairOp {
  template <class... A>
  static u32 f(A... a) {
    u32 low = HalfOp<F>::f(static_cast<u16>(a)...), high = HalfOp<F>::f(static_cast<u16>(a >> 16)...);
    return low | high << 16;
  }
};

}  // namespace ptxsim
