/** Loads, stores and fences. */
#include <cstring>
#include "decoder.hpp"
#include "lanes.hpp"

namespace ptxsim {

namespace {

/** Loads N values of type MEMORY into registers of type REG, sign- or zero-extended. */
template <class MEMORY, class REG, int N>
void load(Warp& warp, const Instruction& i, u32 mask) {
  Reach reach;
  resolve(warp, i, mask, sizeof(MEMORY) * N, Access::Load, reach);
  REG* d[N];
  for (int k = 0; k < N; ++k) d[k] = warp.reg<REG>(i.d[k]);
  if (N == 1 && sizeof(MEMORY) == sizeof(REG) && reach.isDense) {
    std::memcpy(d[0], reach.hosts[0], sizeof(REG) * LANES);
    return;
  }
  forLanes(mask, [&](u32 l) {
    MEMORY values[N];
    std::memcpy(values, reach.hosts[l], sizeof values);
    for (int k = 0; k < N; ++k) d[k][l] = static_cast<REG>(values[k]);
  });
}

template <class MEMORY, class REG, int N>
void store(Warp& warp, const Instruction& i, u32 mask) {
  Reach reach;
  constexpr u32 bytes = sizeof(MEMORY) * N;
  resolve(warp, i, mask, bytes, Access::Store, reach);
  const REG* s[N];
  for (int k = 0; k < N; ++k) s[k] = warp.reg<REG>(i.d[k]);
  auto values = [&](u32 l, u8* to) {
    MEMORY out[N];
    for (int k = 0; k < N; ++k) out[k] = static_cast<MEMORY>(s[k][l]);
    std::memcpy(to, out, sizeof out);
  };
  if (warp.engine->controls.checkRaces && !i.isVolatile && i.space != Space::Local) {
    Suspicion suspicions[LANES];
    for (u32 l : lanesOf(noteStores(warp, i, mask, bytes, reach, suspicions))) {
      u8 fresh[bytes];
      values(l, fresh);
      if (std::memcmp(fresh, reach.hosts[l], bytes) != 0) reportStore(warp, i, l, suspicions[l]);
    }
  }
  if (N == 1 && sizeof(MEMORY) == sizeof(REG) && reach.isDense) std::memcpy(reach.hosts[0], s[0], sizeof(REG) * LANES);
  else forLanes(mask, [&](u32 l) { values(l, reach.hosts[l]); });
}

template <class MEMORY, class SMEMORY, class REG, int N>
Handler pickOne(bool isLoad, bool isSigned) {
  if (!isLoad) return store<MEMORY, REG, N>;
  return isSigned ? load<SMEMORY, REG, N> : load<MEMORY, REG, N>;
}
template <int N>
Handler pickAccess(bool isLoad, Type type, int width) {
  bool isSigned = type.kind == Type::Signed;
  switch (type.size * 16 + width) {
    case 0x12: return pickOne<u8, s8, u16, N>(isLoad, isSigned);
    case 0x14: return pickOne<u8, s8, u32, N>(isLoad, isSigned);
    case 0x18: return pickOne<u8, s8, u64, N>(isLoad, isSigned);
    case 0x22: return pickOne<u16, u16, u16, N>(isLoad, false);
    case 0x24: return pickOne<u16, s16, u32, N>(isLoad, isSigned);
    case 0x28: return pickOne<u16, s16, u64, N>(isLoad, isSigned);
    case 0x44: return pickOne<u32, u32, u32, N>(isLoad, false);
    case 0x48: return pickOne<u32, s32, u64, N>(isLoad, isSigned);
    case 0x88: return pickOne<u64, u64, u64, N>(isLoad, false);
    default: return nullptr;
  }
}

void nothing(Warp&, const Instruction&, u32) {}

void fence(Warp& warp, const Instruction&, u32) { warp.engine->passFence(*warp.block); }

void accessParam(Decoder& decoder, Instruction& i, const std::vector<Operand>& values, const Operand& at, Type type,
                 bool isLoad) {
  if (at.kind != Operand::Memory || at.parts[0].name.empty()) decoder.refuse("a parameter in brackets is needed");
  Decoder::ParamObject& object = decoder.param(at.parts[0].name);
  for (size_t k = 0; k < values.size(); ++k) {
    if (k > 0) decoder.again(i);
    u64 offset = static_cast<u64>(at.offset) + k * type.size;
    if (isLoad) {
      i.d[0] = decoder.wideDestination(values[k], type.size);
      int width = decoder.widthOf(i.d[0]);
      if (object.isKernel) {
        i.s[0] = decoder.kernelParam(object.offset + offset, type, width);
        i.run = extendHandler({Type::Unsigned, static_cast<u8>(width)}, width, width);
      } else {
        i.s[0] = decoder.paramCell(object, offset, type.size, false);
        i.run = extendHandler(type, decoder.widthOf(i.s[0]), width);
      }
    } else {
      if (object.isKernel) decoder.refuse("the parameters of a kernel cannot be written");
      i.s[0] = decoder.wideSource(values[k], type.size);
      i.d[0] = decoder.paramCell(object, offset, type.size, true);
      i.run = extendHandler(type, decoder.widthOf(i.s[0]), decoder.widthOf(i.d[0]));
    }
  }
}

template <bool LOAD>
void decodeAccess(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (!type || type.kind == Type::Predicate) decoder.refuse("a type of memory is needed");
  decoder.need(form, 2);
  size_t parts = form.take("v4") ? 4 : form.take("v2") ? 2 : 1;
  Space space = form.takeSpace();
  i.isVolatile =
      form.take("volatile") || form.take("cv") || form.take("relaxed") || form.take("acquire") || form.take("release");
  if (i.isVolatile) form.takeScope();
  form.takeCacheHints();
  const Operand& at = form.operands()[LOAD ? 1 : 0];
  const Operand& value = form.operands()[LOAD ? 0 : 1];
  std::vector<Operand> values = value.kind == Operand::Vector ? value.parts : std::vector<Operand>{value};
  if (values.size() != parts) decoder.refuse("as many registers as elements are needed");
  if (type.size * parts > 16) decoder.refuse("accesses have at most 16 bytes");
  if (space == Space::Param) {
    // Only integer extension makes sense of a narrow type in a wide register; other kinds are moved as bits.
    Type moved = type.integer() ? type : Type{Type::Bits, type.size};
    return accessParam(decoder, i, values, at, moved, LOAD);
  }
  if (!LOAD && space == Space::Const) decoder.refuse("constant memory cannot be written");
  decoder.address(at, i, space);
  i.parts = static_cast<u8>(parts);
  int width = 0;
  for (size_t k = 0; k < parts; ++k) {
    i.d[k] = LOAD ? decoder.wideDestination(values[k], type.size) : decoder.wideSource(values[k], type.size);
    if (k > 0 && decoder.widthOf(i.d[k]) != width) decoder.refuse("registers of one width are needed");
    width = decoder.widthOf(i.d[k]);
  }
  i.run = parts == 1   ? pickAccess<1>(LOAD, type, width)
          : parts == 2 ? pickAccess<2>(LOAD, type, width)
                       : pickAccess<4>(LOAD, type, width);
}

void decodeFence(Decoder& decoder, Form& form, Instruction& i) {
  decoder.need(form, 0);
  if (!form.take("sc")) form.take("acq_rel");
  bool wide = form.take("gl") || form.take("sys") || form.take("gpu");
  if (!wide && !form.take("cta")) decoder.refuse("a scope is needed");
  i.run = wide ? fence : nothing;
}

void decodePrefetch(Decoder&, Form& form, Instruction& i) {
  form.takeSpace();
  if (!form.take("L1")) form.take("L2");
  i.run = nothing;
}

const DecodeEntry TABLE[] = {
    {"ld", decodeAccess<true>}, {"ldu", decodeAccess<true>},  {"st", decodeAccess<false>},   {"membar", decodeFence},
    {"fence", decodeFence},     {"prefetch", decodePrefetch}, {"prefetchu", decodePrefetch},
};

}  // namespace

Decode memoryDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
