/** add, sub, mul, mad, fma, div, rem, min, max, neg, abs and the transcendental approximations. */
#include <cfenv>
#include "decoder.hpp"
#include "half.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

const int ROUNDINGS[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/** Takes .rn, .rz, .rm or .rp; the index into ROUNDINGS. */
u8 takeRounding(Form& form) {
  if (form.take("rz")) return 1;
  if (form.take("rm")) return 2;
  if (form.take("rp")) return 3;
  form.take("rn");
  return 0;
}

/**
 * Directed rounding by the rounding mode of the CPU. Operands are read and results stored in memory between the two
 * calls, which the compiler cannot look into, so nothing moves out from between them.
 */
template <class F, class T, class... S, size_t... K>
void directedLanes(Warp& warp, const Instruction& i, u32 mask, std::index_sequence<K...>) {
  T* d = warp.reg<T>(i.d[0]);
  std::fesetround(ROUNDINGS[i.rounding]);
  for (u32 l : lanesOf(mask)) d[l] = F::f(warp.reg<S>(i.s[K])[l]...);
  std::fesetround(FE_TONEAREST);
}
template <class F, class T, class... S>
__attribute__((noinline)) void directed(Warp& warp, const Instruction& i, u32 mask) {
  directedLanes<F, T, S...>(warp, i, mask, std::index_sequence_for<S...>{});
}
template <class F, class T>
struct DirectedUnary {
  static constexpr Handler handler = directed<F, T, T>;
};
template <class F, class T>
struct DirectedBinary {
  static constexpr Handler handler = directed<F, T, T, T>;
};
template <class F, class T>
struct DirectedTernary {
  static constexpr Handler handler = directed<F, T, T, T, T>;
};

/** A floating-point operation with its rounding, .ftz and .sat. */
template <template <class, class> class Shape, template <class, class> class Directed, class F>
Handler pickRounded(Decoder& decoder, Form& form, Instruction& i, Type type) {
  i.rounding = takeRounding(form);
  bool ftz = form.take("ftz"), sat = form.take("sat");
  if ((ftz || sat) && !type.isFloat(4)) decoder.refuse(".ftz and .sat are of .f32");
  if (i.rounding) {
    if (sat) decoder.refuse(".sat with directed rounding is not supported");
    return ftz ? Directed<Ftz<F>, float>::handler : pickFloat<Directed, F>(type);
  }
  if (sat) return ftz ? Shape<Sat<Ftz<F>>, float>::handler : Shape<Sat<F>, float>::handler;
  return ftz ? Shape<Ftz<F>, float>::handler : pickFloat<Shape, F>(type);
}

template <class F>
Handler pickHalf(Form& form, Type type, int arity) {
  form.take("rn");
  bool packed = type.kind == Type::Packed;
  if constexpr (std::is_same<F, Fma>::value)
    return packed ? map<HalfPairOp<F>, u32, u32, u32, u32> : map<HalfOp<F>, u16, u16, u16, u16>;
  else return arity != 2 ? nullptr : packed ? map<HalfPairOp<F>, u32, u32, u32> : map<HalfOp<F>, u16, u16, u16>;
}

bool isHalf(Type type) { return type.isFloat(2) || type.kind == Type::Packed; }

/** add and sub. */
template <class F>
void decodeSum(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size});
  if (isHalf(type)) i.run = pickHalf<F>(form, type, 2);
  else if (type.kind == Type::Float) i.run = pickRounded<Binary, DirectedBinary, F>(decoder, form, i, type);
  else i.run = pickBits<Binary, F>(type);
}

void decodeMul(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  bool wide = form.take("wide");
  decoder.operands(form, i, wide ? type.size * 2 : type.size, {type.size, type.size});
  if (isHalf(type)) i.run = pickHalf<Mul>(form, type, 2);
  else if (type.kind == Type::Float) i.run = pickRounded<Binary, DirectedBinary, Mul>(decoder, form, i, type);
  else if (wide && type.size == 2)
    i.run = type.kind == Type::Signed ? map<MulWide16, s32, s16, s16> : map<MulWide16, u32, u16, u16>;
  else if (wide && type.size == 4)
    i.run = type.kind == Type::Signed ? map<MulWide, s64, s32, s32> : map<MulWide, u64, u32, u32>;
  else if (form.take("hi")) i.run = pickWideInteger<Binary, MulHigh>(type);
  // A product of 16 bits is taken of 32 unsigned bits: an int would overflow.
  else if (form.take("lo")) i.run = type.size == 2 ? map<MulWide16, u16, u16, u16> : pickWideBits<Binary, Mul>(type);
}

