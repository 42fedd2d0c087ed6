/** Comparisons and tests of numbers: what sets predicates. */
#include <cstring>
#include "decoder.hpp"
#include "half.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

/** Bit k of the result is byte k, each 0 or 1. */
u32 packBits(const u8 (&bytes)[LANES]) {
  u32 result = 0;
  for (u32 group = 0; group < 4; ++group) {
    u64 eight;
    std::memcpy(&eight, bytes + group * 8, 8);
    result |= static_cast<u32>(eight * 0x0102040810204080ull >> 56) << (group * 8);
  }
  return result;
}

/** setp: p = (a CMP b) COMBINE c, q = !(a CMP b) COMBINE c. */
template <class F, class T>
void comparePair(Warp& warp, const Instruction& i, u32 mask) {
  const T* a = warp.reg<T>(i.s[0]);
  const T* b = warp.reg<T>(i.s[1]);
  u8 holds[LANES];
  for (u32 l = 0; l < LANES; ++l) holds[l] = F::f(a[l], b[l]);
  u32 p = packBits(holds), q = ~p;
  if (i.combine != Combine::None) {
    u32 c = warp.mask(static_cast<u32>(i.predicate)) ^ (i.negated ? FULL_MASK : 0);
    if (i.combine == Combine::And) p &= c, q &= c;
    else if (i.combine == Combine::Or) p |= c, q |= c;
    else p ^= c, q ^= c;
  }
  writeMask(warp.mask(i.d[0]), p, mask);
  if (i.pair >= 0) writeMask(warp.mask(static_cast<u32>(i.pair)), q, mask);
}
template <class F>
struct Flushed {
  static u8 f(float a, float b) { return F::f(flush(a), flush(b)); }
};
template <class F>
struct HalfCompare {
  static u8 f(u16 a, u16 b) { return F::f(halfToFloat(a), halfToFloat(b)); }
};
template <class F, class T>
struct CompareShape {
  static constexpr Handler handler = comparePair<F, T>;
};

template <class F, class T>
void testValue(Warp& warp, const Instruction& i, u32 mask) {
  const T* a = warp.reg<T>(i.s[0]);
  u8 holds[LANES];
  for (u32 l = 0; l < LANES; ++l) holds[l] = F::f(a[l]);
  writeMask(warp.mask(i.d[0]), packBits(holds), mask);
}
template <class F, class T>
struct TestShape {
  static constexpr Handler handler = testValue<F, T>;
};

template <class F>
Handler pickCompare(Type type, bool ftz) {
  if (type.kind != Type::Float) return pickInteger<CompareShape, F>(type);
  if (type.size == 2) return comparePair<HalfCompare<F>, u16>;
  return ftz ? comparePair<Flushed<F>, float> : pickFloat<CompareShape, F>(type);
}

Handler takeComparison(Form& form, Type type, bool ftz) {
  bool isFloat = type.kind == Type::Float;
  if (form.take("eq")) return pickCompare<Equal>(type, ftz);
  if (form.take("ne")) return isFloat ? pickCompare<NotEqual>(type, ftz) : pickCompare<NotEqualU>(type, ftz);
  if (form.take("lt") || (!isFloat && form.take("lo"))) return pickCompare<Less>(type, ftz);
  if (form.take("le") || (!isFloat && form.take("ls"))) return pickCompare<LessEqual>(type, ftz);
  if (form.take("gt") || (!isFloat && form.take("hi"))) return pickCompare<Greater>(type, ftz);
  if (form.take("ge") || (!isFloat && form.take("hs"))) return pickCompare<GreaterEqual>(type, ftz);
  if (!isFloat) return nullptr;
  if (form.take("equ")) return pickCompare<EqualU>(type, ftz);
  if (form.take("neu")) return pickCompare<NotEqualU>(type, ftz);
  if (form.take("ltu")) return pickCompare<LessU>(type, ftz);
  if (form.take("leu")) return pickCompare<LessEqualU>(type, ftz);
  if (form.take("gtu")) return pickCompare<GreaterU>(type, ftz);
  if (form.take("geu")) return pickCompare<GreaterEqualU>(type, ftz);
  if (form.take("num")) return pickCompare<BothNumbers>(type, ftz);
  if (form.take("nan")) return pickCompare<AnyNan>(type, ftz);
  return nullptr;
}

void decodeSetp(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  bool ftz = form.take("ftz");
  if (ftz && !type.isFloat(4)) decoder.refuse(".ftz is of .f32");
  i.run = takeComparison(form, type, ftz);
  i.combine = form.take("and")   ? Combine::And
              : form.take("or")  ? Combine::Or
              : form.take("xor") ? Combine::Xor
                                 : Combine::None;
  decoder.need(form, i.combine == Combine::None ? 3 : 4);
  const Operand& p = form.operands()[0];
  i.d[0] = decoder.predicateDestination(p.name);
  if (!p.pair.empty()) i.pair = static_cast<s32>(decoder.predicateDestination(p.pair));
  i.s[0] = decoder.source(form.operands()[1], type.size);
  i.s[1] = decoder.source(form.operands()[2], type.size);
  if (i.combine == Combine::None) return;
  i.predicate = static_cast<s32>(decoder.predicateSource(form.operands()[3]));
  i.negated = form.operands()[3].negated;
}

void decodeTestp(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.need(form, 2);
  i.d[0] = decoder.predicateDestination(form.operands()[0].name);
  i.s[0] = decoder.source(form.operands()[1], type.size);
  if (form.take("finite")) i.run = pickFloat<TestShape, TestFinite>(type);
  else if (form.take("infinite")) i.run = pickFloat<TestShape, TestInfinite>(type);
  else if (form.take("number")) i.run = pickFloat<TestShape, TestNumber>(type);
  else if (form.take("notanumber")) i.run = pickFloat<TestShape, TestNotANumber>(type);
}

const DecodeEntry TABLE[] = {{"setp", decodeSetp}, {"testp", decodeTestp}};

}  // namespace

Decode compareDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
