/** Logic, shifts, bit fields, selection and moves. */
#include "decoder.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

template <class T>
void select(Warp& warp, const Instruction& i, u32 mask) {
  T* d = warp.reg<T>(i.d[0]);
  const T* a = warp.reg<T>(i.s[0]);
  const T* b = warp.reg<T>(i.s[1]);
  u32 p = warp.mask(static_cast<u32>(i.predicate)) ^ (i.negated ? FULL_MASK : 0);
  T out[LANES];
  for (u32 l = 0; l < LANES; ++l) out[l] = (p >> l & 1) ? a[l] : b[l];
  for (u32 l = 0; l < LANES; ++l) d[l] = (mask >> l & 1) ? out[l] : d[l];
}

template <class F>
void predicateBinary(Warp& warp, const Instruction& i, u32 mask) {
  writeMask(warp.mask(i.d[0]), F::f(warp.mask(i.s[0]), warp.mask(i.s[1])), mask);
}
template <class F>
void predicateUnary(Warp& warp, const Instruction& i, u32 mask) {
  writeMask(warp.mask(i.d[0]), F::f(warp.mask(i.s[0])), mask);
}

template <class WHOLE, class HALF>
void unpack(Warp& warp, const Instruction& i, u32 mask) {
  const WHOLE* a = warp.reg<WHOLE>(i.s[0]);
  for (u32 l : lanesOf(mask)) {
    WHOLE value = a[l];
    warp.reg<HALF>(i.d[0])[l] = static_cast<HALF>(value);
    warp.reg<HALF>(i.d[1])[l] = static_cast<HALF>(value >> (sizeof(HALF) * 8));
  }
}
template <class WHOLE, class HALF>
void pack(Warp& warp, const Instruction& i, u32 mask) {
  for (u32 l : lanesOf(mask)) {
    WHOLE low = warp.reg<HALF>(i.s[0])[l], high = warp.reg<HALF>(i.s[1])[l];
    warp.reg<WHOLE>(i.d[0])[l] = static_cast<WHOLE>(low | high << (sizeof(HALF) * 8));
  }
}

/** lop3: any function of three bits, as a table of 8. */
struct Lookup3 : Costly {
  static u32 f(u32 a, u32 b, u32 c, u32 table) {
    u32 result = 0;
    for (u32 row = 0; row < 8; ++row) {
      if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    }
    return result;
  }
};

template <class F>
void decodeLogic(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (type.kind != Type::Predicate) {
    decoder.operands(form, i, type.size, {type.size, type.size});
    i.run = pickBits<Binary, F>(type);
    return;
  }
  decoder.need(form, 3);
  i.d[0] = decoder.predicateDestination(form.operands()[0].name);
  for (int k = 0; k < 2; ++k) {
    if (form.operands()[k + 1].negated) decoder.refuse("a negated operand is not supported here");
    i.s[k] = decoder.predicateSource(form.operands()[k + 1]);
  }
  i.run = predicateBinary<F>;
}

void decodeNot(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (type.kind != Type::Predicate) {
    decoder.operands(form, i, type.size, {type.size});
    i.run = pickBits<Unary, Not>(type);
    return;
  }
  decoder.need(form, 2);
  i.d[0] = decoder.predicateDestination(form.operands()[0].name);
  i.s[0] = decoder.predicateSource(form.operands()[1]);
  i.run = predicateUnary<Not>;
}

void decodeCNot(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size});
  i.run = pickBits<Unary, CNot>(type);
}

template <bool LEFT>
void decodeShift(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, 4});
  i.run = LEFT ? pickBits<ShiftShape, ShiftLeft>(type) : pickInteger<ShiftShape, ShiftRight>(type);
}

void decodeFunnel(Decoder& decoder, Form& form, Instruction& i) {
  form.takeType();
  decoder.operands(form, i, 4, {4, 4, 4});
  bool left = form.take("l");
  if (!left && !form.take("r")) decoder.refuse("a direction is needed");
  if (form.take("wrap"))
    i.run = left ? map<WrapCount<FunnelLeft>, u32, u32, u32, u32> : map<WrapCount<FunnelRight>, u32, u32, u32, u32>;
  else if (form.take("clamp"))
    i.run = left ? map<ClampCount<FunnelLeft>, u32, u32, u32, u32> : map<ClampCount<FunnelRight>, u32, u32, u32, u32>;
}

