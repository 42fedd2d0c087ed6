/** Operands: registers, constants, symbols, addresses and parameters. */
#include <algorithm>
#include "decoder.hpp"

namespace ptxsim {

u32 Decoder::newRegister(int width, bool fixed) {
  VirtualRegister reg;
  reg.width = static_cast<u8>(width);
  reg.fixed = fixed;
  registers_.push_back(reg);
  return static_cast<u32>(registers_.size() - 1);
}

s64 Decoder::findRegister(const std::string& name) {
  for (size_t k = scopes_.size(); k-- > 0;) {
    auto found = scopes_[k].registers.find(name);
    if (found != scopes_[k].registers.end()) return found->second;
    if (scopes_[k].isFunction) break;
  }
  return -1;
}

bool Decoder::specialRegister(const std::string& name, u32& reg) {
  static const char* const NAMES[SPECIALS] = {
      "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",     "%ntid.z", "%ctaid.x",
      "%ctaid.y",     "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",   "%laneid", "%warpid",
      "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"};
  for (u32 k = 0; k < SPECIALS; ++k) {
    if (name != NAMES[k]) continue;
    if (specialOf_[k] == ~0u) specialOf_[k] = newRegister(4, true);
    reg = specialOf_[k];
    return true;
  }
  return false;
}

u32 Decoder::constant(u64 bits, int bytes) {
  if (bytes == 2) bits &= 0xffff;
  if (bytes == 4) bits &= 0xffffffffu;
  auto found = constantOf_.find({bits, bytes});
  if (found != constantOf_.end()) return found->second;
  u32 reg = newRegister(bytes, true);
  constantOf_[{bits, bytes}] = reg;
  constants_.push_back({reg, bits, false});
  return reg;
}

Decoder::Symbol Decoder::symbol(const std::string& name) {
  for (size_t k = scopes_.size(); k-- > 0;) {
    auto found = scopes_[k].symbols.find(name);
    if (found != scopes_[k].symbols.end()) return found->second;
    if (scopes_[k].isFunction) break;
  }
  auto global = globals_.find(name);
  if (global != globals_.end()) return {Space::Global, global->second.address, false};
  auto known = moduleShared_.find(name);
  if (known != moduleShared_.end()) return known->second;
  for (const SourceVariable& variable : source_.variables) {
    if (variable.name != name || variable.space != Space::Shared) continue;
    Symbol made{Space::Shared};
    layoutShared(variable, made);
    return moduleShared_[name] = made;
  }
  refuse("unknown name " + name);
}

u32 Decoder::symbolAddress(const std::string& name, s64 offset, int bytes) {
  Symbol found = symbol(name);
  u64 value = found.address + static_cast<u64>(offset);
  if (bytes == 4 && found.space == Space::Global) refuse("the address of a global variable needs 64 bits");
  if (!found.dynamic) return constant(value, bytes);
  auto known = dynamicOf_.find({value, bytes});
  if (known != dynamicOf_.end()) return known->second;
  u32 reg = newRegister(bytes, true);
  constants_.push_back({reg, value, true});
  return dynamicOf_[{value, bytes}] = reg;
}

void Decoder::need(const Form& form, size_t operands) const {
  if (form.operands().size() != operands) refuse("wrong number of operands");
}

void Decoder::operands(const Form& form, Instruction& i, int destinationBytes, std::initializer_list<int> sourceBytes) {
  need(form, 1 + sourceBytes.size());
  i.d[0] = destination(form.operands()[0], destinationBytes);
  size_t k = 0;
  for (int bytes : sourceBytes) {
    i.s[k] = source(form.operands()[k + 1], bytes);
    ++k;
  }
}

u32 Decoder::source(const Operand& operand, int bytes) {
  u32 reg = wideSource(operand, bytes);
  if (widthOf(reg) != std::max(bytes, 2))
    refuse("a register of " + std::to_string(widthOf(reg)) + " bytes where " + std::to_string(bytes) + " are meant");
  return reg;
}

u32 Decoder::wideSource(const Operand& operand, int bytes) {
  if (operand.negated) refuse("a negated operand is not supported here");
  u32 reg = 0;
  switch (operand.kind) {
    case Operand::Integer: reg = constant(operand.bits, std::max(bytes, 2)); break;
    case Operand::Float32: reg = constant(operand.bits, 4); break;
    case Operand::Float64: reg = constant(operand.bits, 8); break;
    case Operand::Register:
    case Operand::Symbol: {
      s64 found = findRegister(operand.name);
      if (found >= 0) reg = static_cast<u32>(found);
      else if (operand.kind == Operand::Symbol) reg = symbolAddress(operand.name, operand.offset, bytes);
      else if (!specialRegister(operand.name, reg)) refuse("unknown register " + operand.name);
      break;
    }
    default: refuse("this operand is not supported here");
  }
  if (widthOf(reg) == 0) refuse("a predicate where a value is meant");
  useNow_.push_back(reg);
  return reg;
}

u32 Decoder::wideDestination(const Operand& operand, int bytes) {
  if (operand.name == "_") return newRegister(std::max(bytes, 2), false);
  s64 found = operand.kind == Operand::Register || operand.kind == Operand::Symbol ? findRegister(operand.name) : -1;
  if (found < 0) refuse("unknown destination " + operand.name);
  u32 reg = static_cast<u32>(found);
  if (widthOf(reg) < bytes) refuse("the destination is too narrow");
  defNow_.push_back(reg);
  return reg;
}

u32 Decoder::destination(const Operand& operand, int bytes) {
  u32 reg = wideDestination(operand, bytes);
  if (widthOf(reg) != std::max(bytes, 2))
    refuse("a destination of " + std::to_string(widthOf(reg)) + " bytes where " + std::to_string(bytes) + " are meant");
  return reg;
}

u32 Decoder::predicateSource(const Operand& operand) {
  u32 reg = 0;
  if (operand.kind == Operand::Integer) reg = constant(operand.bits ? FULL_MASK : 0, 0);
  else {
    s64 found = findRegister(operand.name);
    if (found < 0) refuse("unknown predicate " + operand.name);
    reg = static_cast<u32>(found);
  }
  if (widthOf(reg) != 0) refuse("a value where a predicate is meant");
  useNow_.push_back(reg);
  return reg;
}

u32 Decoder::predicateDestination(const std::string& name) {
  if (name == "_") return newRegister(0, false);
  s64 found = findRegister(name);
  if (found < 0 || widthOf(static_cast<u32>(found)) != 0) refuse("unknown predicate " + name);
  defNow_.push_back(static_cast<u32>(found));
  return static_cast<u32>(found);
}

void Decoder::address(const Operand& operand, Instruction& i, Space space) {
  if (operand.kind != Operand::Memory) refuse("an address in brackets is needed");
  const Operand& base = operand.parts[0];
  i.offset = operand.offset;
  i.space = space;
  if (base.kind == Operand::Integer) {
    i.s[0] = constant(0, 8);
    return;
  }
  s64 found = findRegister(base.name);
  if (found < 0 && base.kind == Operand::Register) refuse("unknown register " + base.name);
  if (found < 0) {
    Symbol target = symbol(base.name);
    bool fits = target.space == space || (target.space == Space::Global && space == Space::Const);
    if (!fits) refuse(base.name + " is not in the space of this access");
    i.s[0] = symbolAddress(base.name, 0, 8);
  } else {
    i.s[0] = static_cast<u32>(found);
    if (widthOf(i.s[0]) < 4) refuse("an address of 16 bits");
  }
  useNow_.push_back(i.s[0]);
  i.wideAddress = widthOf(i.s[0]) == 8;
}

Decoder::ParamObject& Decoder::param(const std::string& name) {
  for (size_t k = scopes_.size(); k-- > 0;) {
    auto found = scopes_[k].params.find(name);
    if (found != scopes_[k].params.end()) return *found->second;
    if (scopes_[k].isFunction) break;
  }
  refuse("unknown parameter " + name);
}

u32 Decoder::kernelParam(u64 offset, Type type, int width) {
  if (offset + type.size > kernel_.paramBytes) refuse("read past the parameters");
  u32 reg = newRegister(width, true);
  ParamLoad load;
  load.offset = static_cast<u32>(offset);
  load.bytes = type.size;
  load.width = static_cast<u8>(width);
  load.isSigned = type.kind == Type::Signed;
  paramLoads_.push_back({reg, load});
  useNow_.push_back(reg);
  return reg;
}

u32 Decoder::paramCell(ParamObject& object, u64 offset, int bytes, bool define) {
  auto found = object.cells.find(offset);
  if (found == object.cells.end()) {
    if (!define) refuse("a parameter is read in other pieces than it was written");
    found = object.cells.emplace(offset, std::make_pair(newRegister(std::max(bytes, 2), false), static_cast<u8>(bytes)))
                .first;
  }
  // A narrower read takes the low bytes of what was written.
  u8 known = found->second.second;
  if (define ? known != bytes : known < bytes) refuse("a parameter is accessed in pieces of different sizes");
  (define ? defNow_ : useNow_).push_back(found->second.first);
  return found->second.first;
}

}  // namespace ptxsim