void decodeMad(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  bool wide = form.take("wide");
  int result = wide ? type.size * 2 : type.size;
  decoder.operands(form, i, result, {type.size, type.size, result});
  if (isHalf(type)) i.run = pickHalf<Fma>(form, type, 3);
  else if (type.kind == Type::Float) i.run = pickRounded<Ternary, DirectedTernary, Fma>(decoder, form, i, type);
  else if (wide && type.size == 4)
    i.run = type.kind == Type::Signed ? map<MadWide, u64, s32, s32, u64> : map<MadWide, u64, u32, u32, u64>;
  else if (form.take("hi")) i.run = pickWideInteger<Ternary, MadHigh>(type);
  else if (form.take("lo")) i.run = pickWideBits<Ternary, Mad>(type);
}

void decodeDiv(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size});
  if (type.kind != Type::Float) {
    i.run = pickInteger<Binary, Divide>(type);
    return;
  }
  // .approx and .full are computed as .rn: within their documented error.
  if (form.take("approx") || form.take("full")) {
    i.run = !type.isFloat(4)   ? nullptr
            : form.take("ftz") ? map<Ftz<FDivide>, float, float, float>
                               : map<FDivide, float, float, float>;
    return;
  }
  i.run = pickRounded<Binary, DirectedBinary, FDivide>(decoder, form, i, type);
}

void decodeRem(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size});
  i.run = pickInteger<Binary, Remainder>(type);
}

template <class I, class F>
void decodeExtreme(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size});
  if (isHalf(type)) i.run = pickHalf<F>(form, type, 2);
  else if (type.isFloat(4) && form.take("ftz")) i.run = map<Ftz<F>, float, float, float>;
  else i.run = type.kind == Type::Float ? pickFloat<Binary, F>(type) : pickInteger<Binary, I>(type);
}

template <class I, class F>
void decodeSign(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size});
  if (type.isFloat(2)) i.run = map<HalfOp<F>, u16, u16>;
  else if (type.kind == Type::Packed) i.run = map<HalfPairOp<F>, u32, u32>;
  else if (type.isFloat(4) && form.take("ftz")) i.run = map<Ftz<F>, float, float>;
  else i.run = type.kind == Type::Float ? pickFloat<Unary, F>(type) : pickInteger<Unary, I>(type);
}

void decodeCopySign(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size});
  i.run = pickFloat<Binary, CopySign>(type);
}

/** rcp.approx.ftz.f64 looks at and answers the high 32 bits only; nvcc refines it by Newton's steps. */
struct ReciprocalHigh {
  static double high(double a) { return bitsAs<double>(bitsAs<u64>(a) & 0xffffffff00000000ull); }
  static double flushed(double a) { return std::fabs(a) < 0x1p-1022 ? std::copysign(0.0, a) : a; }
  static double f(double a) { return high(flushed(1.0 / flushed(high(a)))); }
};

/** sqrt and rcp have exact and approximate forms; both are computed exactly. */
template <class F>
void decodeRoot(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size});
  bool approx = form.take("approx");
  if (approx && type.isFloat(8) && std::is_same<F, Reciprocal>::value && form.take("ftz")) {
    i.run = map<ReciprocalHigh, double, double>;
    return;
  }
  if (approx && !type.isFloat(4)) decoder.refuse("this approximation is not supported");
  i.run = pickRounded<Unary, DirectedUnary, F>(decoder, form, i, type);
}

/** ex2, lg2, rsqrt, sin, cos, tanh: approximations of .f32 (rsqrt also of .f64). */
template <class F, bool DOUBLE = false>
void decodeApprox(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size});
  form.take("approx");
  bool ftz = form.take("ftz");
  if (type.isFloat(4)) i.run = ftz ? map<Ftz<F>, float, float> : map<F, float, float>;
  else if constexpr (DOUBLE) i.run = type.isFloat(8) && !ftz ? map<F, double, double> : nullptr;
}

const DecodeEntry TABLE[] = {
    {"add", decodeSum<Add>},
    {"sub", decodeSum<Sub>},
    {"mul", decodeMul},
    {"mad", decodeMad},
    {"fma", decodeMad},
    {"div", decodeDiv},
    {"rem", decodeRem},
    {"min", decodeExtreme<Minimum, FMinimum>},
    {"max", decodeExtreme<Maximum, FMaximum>},
    {"neg", decodeSign<Negate, FNegate>},
    {"abs", decodeSign<Absolute, FAbsolute>},
    {"copysign", decodeCopySign},
    {"sqrt", decodeRoot<SquareRoot>},
    {"rcp", decodeRoot<Reciprocal>},
    {"rsqrt", decodeApprox<RootReciprocal, true>},
    {"ex2", decodeApprox<Exp2>},
    {"lg2", decodeApprox<Log2>},
    {"sin", decodeApprox<Sine>},
    {"cos", decodeApprox<Cosine>},
    {"tanh", decodeApprox<HyperTangent>},
};

}  // namespace

Decode arithmeticDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
