/** Barriers and the operations in which lanes of a warp see each other. */
#include "decoder.hpp"
#include "lanes.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

/** The member mask of a warp operation is always source 3. */
constexpr int MEMBERS = 3;

void nothing(Warp&, const Instruction&, u32) {}

void trap(Warp& warp, const Instruction& i, u32 mask) {
  kernelFault(LAUNCH_FAILED, "trap", warp, i, static_cast<u32>(__builtin_ctz(mask)));
}

enum class Shuffle { Up, Down, Butterfly, Index };

template <Shuffle MODE>
void shuffle(Warp& warp, const Instruction& i, u32 mask) {
  const u32* a = warp.reg<u32>(i.s[0]);
  const u32* b = warp.reg<u32>(i.s[1]);
  const u32* c = warp.reg<u32>(i.s[2]);
  u32 out[LANES], inRange = 0;
  for (u32 l : lanesOf(mask)) {
    s32 lane = static_cast<s32>(l), delta = static_cast<s32>(b[l] & 31), clamp = static_cast<s32>(c[l] & 31),
        segment = static_cast<s32>(c[l] >> 8 & 31);
    s32 highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment, from = lane;
    bool inside = false;
    switch (MODE) {
      case Shuffle::Up: from = lane - delta, inside = from >= highest; break;
      case Shuffle::Down: from = lane + delta, inside = from <= highest; break;
      case Shuffle::Butterfly: from = lane ^ delta, inside = from <= highest; break;
      case Shuffle::Index: from = lowest | (delta & ~segment), inside = from <= highest; break;
    }
    if (!inside) from = lane;
    if (!(mask >> from & 1))
      kernelFault(LAUNCH_FAILED, "shfl reads lane " + std::to_string(from) + ", which does not take part,", warp, i, l);
    out[l] = a[from];
    inRange |= static_cast<u32>(inside) << l;
  }
  u32* d = warp.reg<u32>(i.d[0]);
  for (u32 l : lanesOf(mask)) d[l] = out[l];
  if (i.pair >= 0) writeMask(warp.mask(static_cast<u32>(i.pair)), inRange, mask);
}

enum class Vote { Ballot, Any, All, Uniform };

template <Vote MODE>
void vote(Warp& warp, const Instruction& i, u32 mask) {
  u32 p = warp.mask(static_cast<u32>(i.predicate)) ^ (i.negated ? FULL_MASK : 0);
  const u32* members = warp.reg<u32>(i.s[MEMBERS]);
  if (MODE == Vote::Ballot) {
    u32* d = warp.reg<u32>(i.d[0]);
    for (u32 l : lanesOf(mask)) d[l] = p & mask & members[l];
    return;
  }
  u32 result = 0;
  for (u32 l : lanesOf(mask)) {
    u32 voters = members[l] & mask, ayes = p & voters;
    bool holds = MODE == Vote::Any ? ayes != 0 : MODE == Vote::All ? ayes == voters : ayes == 0 || ayes == voters;
    result |= static_cast<u32>(holds) << l;
  }
  writeMask(warp.mask(i.d[0]), result, mask);
}

/** match.any: the lanes with my value. match.all: all members if they agree, else none. */
template <bool ALL, class T>
void match(Warp& warp, const Instruction& i, u32 mask) {
  const T* a = warp.reg<T>(i.s[0]);
  const u32* members = warp.reg<u32>(i.s[MEMBERS]);
  u32 out[LANES], agree = 0;
  for (u32 l : lanesOf(mask)) {
    u32 same = 0;
    for (u32 other : lanesOf(mask & members[l])) same |= static_cast<u32>(a[other] == a[l]) << other;
    bool all = same == (mask & members[l]);
    out[l] = ALL && !all ? 0 : same;
    agree |= static_cast<u32>(all) << l;
  }
  u32* d = warp.reg<u32>(i.d[0]);
  for (u32 l : lanesOf(mask)) d[l] = out[l];
  if (i.pair >= 0) writeMask(warp.mask(static_cast<u32>(i.pair)), agree, mask);
}

template <class F, class T>
void reduce(Warp& warp, const Instruction& i, u32 mask) {
  const T* a = warp.reg<T>(i.s[0]);
  const u32* members = warp.reg<u32>(i.s[MEMBERS]);
  T out[LANES];
  for (u32 l : lanesOf(mask)) {
    u32 group = mask & members[l];
    out[l] = a[__builtin_ctz(group)];
    for (u32 other : lanesOf(group & (group - 1))) out[l] = F::f(out[l], a[other]);
  }
  T* d = warp.reg<T>(i.d[0]);
  for (u32 l : lanesOf(mask)) d[l] = out[l];
}
template <class F>
Handler pickReduce(Type type) {
  return type.kind == Type::Signed ? reduce<F, s32> : reduce<F, u32>;
}

void activeMask(Warp& warp, const Instruction& i, u32 mask) {
  u32* d = warp.reg<u32>(i.d[0]);
  for (u32 l : lanesOf(mask)) d[l] = mask;
}

void decodeShuffle(Decoder& decoder, Form& form, Instruction& i) {
  form.takeType();
  if (!form.take("sync")) decoder.refuse("only the .sync form is supported");
  decoder.need(form, 5);
  i.flow = Flow::WarpSync;
  const Operand& to = form.operands()[0];
  i.d[0] = decoder.destination(to, 4);
  if (!to.pair.empty()) i.pair = static_cast<s32>(decoder.predicateDestination(to.pair));
  for (int k = 0; k < 3; ++k) i.s[k] = decoder.source(form.operands()[k + 1], 4);
  i.s[MEMBERS] = decoder.source(form.operands()[4], 4);
  if (form.take("up")) i.run = shuffle<Shuffle::Up>;
  else if (form.take("down")) i.run = shuffle<Shuffle::Down>;
  else if (form.take("bfly")) i.run = shuffle<Shuffle::Butterfly>;
  else if (form.take("idx")) i.run = shuffle<Shuffle::Index>;
}

