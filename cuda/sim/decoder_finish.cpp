/** What is left when all instructions of a kernel are there: targets of jumps, constants, places of registers. */
#include <cstring>
#include "decoder.hpp"

namespace ptxsim {

void Decoder::resolveJumps() {
  for (const Jump& jump : jumps_) {
    auto name = labelNames_.find(jump.label);
    bool found = false;
    for (u32 scope : jump.scopes) {
      if (name == labelNames_.end()) break;
      auto label = labels_.find({scope, name->second});
      if (label == labels_.end()) continue;
      kernel_.code[jump.instruction].target = label->second;
      found = true;
      break;
    }
    if (!found) {
      throw Fault(INVALID_PTX, "kernel " + kernel_.name + ", PTX line " + std::to_string(jump.line) +
                                   ": there is no label " + jump.label);
    }
  }
}

void Decoder::finish() {
  resolveJumps();
  u32 top = 0;
  auto bytesOf = [](const VirtualRegister& r) { return r.width == 0 ? 64u : r.width * LANES; };
  for (VirtualRegister& reg : registers_) {
    if (!reg.fixed) continue;
    reg.offset = top;
    top += bytesOf(reg);
  }
  kernel_.constants.assign(top, 0);
  u64 dynamicStart = alignUp(kernel_.staticShared, 16);
  for (const Constant& constant : constants_) {
    const VirtualRegister& reg = registers_[constant.reg];
    u64 bits = constant.bits + (constant.dynamicShared ? dynamicStart : 0);
    u8* at = kernel_.constants.data() + reg.offset;
    if (reg.width == 0) std::memcpy(at, &bits, 4);
    else
      for (u32 lane = 0; lane < LANES; ++lane) std::memcpy(at + lane * reg.width, &bits, reg.width);
  }
  kernel_.contextBytes = assignRegisterSlots(kernel_.code, uses_, defs_, registers_, top);
  auto place = [this](u32& field) { field = registers_[field].offset; };
  auto placeOptional = [this](s32& field) {
    if (field >= 0) field = static_cast<s32>(registers_[static_cast<u32>(field)].offset);
  };
  for (Instruction& i : kernel_.code) {
    for (u32& field : i.d) place(field);
    for (u32& field : i.s) place(field);
    placeOptional(i.guard);
    placeOptional(i.pair);
    placeOptional(i.predicate);
  }
  for (u32 k = 0; k < SPECIALS; ++k)
    if (specialOf_[k] != ~0u) kernel_.specials[k] = registers_[specialOf_[k]].offset;
  for (auto& [reg, load] : paramLoads_) {
    load.slot = registers_[reg].offset;
    kernel_.paramLoads.push_back(load);
  }
}

}  // namespace ptxsim
