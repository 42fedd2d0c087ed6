/**
 * Turns the parsed body of a kernel into instructions: resolves names, folds calls in, picks handlers, assigns
 * registers.
 *
 * What has no exact handler is refused, and so is any modifier nobody asked for: a module that loads runs as written.
 */
#pragma once
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include "program.hpp"
#include "source.hpp"

namespace ptxsim {

/** A register before slots are assigned. */
struct VirtualRegister {
  u8 width = 0;        // bytes per lane; 0 is a predicate
  bool fixed = false;  // a constant, parameter or special value: set before the kernel starts
  u32 offset = 0;      // in the register file of a warp, once assigned
};

/** The opcode under work. Every modifier has to be taken by someone, or the instruction is refused. */
class Form {
 public:
  explicit Form(const SourceInstruction& source) : source_(source), used_(source.opcode.size()) { used_[0] = true; }
  bool take(const char* modifier);
  /** Takes any of the modifiers that only advise caches. */
  void takeCacheHints();
  /** The last type that was not taken; None if there is none. */
  Type takeType();
  /** Takes the name of a memory; generic where there is none. */
  Space takeSpace();
  /** Takes the name of whom an access is ordered for. */
  bool takeScope();
  std::string leftOver() const;
  const std::vector<Operand>& operands() const { return source_.operands; }
  const std::string& base() const { return source_.opcode[0]; }

 private:
  const SourceInstruction& source_;
  std::vector<bool> used_;
};

class Decoder {
 public:
  Decoder(const SourceModule& source, const std::map<std::string, Module::Global>& globals, Kernel& kernel);
  void run(const SourceFunction& entry);

  // For the decode functions. Each use or definition of a register is noted for the instruction under work.
  [[noreturn]] void refuse(const std::string& why) const;
  void need(const Form& form, size_t operands) const;
  /** d[0] of `destinationBytes`, then s[0], s[1], ... of the given sizes. */
  void operands(const Form& form, Instruction& i, int destinationBytes, std::initializer_list<int> sourceBytes);
  u32 source(const Operand& operand, int bytes);
  /** As source, for instructions that accept a register wider than their type. */
  u32 wideSource(const Operand& operand, int bytes);
  u32 destination(const Operand& operand, int bytes);
  u32 wideDestination(const Operand& operand, int bytes);
  u32 predicateSource(const Operand& operand);
  u32 predicateDestination(const std::string& name);
  u32 constant(u64 bits, int bytes);
  /** The address operand of a load, store or atomic operation: sets s[0], offset and wideAddress. */
  void address(const Operand& operand, Instruction& i, Space space);
  int widthOf(u32 reg) const { return registers_[reg].width; }
  Kernel& kernel() { return kernel_; }

  // Parameters: of the kernel, or of a function that is being folded in.
  struct ParamObject {
    std::map<u64, std::pair<u32, u8>> cells;  // byte offset -> register, bytes
    bool isKernel = false;
    u32 offset = 0;  // in the parameter buffer of the kernel
  };
  ParamObject& param(const std::string& name);
  u32 kernelParam(u64 offset, Type type, int width);
  u32 paramCell(ParamObject& object, u64 offset, int bytes, bool define);
  /** Ends the instruction under work and begins another of the same statement. */
  Instruction& again(Instruction& i);

 private:
  struct Symbol {
    Space space;
    u64 address = 0;
    bool dynamic = false;  // shared memory whose place is known only when all static variables are
  };
  struct Scope {
    u32 id = 0;
    bool isFunction = false;
    std::unordered_map<std::string, u32> registers;
    std::unordered_map<std::string, std::shared_ptr<ParamObject>> params;
    std::unordered_map<std::string, Symbol> symbols;
  };
  struct Constant {
    u32 reg;
    u64 bits;
    bool dynamicShared;
  };
  struct Jump {
    u32 instruction;
    std::string label;
    std::vector<u32> scopes;
    int line;
  };

  void body(const SourceFunction& function);
  void item(const SourceItem& item);
  void declareRegisters(const SourceItem& item);
  void declareVariable(const SourceVariable& variable);
  void instruction(const SourceItem& item);
  void branch(const SourceInstruction& source, Instruction& i);
  void leave(const SourceInstruction& source, Instruction& i);
  void call(const SourceItem& item);
  void guard(const SourceInstruction& source, Instruction& i);
  void push(Instruction i);
  void openScope(bool isFunction);
  std::vector<u32> scopeIds() const;

  u32 newRegister(int width, bool fixed);
  s64 findRegister(const std::string& name);
  bool specialRegister(const std::string& name, u32& reg);
  Symbol symbol(const std::string& name);
  u32 symbolAddress(const std::string& name, s64 offset, int bytes);
  void layoutShared(const SourceVariable& variable, Symbol& symbol);
  void resolveJumps();
  void finish();

  const SourceModule& source_;
  const std::map<std::string, Module::Global>& globals_;
  Kernel& kernel_;
  std::vector<VirtualRegister> registers_;
  std::vector<std::vector<u32>> uses_, defs_;  // of each instruction
  std::vector<u32> useNow_, defNow_;
  std::vector<Scope> scopes_;
  u32 scopeCount_ = 0;
  std::vector<Constant> constants_;
  std::map<std::pair<u64, int>, u32> constantOf_;
  std::map<std::pair<u64, int>, u32> dynamicOf_;
  std::map<std::string, Symbol> moduleShared_;
  u32 specialOf_[SPECIALS];
  std::vector<std::pair<u32, ParamLoad>> paramLoads_;
  std::map<std::pair<u32, u32>, u32> labels_;  // (scope, index into labelNames_) -> instruction
  std::unordered_map<std::string, u32> labelNames_;
  std::vector<Jump> jumps_;
  std::vector<std::string> callStack_;
  std::vector<std::string> returnLabels_;  // of the functions being folded in
  const SourceItem* item_ = nullptr;
};

using Decode = void (*)(Decoder& decoder, Form& form, Instruction& instruction);
/** One opcode of a family. */
struct DecodeEntry {
  const char* opcode;
  Decode decode;
};
template <size_t N>
Decode findDecode(const DecodeEntry (&table)[N], const std::string& opcode) {
  for (const DecodeEntry& entry : table)
    if (opcode == entry.opcode) return entry.decode;
  return nullptr;
}

/** The decode function of an opcode, or null. Each file of a family has a table. */
Decode arithmeticDecode(const std::string& opcode);
Decode atomicDecode(const std::string& opcode);
Decode bitsDecode(const std::string& opcode);
Decode compareDecode(const std::string& opcode);
Decode convertDecode(const std::string& opcode);
Decode memoryDecode(const std::string& opcode);
Decode warpDecode(const std::string& opcode);

/** Copies a register into another, cut or extended as a value of type `memory`. */
Handler extendHandler(Type memory, int fromWidth, int toWidth);

/** Liveness and slots: gives registers that are never alive together the same place. Returns bytes of a warp's file. */
u32 assignRegisterSlots(const std::vector<Instruction>& code, const std::vector<std::vector<u32>>& uses,
                        const std::vector<std::vector<u32>>& defs, std::vector<VirtualRegister>& registers,
                        u32 fixedBytes);

}  // namespace ptxsim
