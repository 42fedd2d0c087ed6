/** The statements of a kernel, one after the other: declarations, labels, calls folded in, instructions. */
#include "decoder.hpp"
#include <algorithm>

namespace ptxsim {

/** Functions are folded into their callers; more levels than this are taken for recursion. */
constexpr size_t CALL_DEPTH_MAX = 32;
constexpr const char* RETURN_LABEL = "$return";
constexpr Decode (*FAMILIES[])(const std::string& opcode) = {
    arithmeticDecode, bitsDecode, compareDecode, convertDecode, memoryDecode, atomicDecode, warpDecode};

Decoder::Decoder(const SourceModule& source, const std::map<std::string, Module::Global>& globals, Kernel& kernel)
    : source_(source), globals_(globals), kernel_(kernel) {
  std::fill(std::begin(specialOf_), std::end(specialOf_), ~0u);
  std::fill(std::begin(kernel.specials), std::end(kernel.specials), ~0u);
  newRegister(8, true);  // register 0 stands where an instruction has no operand
}

void Decoder::refuse(const std::string& why) const {
  std::string where = item_ ? "PTX line " + std::to_string(item_->line) + ": " : "";
  std::string text = item_ ? ": " + item_->text : "";
  throw Fault(INVALID_PTX, "kernel " + kernel_.name + ", " + where + why + text);
}

void Decoder::run(const SourceFunction& entry) {
  kernel_.name = entry.name;
  kernel_.maxThreads = std::min(entry.maxThreads, 1024u);
  kernel_.exactThreads = entry.exactThreads;
  openScope(true);
  for (const SourceVariable& variable : entry.params) {
    kernel_.paramBytes = static_cast<u32>(alignUp(kernel_.paramBytes, variable.align));
    auto object = std::make_shared<ParamObject>();
    object->isKernel = true;
    object->offset = kernel_.paramBytes;
    scopes_.back().params[variable.name] = object;
    kernel_.params.push_back({kernel_.paramBytes, static_cast<u32>(variable.bytes())});
    kernel_.paramBytes += static_cast<u32>(variable.bytes());
  }
  callStack_.push_back(entry.name);
  body(entry);
  item_ = nullptr;
  Instruction end;
  end.flow = Flow::Exit;
  end.text = static_cast<u32>(kernel_.texts.size());
  kernel_.texts.push_back("(end of the kernel)");
  push(end);
  finish();
}

void Decoder::openScope(bool isFunction) {
  Scope scope;
  scope.id = scopeCount_++;
  scope.isFunction = isFunction;
  scopes_.push_back(std::move(scope));
}

std::vector<u32> Decoder::scopeIds() const {
  std::vector<u32> ids;
  for (size_t k = scopes_.size(); k-- > 0;) {
    ids.push_back(scopes_[k].id);
    if (scopes_[k].isFunction) break;
  }
  return ids;
}

void Decoder::body(const SourceFunction& function) {
  for (const SourceItem& next : function.body) item(next);
}

void Decoder::item(const SourceItem& item) {
  item_ = &item;
  switch (item.kind) {
    case SourceItem::ScopeOpen: return openScope(false);
    case SourceItem::ScopeClose: return scopes_.pop_back();
    case SourceItem::Register: return declareRegisters(item);
    case SourceItem::Variable: return declareVariable(item.variable);
    case SourceItem::Label: {
      u32 name = labelNames_.emplace(item.text, labelNames_.size()).first->second;
      labels_[{scopes_.back().id, name}] = static_cast<u32>(kernel_.code.size());
      return;
    }
    case SourceItem::Instruction: return item.instruction.opcode[0] == "call" ? call(item) : instruction(item);
  }
}

void Decoder::declareRegisters(const SourceItem& item) {
  const SourceVariable& variable = item.variable;
  int width = variable.type.kind == Type::Predicate ? 0 : std::max<int>(variable.type.size, 2);
  auto& names = scopes_.back().registers;
  if (item.registerCount == 0) names[variable.name] = newRegister(width, false);
  for (u32 k = 0; k < item.registerCount; ++k) names[variable.name + std::to_string(k)] = newRegister(width, false);
}

void Decoder::declareVariable(const SourceVariable& variable) {
  Symbol symbol{variable.space};
  if (variable.space == Space::Param) {
    scopes_.back().params[variable.name] = std::make_shared<ParamObject>();
    return;
  }
  if (variable.space == Space::Shared) layoutShared(variable, symbol);
  else if (variable.space == Space::Local) {
    symbol.address = alignUp(kernel_.localBytes, variable.align);
    kernel_.localBytes = static_cast<u32>(symbol.address + variable.bytes());
  } else refuse("a variable of this space cannot be declared in a function");
  scopes_.back().symbols[variable.name] = symbol;
}

void Decoder::layoutShared(const SourceVariable& variable, Symbol& symbol) {
  symbol.dynamic = variable.isArray && variable.count == 0;
  if (symbol.dynamic) return;
  symbol.address = alignUp(kernel_.staticShared, variable.align);
  kernel_.staticShared = static_cast<u32>(symbol.address + variable.bytes());
}

void Decoder::guard(const SourceInstruction& source, Instruction& i) {
  if (source.guard.empty()) return;
  Operand operand;
  operand.kind = Operand::Register;
  operand.name = source.guard;
  i.guard = static_cast<s32>(predicateSource(operand));
  i.guardNegated = source.guardNegated;
}

void Decoder::push(Instruction i) {
  kernel_.code.push_back(i);
  uses_.push_back(std::move(useNow_));
  defs_.push_back(std::move(defNow_));
  useNow_.clear();
  defNow_.clear();
}

Instruction& Decoder::again(Instruction& i) {
  push(i);
  return i;
}

void Decoder::instruction(const SourceItem& item) {
  const SourceInstruction& source = item.instruction;
  Instruction i;
  i.line = item.line;
  i.text = static_cast<u32>(kernel_.texts.size());
  kernel_.texts.push_back(item.text);
  guard(source, i);
  const std::string& base = source.opcode[0];
  if (base == "bra") branch(source, i);
  else if (base == "ret" || base == "exit") leave(source, i);
  else {
    Decode decode = nullptr;
    for (auto family : FAMILIES)
      if (!decode) decode = family(base);
    if (!decode) refuse("instruction " + base + " is not supported");
    Form form(source);
    decode(*this, form, i);
    std::string rest = form.leftOver();
    if (!rest.empty()) refuse("modifier " + rest + " is not supported here");
    if (!i.run) refuse("this form is not supported");
  }
  push(i);
}

void Decoder::branch(const SourceInstruction& source, Instruction& i) {
  Form form(source);
  form.take("uni");
  if (!form.leftOver().empty()) refuse("this branch is not supported");
  need(form, 1);
  i.flow = Flow::Branch;
  jumps_.push_back({static_cast<u32>(kernel_.code.size()), source.operands[0].name, scopeIds(), item_->line});
}

/** `ret` leaves a folded function by a jump past it; in a kernel, and for `exit`, the thread ends. */
void Decoder::leave(const SourceInstruction& source, Instruction& i) {
  Form form(source);
  form.take("uni");
  if (!form.leftOver().empty()) refuse("this form is not supported");
  if (source.opcode[0] == "exit" || callStack_.size() == 1) {
    i.flow = Flow::Exit;
    return;
  }
  i.flow = Flow::Branch;
  jumps_.push_back({static_cast<u32>(kernel_.code.size()), RETURN_LABEL, scopeIds(), item_->line});
}

void Decoder::call(const SourceItem& item) {
  const SourceInstruction& source = item.instruction;
  const SourceFunction* callee = nullptr;
  for (const SourceFunction& f : source_.functions)
    if (f.name == source.callee && f.hasBody && !f.isEntry) callee = &f;
  if (!callee) refuse("there is no function " + source.callee + " in this module");
  if (callStack_.size() >= CALL_DEPTH_MAX) refuse("calls are nested too deep, or recursive");
  if (callee->params.size() != source.operands.size() || callee->returns.size() != source.returns.size()) {
    refuse("wrong number of arguments");
  }
  Scope scope;
  scope.id = scopeCount_++;
  scope.isFunction = true;
  auto bind = [&](const SourceVariable& formal, const Operand& actual) {
    if (formal.space != Space::Param) refuse("parameters in registers are not supported");
    std::shared_ptr<ParamObject> object;
    for (size_t k = scopes_.size(); k-- > 0 && !object;) {
      auto found = scopes_[k].params.find(actual.name);
      if (found != scopes_[k].params.end()) object = found->second;
      if (scopes_[k].isFunction) break;
    }
    if (!object || object->isKernel) refuse("argument " + actual.name + " is not a parameter variable");
    scope.params[formal.name] = object;
  };
  for (size_t k = 0; k < callee->params.size(); ++k) bind(callee->params[k], source.operands[k]);
  for (size_t k = 0; k < callee->returns.size(); ++k) bind(callee->returns[k], source.returns[k]);
  // A guarded call: lanes that do not call jump over it.
  u32 over = ~0u;
  if (!source.guard.empty()) {
    Instruction skip;
    skip.line = item.line;
    skip.text = static_cast<u32>(kernel_.texts.size());
    kernel_.texts.push_back(item.text);
    guard(source, skip);
    skip.guardNegated = !skip.guardNegated;
    skip.flow = Flow::Branch;
    over = static_cast<u32>(kernel_.code.size());
    push(skip);
  }
  u32 id = scope.id;
  size_t depth = scopes_.size();
  scopes_.push_back(std::move(scope));
  callStack_.push_back(source.callee);
  body(*callee);
  callStack_.pop_back();
  scopes_.resize(depth);
  item_ = &item;
  u32 name = labelNames_.emplace(RETURN_LABEL, labelNames_.size()).first->second;
  labels_[{id, name}] = static_cast<u32>(kernel_.code.size());
  if (over != ~0u) kernel_.code[over].target = static_cast<u32>(kernel_.code.size());
}

}  // namespace ptxsim