template <class F>
void decodeCount(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, 4, {type.size});
  i.run = pickWideBits<CountShape, F>(type);
}

void decodeReverse(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size});
  i.run = pickWideBits<Unary, ReverseBits>(type);
}

void decodeFind(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, 4, {type.size});
  i.run = form.take("shiftamt") ? pickWideInteger<CountShape, FindBit<true>>(type)
                                : pickWideInteger<CountShape, FindBit<false>>(type);
}

void decodeInsert(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, type.size, 4, 4});
  if (type.size == 4) i.run = map<BitInsert, u32, u32, u32, u32, u32>;
  else if (type.size == 8) i.run = map<BitInsert, u64, u64, u64, u32, u32>;
}

void decodeExtract(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.operands(form, i, type.size, {type.size, 4, 4});
  if (type.size == 4)
    i.run = type.kind == Type::Signed ? map<BitExtract, s32, s32, u32, u32> : map<BitExtract, u32, u32, u32, u32>;
  else if (type.size == 8)
    i.run = type.kind == Type::Signed ? map<BitExtract, s64, s64, u32, u32> : map<BitExtract, u64, u64, u32, u32>;
}

void decodePermute(Decoder& decoder, Form& form, Instruction& i) {
  form.takeType();
  decoder.operands(form, i, 4, {4, 4, 4});
  i.run = map<PermuteBytes, u32, u32, u32, u32>;
}

void decodeLookup3(Decoder& decoder, Form& form, Instruction& i) {
  form.takeType();
  decoder.operands(form, i, 4, {4, 4, 4, 4});
  i.run = map<Lookup3, u32, u32, u32, u32, u32>;
}

void decodeSelp(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.need(form, 4);
  i.d[0] = decoder.destination(form.operands()[0], type.size);
  i.s[0] = decoder.source(form.operands()[1], type.size);
  i.s[1] = decoder.source(form.operands()[2], type.size);
  i.predicate = static_cast<s32>(decoder.predicateSource(form.operands()[3]));
  i.negated = form.operands()[3].negated;
  i.run = type.size == 8 ? select<u64> : type.size == 4 ? select<u32> : type.size == 2 ? select<u16> : nullptr;
}

void decodeMov(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.need(form, 2);
  const Operand& to = form.operands()[0];
  const Operand& from = form.operands()[1];
  if (type.kind == Type::Predicate) {
    i.d[0] = decoder.predicateDestination(to.name);
    i.s[0] = decoder.predicateSource(from);
    i.run = from.negated ? predicateUnary<Not> : predicateUnary<Move>;
    return;
  }
  int half = type.size / 2;
  if (to.kind == Operand::Vector) {
    if (to.parts.size() != 2 || half < 2) decoder.refuse("only halves can be unpacked");
    i.s[0] = decoder.source(from, type.size);
    for (int k = 0; k < 2; ++k) i.d[k] = decoder.destination(to.parts[k], half);
    i.run = type.size == 8 ? unpack<u64, u32> : unpack<u32, u16>;
  } else if (from.kind == Operand::Vector) {
    if (from.parts.size() != 2 || half < 2) decoder.refuse("only halves can be packed");
    i.d[0] = decoder.destination(to, type.size);
    for (int k = 0; k < 2; ++k) i.s[k] = decoder.source(from.parts[k], half);
    i.run = type.size == 8 ? pack<u64, u32> : pack<u32, u16>;
  } else {
    decoder.operands(form, i, type.size, {type.size});
    i.run = type.size == 8   ? map<Move, u64, u64>
            : type.size == 4 ? map<Move, u32, u32>
            : type.size == 2 ? map<Move, u16, u16>
                             : nullptr;
  }
}

const DecodeEntry TABLE[] = {
    {"and", decodeLogic<And>},
    {"or", decodeLogic<Or>},
    {"xor", decodeLogic<Xor>},
    {"not", decodeNot},
    {"cnot", decodeCNot},
    {"shl", decodeShift<true>},
    {"shr", decodeShift<false>},
    {"shf", decodeFunnel},
    {"popc", decodeCount<PopCount>},
    {"clz", decodeCount<LeadingZeros>},
    {"brev", decodeReverse},
    {"bfind", decodeFind},
    {"bfi", decodeInsert},
    {"bfe", decodeExtract},
    {"prmt", decodePermute},
    {"lop3", decodeLookup3},
    {"selp", decodeSelp},
    {"mov", decodeMov},
};

}  // namespace

Decode bitsDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
