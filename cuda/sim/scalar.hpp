/** Scalar meaning of the instructions: one struct per operation, as the PTX ISA defines it. */
#pragma once
// clang-format off: an operation is a line where it can be, so that the file reads as a table
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include "base.hpp"
#include "lanes.hpp"

namespace ptxsim {

template <class To, class From> inline To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes must agree");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Integers wrap: arithmetic is done unsigned.
struct Add { template <class T> static T f(T a, T b) { return a + b; } };
struct Sub { template <class T> static T f(T a, T b) { return a - b; } };
struct Mul { template <class T> static T f(T a, T b) { return a * b; } };
struct Mad { template <class T> static T f(T a, T b, T c) { return a * b + c; } };
struct MulWide16 {
  static u32 f(u16 a, u16 b) { return static_cast<u32>(a) * b; }
  static s32 f(s16 a, s16 b) { return static_cast<s32>(a) * b; }
};
struct MulWide {
  static u64 f(u32 a, u32 b) { return static_cast<u64>(a) * b; }
  static s64 f(s32 a, s32 b) { return static_cast<s64>(a) * b; }
};
struct MadWide {
  static u64 f(u32 a, u32 b, u64 c) { return static_cast<u64>(a) * b + c; }
  static u64 f(s32 a, s32 b, u64 c) { return static_cast<u64>(static_cast<s64>(a) * b) + c; }
};
struct MulHigh {
  static u32 f(u32 a, u32 b) { return static_cast<u64>(a) * b >> 32; }
  static s32 f(s32 a, s32 b) { return static_cast<s32>(static_cast<s64>(a) * b >> 32); }
  static u64 f(u64 a, u64 b) { return static_cast<unsigned __int128>(a) * b >> 64; }
  static s64 f(s64 a, s64 b) { return static_cast<s64>(static_cast<__int128>(a) * b >> 64); }
};
struct MadHigh {
  template <class T> static T f(T a, T b, T c) {
    return static_cast<T>(MulHigh::f(a, b) + static_cast<std::make_unsigned_t<T>>(c));
  }
};
struct Divide : Costly {
  /** Division by zero is unspecified in PTX; hardware answers all ones. */
  template <class T> static T f(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed<T>::value && b == static_cast<T>(-1))
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return a / b;
  }
};
struct Remainder : Costly {
  template <class T> static T f(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed<T>::value && b == static_cast<T>(-1)) return 0;
    return a % b;
  }
};
struct Negate { template <class T> static T f(T a) { return 0 - a; } };
struct Absolute {
  template <class T> static T f(T a) { return a < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)) : a; }
};
struct Minimum { template <class T> static T f(T a, T b) { return a < b ? a : b; } };
struct Maximum { template <class T> static T f(T a, T b) { return a > b ? a : b; } };

struct Move { template <class T> static T f(T a) { return a; } };
struct And { template <class T> static T f(T a, T b) { return a & b; } };
struct Or { template <class T> static T f(T a, T b) { return a | b; } };
struct Xor { template <class T> static T f(T a, T b) { return a ^ b; } };
struct Not { template <class T> static T f(T a) { return ~a; } };
struct CNot { template <class T> static T f(T a) { return a == 0; } };
/** Shifts past the width give zero, or copies of the sign: they do not wrap. */
struct ShiftLeft {
  template <class T> static T f(T a, u32 n) { return n >= sizeof(T) * 8 ? 0 : static_cast<T>(a << n); }
};
struct ShiftRight {
  template <class T> static T f(T a, u32 n) {
    constexpr u32 width = sizeof(T) * 8;
    if (std::is_signed<T>::value) return static_cast<T>(a >> (n >= width ? width - 1 : n));
    return n >= width ? 0 : static_cast<T>(a >> n);
  }
};
/** shf: the 64 bits b:a shifted, one half taken. */
struct FunnelLeft {
  template <class T> static T f(T a, T b, T n) { return static_cast<u32>((static_cast<u64>(b) << 32 | a) << n >> 32); }
};
struct FunnelRight {
  template <class T> static T f(T a, T b, T n) { return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> n); }
};
template <class F> struct WrapCount { static u32 f(u32 a, u32 b, u32 n) { return F::f(a, b, n & 31); } };
template <class F> struct ClampCount {
  static u32 f(u32 a, u32 b, u32 n) { return n >= 32 ? F::f(a, b, 32u) : F::f(a, b, n); }
};

