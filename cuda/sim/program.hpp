/** Decoded programs: what runs. Operands are byte offsets into the register file of a warp. */
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "base.hpp"
#include "memory.hpp"

namespace ptxsim {

struct Warp;
struct Instruction;

/** Executes one instruction for the lanes of `mask`. */
using Handler = void (*)(Warp& warp, const Instruction& instruction, u32 mask);

/** What the scheduler has to know of an instruction; all else is in its handler. */
enum class Flow : u8 { Plain, Branch, Exit, Barrier, WarpSync };

enum class BarrierResult : u8 { None, Popc, And, Or };
enum class Combine : u8 { None, And, Or, Xor };

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::Plain;
  Space space = Space::Generic;
  Combine combine = Combine::None;  // setp.and and so on
  BarrierResult result = BarrierResult::None;
  u8 parts = 1;     // elements of a vector access
  u8 rounding = 0;  // index into ROUNDINGS of directed.hpp
  bool guardNegated = false;
  bool negated = false;     // of the predicate operand `predicate`
  bool wideAddress = true;  // the address register has 64 bits
  bool isAtomic = false;
  bool isVolatile = false;
  bool isAligned = false;  // bar.sync: all lanes of a warp must be here together
  bool hasResult = true;   // atom, not red
  s32 guard = -1;          // offset of the guard predicate, or -1
  s32 pair = -1;           // q of p|q
  s32 predicate = -1;
  u32 d[4] = {0, 0, 0, 0};  // destinations; the sources of a store
  u32 s[4] = {0, 0, 0, 0};  // sources
  u32 target = 0;           // of a branch
  s64 offset = 0;           // added to an address
  int line = 0;
  u32 text = 0;  // index into Kernel::texts

  /** The allocation this instruction hit last; most hit the same one again. */
  mutable Allocation* allocation = nullptr;
};

/** Values a thread can read of its place in the launch. The order is that of Kernel::specials. */
enum Special : u8 {
  TID_X,
  TID_Y,
  TID_Z,
  NTID_X,
  NTID_Y,
  NTID_Z,
  CTAID_X,
  CTAID_Y,
  CTAID_Z,
  NCTAID_X,
  NCTAID_Y,
  NCTAID_Z,
  LANEID,
  WARPID,
  LANEMASK_EQ,
  LANEMASK_LE,
  LANEMASK_LT,
  LANEMASK_GE,
  LANEMASK_GT,
  SPECIALS
};

struct KernelParam {
  u32 offset = 0;
  u32 bytes = 0;
};

/** A kernel parameter that is copied into a register of all lanes before the kernel starts. */
struct ParamLoad {
  u32 slot = 0;
  u32 offset = 0;
  u8 bytes = 0;
  u8 width = 0;
  bool isSigned = false;
};

/** Sums since they were last reset. The order is that of ptxsimCounters. */
struct Counters {
  u64 launches = 0, blocks = 0, warpInstructions = 0, threadInstructions = 0;
  u64 globalRequests = 0, globalSectors = 0, globalLoadBytes = 0, globalStoreBytes = 0;
  u64 sharedRequests = 0, sharedWavefronts = 0, atomics = 0, barriers = 0, divergentBranches = 0, nanoseconds = 0;
};

struct Kernel {
  std::string name;
  std::vector<KernelParam> params;
  u32 paramBytes = 0;
  u32 maxThreads = 1024;
  bool exactThreads = false;
  std::vector<Instruction> code;
  std::vector<std::string> texts;

  u32 contextBytes = 0;       // register file of a warp
  std::vector<u8> constants;  // its first bytes, the same for every warp
  u32 specials[SPECIALS];     // slot of each, ~0 when unused
  std::vector<ParamLoad> paramLoads;
  u32 staticShared = 0;
  u32 localBytes = 0;
  bool hasCountedBarrier = false;  // barriers of part of a block: the shared race check is left out

  Counters counters;
  u64 generation = 0;  // of Memory, that Instruction::allocation belongs to
};

struct Module {
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  struct Global {
    u64 address = 0;
    u64 bytes = 0;
  };
  std::map<std::string, Global> globals;
};

/** Parses, checks and decodes for a device of `capability` (75 is 7.5); allocates module variables. Throws a Fault with
 * line and text of what cannot run. */
/** What a driver and its device take: capability and version of PTX, both times ten. */
struct PtxLimits {
  u32 capability;
  u32 versionMax;
};

std::unique_ptr<Module> loadModule(const std::string& ptx, Memory& memory, const PtxLimits& limits);
void unloadModule(Module& module, Memory& memory);

}  // namespace ptxsim