void decodeVote(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (!form.take("sync")) decoder.refuse("only the .sync form is supported");
  decoder.need(form, 3);
  i.flow = Flow::WarpSync;
  bool ballot = form.take("ballot");
  if (ballot != (type.kind != Type::Predicate)) decoder.refuse("wrong type of result");
  i.d[0] = ballot ? decoder.destination(form.operands()[0], 4) : decoder.predicateDestination(form.operands()[0].name);
  i.predicate = static_cast<s32>(decoder.predicateSource(form.operands()[1]));
  i.negated = form.operands()[1].negated;
  i.s[MEMBERS] = decoder.source(form.operands()[2], 4);
  if (ballot) i.run = vote<Vote::Ballot>;
  else if (form.take("any")) i.run = vote<Vote::Any>;
  else if (form.take("all")) i.run = vote<Vote::All>;
  else if (form.take("uni")) i.run = vote<Vote::Uniform>;
}

void decodeMatch(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.need(form, 3);
  if (!form.take("sync")) decoder.refuse("only the .sync form is supported");
  i.flow = Flow::WarpSync;
  const Operand& to = form.operands()[0];
  i.d[0] = decoder.destination(to, 4);
  if (!to.pair.empty()) i.pair = static_cast<s32>(decoder.predicateDestination(to.pair));
  i.s[0] = decoder.source(form.operands()[1], type.size);
  i.s[MEMBERS] = decoder.source(form.operands()[2], 4);
  bool all = form.take("all");
  if (!all && !form.take("any")) decoder.refuse("any or all is needed");
  if (type.size == 4) i.run = all ? match<true, u32> : match<false, u32>;
  else if (type.size == 8) i.run = all ? match<true, u64> : match<false, u64>;
}

void decodeRedux(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  decoder.need(form, 3);
  if (!form.take("sync") || type.size != 4) decoder.refuse("only the .sync form of 32 bits is supported");
  i.flow = Flow::WarpSync;
  i.d[0] = decoder.destination(form.operands()[0], 4);
  i.s[0] = decoder.source(form.operands()[1], 4);
  i.s[MEMBERS] = decoder.source(form.operands()[2], 4);
  if (form.take("add")) i.run = reduce<Add, u32>;
  else if (form.take("min")) i.run = pickReduce<Minimum>(type);
  else if (form.take("max")) i.run = pickReduce<Maximum>(type);
  else if (form.take("and")) i.run = reduce<And, u32>;
  else if (form.take("or")) i.run = reduce<Or, u32>;
  else if (form.take("xor")) i.run = reduce<Xor, u32>;
}

/** bar.sync a{, b}; bar.red.op d, a{, b}, p; barrier.sync without .aligned; bar.warp.sync mask. */
void decodeBarrier(Decoder& decoder, Form& form, Instruction& i) {
  i.run = nothing;
  const auto& operands = form.operands();
  if (form.take("warp")) {
    if (!form.take("sync")) decoder.refuse("this barrier is not supported");
    decoder.need(form, 1);
    i.flow = Flow::WarpSync;
    i.s[MEMBERS] = decoder.source(operands[0], 4);
    return;
  }
  i.flow = Flow::Barrier;
  form.take("cta");
  i.isAligned = form.take("aligned") || form.base() == "bar";
  bool reduces = form.take("red");
  if (!reduces && !form.take("sync")) decoder.refuse("this barrier is not supported");
  size_t first = reduces ? 1 : 0, last = operands.size() - (reduces ? 1 : 0);
  if (operands.size() < first + 1 || last - first < 1 || last - first > 2) decoder.refuse("wrong number of operands");
  i.s[0] = decoder.source(operands[first], 4);
  bool counted = last - first == 2;
  i.s[1] = counted ? decoder.source(operands[first + 1], 4) : decoder.constant(0, 4);
  decoder.kernel().hasCountedBarrier |= counted;
  if (!reduces) return;
  Type type = form.takeType();
  i.result = form.take("popc") ? BarrierResult::Popc : form.take("and") ? BarrierResult::And : BarrierResult::Or;
  if (i.result == BarrierResult::Or && !form.take("or")) decoder.refuse("this reduction is not supported");
  if ((i.result == BarrierResult::Popc) != (type.kind != Type::Predicate)) decoder.refuse("wrong type of result");
  i.d[0] = i.result == BarrierResult::Popc ? decoder.destination(operands[0], 4)
                                           : decoder.predicateDestination(operands[0].name);
  i.predicate = static_cast<s32>(decoder.predicateSource(operands.back()));
  i.negated = operands.back().negated;
}

void decodeActiveMask(Decoder& decoder, Form& form, Instruction& i) {
  form.takeType();
  decoder.operands(form, i, 4, {});
  i.run = activeMask;
}

void decodeNothing(Decoder&, Form& form, Instruction& i) {
  form.takeType();
  i.run = nothing;
}

void decodeTrap(Decoder& decoder, Form& form, Instruction& i) {
  decoder.need(form, 0);
  i.run = trap;
}

const DecodeEntry TABLE[] = {
    {"shfl", decodeShuffle},          {"vote", decodeVote},         {"match", decodeMatch},
    {"redux", decodeRedux},           {"bar", decodeBarrier},       {"barrier", decodeBarrier},
    {"activemask", decodeActiveMask}, {"nanosleep", decodeNothing}, {"trap", decodeTrap},
};

}  // namespace

Decode warpDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
