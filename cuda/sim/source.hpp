/** PTX as it was written: what the parser makes and the decoder reads. Nothing is resolved here. */
#pragma once
#include <string>
#include <vector>
#include "base.hpp"

namespace ptxsim {

struct Operand {
  enum Kind { None, Register, Integer, Float32, Float64, Symbol, Vector, Memory };
  Kind kind = None;
  std::string name;            // Register, Symbol
  u64 bits = 0;                // Integer, Float32, Float64
  s64 offset = 0;              // Memory, and Symbol + offset
  bool negated = false;        // !p
  std::string pair;            // q of p|q
  std::vector<Operand> parts;  // Vector; the base of Memory
};

struct SourceVariable {
  Space space = Space::Global;
  Type type;
  u32 align = 0;
  u64 count = 1;
  std::string name;
  bool isArray = false;
  bool isExtern = false;
  std::vector<Operand> init;
  int line = 0;

  u64 bytes() const { return count * (type.size ? type.size : 1); }
};

struct SourceInstruction {
  std::string guard;
  bool guardNegated = false;
  std::vector<std::string> opcode;  // ld, global, f32
  std::vector<Operand> operands;
  // call only: call (returns), callee, (operands)
  std::string callee;
  std::vector<Operand> returns;
};

/** One thing in a body, in order. */
struct SourceItem {
  enum Kind { Label, Register, Variable, Instruction, ScopeOpen, ScopeClose };
  Kind kind = Instruction;
  int line = 0;
  std::string text;         // the statement on one line, for messages; the name of a label
  SourceVariable variable;  // Register, Variable
  u32 registerCount = 0;    // of %r<n>; 0 for a single name
  SourceInstruction instruction;
};

struct SourceFunction {
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  int line = 0;
  std::vector<SourceVariable> params;
  std::vector<SourceVariable> returns;
  std::vector<SourceItem> body;
  u32 maxThreads = 1024;
  bool exactThreads = false;  // .reqntid
};

struct SourceModule {
  std::string version;
  std::string target;
  std::vector<SourceVariable> variables;
  std::vector<SourceFunction> functions;
};

/** Reads PTX text. Throws a Fault that names the line of what it cannot read. */
SourceModule parsePtx(const std::string& text);

}  // namespace ptxsim