struct PopCount {
  static u32 f(u32 a) { return static_cast<u32>(__builtin_popcount(a)); }
  static u32 f(u64 a) { return static_cast<u32>(__builtin_popcountll(a)); }
};
struct LeadingZeros {
  static u32 f(u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : 32; }
  static u32 f(u64 a) { return a ? static_cast<u32>(__builtin_clzll(a)) : 64; }
};
struct ReverseBits {
  template <class T> static T f(T value) {
    T result = 0;
    for (u32 bit = 0; bit < sizeof(T) * 8; ++bit) result = static_cast<T>(result << 1 | (value >> bit & 1));
    return result;
  }
};
/** bfind: the highest bit that differs from the sign, or ~0; with SHIFT, how far to shift it to the top. */
template <bool SHIFT> struct FindBit {
  template <class T> static u32 f(T value) {
    using U = std::make_unsigned_t<T>;
    constexpr u32 width = sizeof(T) * 8;
    U bits = static_cast<U>(value < 0 ? ~value : value);
    if (bits == 0) return ~0u;
    const u32 zeros = static_cast<u32>(width == 64 ? __builtin_clzll(bits) : __builtin_clz(static_cast<u32>(bits)));
    u32 position = width - 1 - zeros;
    return SHIFT ? width - 1 - position : position;
  }
};
struct BitInsert {
  template <class T> static T f(T a, T b, u32 position, u32 length) {
    constexpr u32 width = sizeof(T) * 8;
    position &= 255, length &= 255;
    if (position >= width || length == 0) return b;
    T ones = length >= width ? ~static_cast<T>(0) : (static_cast<T>(1) << length) - 1;
    return static_cast<T>((b & ~(ones << position)) | ((a & ones) << position));
  }
};
struct BitExtract {
  template <class T> static T f(T a, u32 position, u32 length) {
    constexpr u32 width = sizeof(T) * 8;
    position &= 255, length &= 255;
    if (length == 0) return 0;
    const u32 last = position + length - 1 < width ? position + length - 1 : width - 1;
    bool negative = std::is_signed<T>::value && (a >> last & 1);
    T result = 0;
    for (u32 bit = 0; bit < width; ++bit) {
      bool one = bit < length && position + bit < width ? (a >> (position + bit) & 1) : negative;
      result = static_cast<T>(result | static_cast<T>(static_cast<T>(one) << bit));
    }
    return result;
  }
};
struct PermuteBytes {
  static u32 f(u32 a, u32 b, u32 selector) {
    u64 bytes = static_cast<u64>(b) << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) {
      u32 pick = selector >> (4 * k) & 15;
      u32 byte = static_cast<u32>(bytes >> (8 * (pick & 7))) & 255;
      if (pick & 8) byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * k);
    }
    return result;
  }
};

// Floating point. The compiler must not contract: see the flags in binding.gyp.
inline float flush(float a) {
  u32 bits = bitsAs<u32>(a);
  return bitsAs<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
struct FDivide { template <class T> static T f(T a, T b) { return a / b; } };
struct Fma {
  static float f(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double f(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct FNegate { template <class T> static T f(T a) { return -a; } };
struct FAbsolute {
  static float f(float a) { return bitsAs<float>(bitsAs<u32>(a) & 0x7fffffffu); }
  static double f(double a) { return bitsAs<double>(bitsAs<u64>(a) & ~(1ull << 63)); }
};
/** A NaN operand gives the other one; -0 is less than +0. */
struct FMinimum {
  template <class T> static T f(T a, T b) {
    T r = (a < b || (a == b && std::signbit(a))) ? a : b;
    r = a != a ? b : r;
    return b != b ? a : r;
  }
};
struct FMaximum {
  template <class T> static T f(T a, T b) {
    T r = (a > b || (a == b && !std::signbit(a))) ? a : b;
    r = a != a ? b : r;
    return b != b ? a : r;
  }
};
struct SquareRoot {
  static float f(float a) { return __builtin_sqrtf(a); }
  static double f(double a) { return __builtin_sqrt(a); }
};
struct Reciprocal { template <class T> static T f(T a) { return static_cast<T>(1) / a; } };
/** copysign d, a, b: the sign of a on the magnitude of b. */
struct CopySign {
  static float f(float a, float b) { return std::copysign(b, a); }
  static double f(double a, double b) { return std::copysign(b, a); }
};
struct TestFinite { template <class T> static u8 f(T a) { return std::isfinite(a); } };
struct TestInfinite { template <class T> static u8 f(T a) { return std::isinf(a); } };
struct TestNotANumber { template <class T> static u8 f(T a) { return a != a; } };
struct TestNumber { template <class T> static u8 f(T a) { return a == a; } };

// The .approx family is computed in double and rounded once: better than the hardware's, within its documented error.
struct Exp2 : Costly { static float f(float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); } };
struct Log2 : Costly { static float f(float a) { return static_cast<float>(std::log2(static_cast<double>(a))); } };
struct RootReciprocal {
  template <class T> static T f(T a) { return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a))); }
};
struct Sine : Costly { static float f(float a) { return static_cast<float>(std::sin(static_cast<double>(a))); } };
struct Cosine : Costly { static float f(float a) { return static_cast<float>(std::cos(static_cast<double>(a))); } };
struct HyperTangent : Costly {
  static float f(float a) { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

/** .ftz: subnormal operands and results are zero. */
template <class F> struct Ftz {
  static constexpr bool costly = isCostly<F>::value;
  template <class... A> static float f(A... a) { return flush(F::f(flush(a)...)); }
};
/** .sat: the result is held to [0, 1], and NaN is 0. */
template <class F> struct Sat {
  static constexpr bool costly = isCostly<F>::value;
  template <class... A> static float f(A... a) {
    float r = F::f(a...);
    return r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f;
  }
};

// Comparisons; those ending in U also hold when an operand is NaN.
#define PTXSIM_COMPARE(NAME, EXPRESSION) \
  struct NAME { template <class T> static u8 f(T a, T b) { return EXPRESSION; } };
PTXSIM_COMPARE(Equal, a == b)
PTXSIM_COMPARE(NotEqual, a < b || a > b)
PTXSIM_COMPARE(Less, a < b)
PTXSIM_COMPARE(LessEqual, a <= b)
PTXSIM_COMPARE(Greater, a > b)
PTXSIM_COMPARE(GreaterEqual, a >= b)
PTXSIM_COMPARE(EqualU, !(a < b || a > b))
PTXSIM_COMPARE(NotEqualU, a != b)
PTXSIM_COMPARE(LessU, !(a >= b))
PTXSIM_COMPARE(LessEqualU, !(a > b))
PTXSIM_COMPARE(GreaterU, !(a <= b))
PTXSIM_COMPARE(GreaterEqualU, !(a < b))
PTXSIM_COMPARE(BothNumbers, a == a && b == b)
PTXSIM_COMPARE(AnyNan, a != a || b != b)
#undef PTXSIM_COMPARE

}  // namespace ptxsim
