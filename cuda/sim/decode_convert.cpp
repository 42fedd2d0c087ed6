/** cvt between all types, and cvta between address spaces. */
#include <cmath>
#include <limits>
#include "decoder.hpp"
#include "half.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

enum class ToIntegral { Nearest, Zero, Down, Up };

template <ToIntegral R>
struct RoundIntegral {
  template <class T>
  static T f(T a) {
    if (R == ToIntegral::Nearest) return std::nearbyint(a);
    if (R == ToIntegral::Zero) return std::trunc(a);
    return R == ToIntegral::Down ? std::floor(a) : std::ceil(a);
  }
};

/** Out of range gives the nearest limit; NaN gives 0, or the top bit alone for 64-bit results. */
template <class D, ToIntegral R>
struct FloatToInteger {
  template <class S>
  static D f(S a) {
    if (a != a) return sizeof(D) == 8 ? static_cast<D>(1ull << 63) : 0;
    S r = RoundIntegral<R>::f(a);
    if (r <= static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= static_cast<S>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(r);
  }
};

/** The same of f16. */
template <class D, ToIntegral R>
struct HalfToInteger {
  static D f(u16 a) { return FloatToInteger<D, R>::f(halfToFloat(a)); }
};

template <class D>
struct Cast {
  template <class S>
  static D f(S a) {
    return static_cast<D>(a);
  }
};
struct FlushedCast {
  static float f(double a) { return flush(static_cast<float>(a)); }
};
struct FlushedWiden {
  static double f(float a) { return flush(a); }
};
struct FloatToHalf {
  static u16 f(float a) { return halfFromDouble(static_cast<double>(a)); }
};
struct HalfToFloat {
  static float f(u16 a) { return halfToFloat(a); }
};
struct FloatToBFloat {
  static u16 f(float a) { return bfloatFromFloat(a); }
};
struct BFloatToFloat {
  static float f(u16 a) { return bitsAs<float>(static_cast<u32>(a) << 16); }
};

/** Integer to integer: the low bytes of type MEMORY of a register WIDE bytes are extended as the type says. */
template <class FROM, class MEMORY, class MIDDLE, class TO>
struct Narrow {
  static TO f(FROM a) { return static_cast<TO>(static_cast<MIDDLE>(static_cast<MEMORY>(a))); }
};
template <class MEMORY, class MIDDLE>
Handler pickNarrow(int from, int to) {
#define PTXSIM_TO(FROM)                                          \
  (to == 8   ? map<Narrow<FROM, MEMORY, MIDDLE, u64>, u64, FROM> \
   : to == 4 ? map<Narrow<FROM, MEMORY, MIDDLE, u32>, u32, FROM> \
             : map<Narrow<FROM, MEMORY, MIDDLE, u16>, u16, FROM>)
  return from == 8 ? PTXSIM_TO(u64) : from == 4 ? PTXSIM_TO(u32) : PTXSIM_TO(u16);
#undef PTXSIM_TO
}
/**
 * Extending the source and then cutting to the destination is one step when the smaller of the two types decides:
 * a wider destination keeps the sign of the source, a narrower one extends by its own sign into a wide register.
 */
Handler pickIntegers(Type from, Type to, int fromWidth, int toWidth) {
  Type small = to.size <= from.size ? to : from;
  bool isSigned = small.kind == Type::Signed;
  switch (small.size) {
    case 1: return isSigned ? pickNarrow<s8, s64>(fromWidth, toWidth) : pickNarrow<u8, u64>(fromWidth, toWidth);
    case 2: return isSigned ? pickNarrow<s16, s64>(fromWidth, toWidth) : pickNarrow<u16, u64>(fromWidth, toWidth);
    case 4: return isSigned ? pickNarrow<s32, s64>(fromWidth, toWidth) : pickNarrow<u32, u64>(fromWidth, toWidth);
    default: return pickNarrow<u64, u64>(fromWidth, toWidth);
  }
}

template <class S, ToIntegral R>
Handler pickToInteger(Type to) {
  bool isSigned = to.kind == Type::Signed;
  switch (to.size) {
    case 2: return isSigned ? map<FloatToInteger<s16, R>, s16, S> : map<FloatToInteger<u16, R>, u16, S>;
    case 4: return isSigned ? map<FloatToInteger<s32, R>, s32, S> : map<FloatToInteger<u32, R>, u32, S>;
    case 8: return isSigned ? map<FloatToInteger<s64, R>, s64, S> : map<FloatToInteger<u64, R>, u64, S>;
    default: return nullptr;
  }
}
template <class S>
Handler pickToInteger(Type to, ToIntegral rounding) {
  switch (rounding) {
    case ToIntegral::Nearest: return pickToInteger<S, ToIntegral::Nearest>(to);
    case ToIntegral::Zero: return pickToInteger<S, ToIntegral::Zero>(to);
    case ToIntegral::Down: return pickToInteger<S, ToIntegral::Down>(to);
    default: return pickToInteger<S, ToIntegral::Up>(to);
  }
}

/** f16 to 32-bit integers, to nearest or toward zero. */
Handler pickHalfToInteger(Type to, ToIntegral rounding) {
  if (to.size != 4) return nullptr;
  bool isSigned = to.kind == Type::Signed;
  if (rounding == ToIntegral::Nearest)
    return isSigned ? map<HalfToInteger<s32, ToIntegral::Nearest>, s32, u16>
                    : map<HalfToInteger<u32, ToIntegral::Nearest>, u32, u16>;
  if (rounding == ToIntegral::Zero)
    return isSigned ? map<HalfToInteger<s32, ToIntegral::Zero>, s32, u16>
                    : map<HalfToInteger<u32, ToIntegral::Zero>, u32, u16>;
  return nullptr;
}

template <class D>
Handler pickToFloat(Type from) {
  bool isSigned = from.kind == Type::Signed;
  switch (from.size) {
    case 2: return isSigned ? map<Cast<D>, D, s16> : map<Cast<D>, D, u16>;
    case 4: return isSigned ? map<Cast<D>, D, s32> : map<Cast<D>, D, u32>;
    case 8: return isSigned ? map<Cast<D>, D, s64> : map<Cast<D>, D, u64>;
    default: return nullptr;
  }
}

template <ToIntegral R>
Handler pickRoundIntegral(Type type, bool ftz) {
  return ftz ? map<Ftz<RoundIntegral<R>>, float, float> : pickFloat<Unary, RoundIntegral<R>>(type);
}
Handler pickRoundIntegral(Type type, ToIntegral rounding, bool ftz) {
  switch (rounding) {
    case ToIntegral::Nearest: return pickRoundIntegral<ToIntegral::Nearest>(type, ftz);
    case ToIntegral::Zero: return pickRoundIntegral<ToIntegral::Zero>(type, ftz);
    case ToIntegral::Down: return pickRoundIntegral<ToIntegral::Down>(type, ftz);
    default: return pickRoundIntegral<ToIntegral::Up>(type, ftz);
  }
}

/** Takes .rni, .rzi, .rmi or .rpi; false when there is none. */
bool takeIntegral(Form& form, ToIntegral& rounding) {
  if (form.take("rni")) return rounding = ToIntegral::Nearest, true;
  if (form.take("rzi")) return rounding = ToIntegral::Zero, true;
  if (form.take("rmi")) return rounding = ToIntegral::Down, true;
  if (form.take("rpi")) return rounding = ToIntegral::Up, true;
  return false;
}

Handler pickFloats(Form& form, Type from, Type to) {
  ToIntegral rounding;
  bool same = from.size == to.size && from.kind == to.kind;
  if (same && to.kind == Type::Float && to.size >= 4) {
    if (takeIntegral(form, rounding)) {
      return pickRoundIntegral(to, rounding, to.size == 4 && form.take("ftz"));
    }
    if (!to.isFloat(4)) return nullptr;
    bool ftz = form.take("ftz"), sat = form.take("sat");
    if (sat) return ftz ? map<Sat<Ftz<Move>>, float, float> : map<Sat<Move>, float, float>;
    return ftz ? map<Ftz<Move>, float, float> : map<Move, float, float>;
  }
  if (to.isFloat(4) && from.isFloat(8)) {
    if (!form.take("rn")) return nullptr;
    return form.take("ftz") ? map<FlushedCast, float, double> : map<Cast<float>, float, double>;
  }
  if (to.isFloat(8) && from.isFloat(4))
    return form.take("ftz") ? map<FlushedWiden, double, float> : map<Cast<double>, double, float>;
  if (to.isFloat(2) && from.isFloat(4)) return form.take("rn") ? map<FloatToHalf, u16, float> : nullptr;
  if (to.isFloat(4) && from.isFloat(2)) return map<HalfToFloat, float, u16>;
  if (to.kind == Type::BFloat && from.isFloat(4)) return form.take("rn") ? map<FloatToBFloat, u16, float> : nullptr;
  if (to.isFloat(4) && from.kind == Type::BFloat) return map<BFloatToFloat, float, u16>;
  return nullptr;
}

void decodeConvert(Decoder& decoder, Form& form, Instruction& i) {
  Type from = form.takeType(), to = form.takeType();
  if (!from || !to) decoder.refuse("two types are needed");
  decoder.need(form, 2);
  const Operand& source = form.operands()[1];
  bool integers = from.integer() && to.integer();
  // Registers may be wider than integer types; for floating point they fit.
  i.s[0] = integers ? decoder.wideSource(source, from.size) : decoder.source(source, from.size);
  i.d[0] = integers ? decoder.wideDestination(form.operands()[0], to.size)
                    : decoder.destination(form.operands()[0], to.size);
  if (integers) i.run = pickIntegers(from, to, decoder.widthOf(i.s[0]), decoder.widthOf(i.d[0]));
  else if (to.integer()) {
    ToIntegral rounding;
    if (!takeIntegral(form, rounding)) decoder.refuse("a rounding is needed");
    bool ftz = from.isFloat(4) && form.take("ftz");
    if (ftz && rounding != ToIntegral::Zero && rounding != ToIntegral::Nearest)
      decoder.refuse(".ftz is not supported here");
    i.run = from.isFloat(4)   ? pickToInteger<float>(to, rounding)
            : from.isFloat(8) ? pickToInteger<double>(to, rounding)
                              : pickHalfToInteger(to, rounding);
    if (from.kind == Type::BFloat) i.run = nullptr;
  } else if (from.integer()) {
    form.take("rn");
    i.run = to.isFloat(4) ? pickToFloat<float>(from) : to.isFloat(8) ? pickToFloat<double>(from) : nullptr;
  } else i.run = pickFloats(form, from, to);
}

/** Generic addresses of shared and local memory lie in windows; those of global and constant memory are the same. */
void decodeConvertAddress(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (type.size != 8) decoder.refuse("addresses have 64 bits");
  decoder.operands(form, i, 8, {8});
  bool to = form.take("to");
  u64 window = 0;
  if (form.take("shared")) window = SHARED_WINDOW;
  else if (form.take("local")) window = LOCAL_WINDOW;
  else if (!form.take("global") && !form.take("const")) decoder.refuse("this address space is not supported");
  if (window == 0) i.run = map<Move, u64, u64>;
  else {
    i.s[1] = decoder.constant(to ? 0 - window : window, 8);
    i.run = map<Add, u64, u64, u64>;
  }
}

const DecodeEntry TABLE[] = {{"cvt", decodeConvert}, {"cvta", decodeConvertAddress}};

}  // namespace

Handler extendHandler(Type memory, int fromWidth, int toWidth) {
  return pickIntegers(memory, memory, fromWidth, toWidth);
}

Decode convertDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
