/** The running machine: warps, blocks, the controls of the simulator and the engine that launches kernels. */
#pragma once
#include <string>
#include <vector>
#include "program.hpp"

namespace ptxsim {

/** Windows of the generic address space; `cvta` adds and takes them away. */
constexpr u64 SHARED_WINDOW = 0x0000'0100'0000'0000ull;
constexpr u64 LOCAL_WINDOW = 0x0000'0200'0000'0000ull;
constexpr u32 SHARED_BYTES_MAX = 48 * 1024;

struct Engine;
struct Block;

struct Warp {
  u8* registers = nullptr;
  u8* local = nullptr;  // localBytes of each lane, one after the other
  Block* block = nullptr;
  Engine* engine = nullptr;
  Kernel* kernel = nullptr;
  u32 index = 0;
  u32 pc[LANES];
  u32 present = 0;  // lanes that exist
  u32 exited = 0, atBarrier = 0, atSync = 0;
  u32 random = 1;
  bool rotate = false;  // a spin loop was cut off: another group of lanes runs next

  template <class T>
  T* reg(u32 offset) const {
    return reinterpret_cast<T*>(registers + offset);
  }
  u32& mask(u32 offset) const { return *reg<u32>(offset); }
  u32 live() const { return present & ~exited; }
  u32 runnable() const { return live() & ~atBarrier & ~atSync; }
  u32 nextRandom() { return (random = random * 1664525u + 1013904223u) >> 8; }
};

/** Who touched a word of shared memory since the last barrier. */
struct SharedWord {
  static constexpr u16 MANY = 0xffff;
  u32 writeEpoch = 0, readEpoch = 0;
  u32 readers = 0;  // a bit for each warp
  u16 writer = 0;
  bool writeAtomic = false;
  int writeLine = 0, readLine = 0;
};

struct Block {
  u32 id[3] = {0, 0, 0};
  u64 index = 0;
  bool live = false;
  u32 epoch = 0;  // grows at every barrier of the whole block
  std::vector<Warp> warps;
  std::vector<u8> shared;
  std::vector<u8> sharedBits;  // a bit for each byte that was written
  std::vector<SharedWord> words;
};

struct Launch {
  u32 grid[3];
  u32 block[3];
  u32 dynamicShared = 0;
};

/** What a user can set; see docs/gpu.md. */
struct Controls {
  u32 seed = 0;
  u32 residentBlocks = 1;
  u32 quantum = 4096;
  bool counters = false;
  bool checkRaces = true;
  bool checkUninitialized = true;
  bool splitLanes = false;
  u64 warpInstructionsMax = 2'000'000'000ull;
};

struct Engine {
  Memory memory{8ull << 30};
  Controls controls;

  void launch(Kernel& kernel, const Launch& launch, const u8* params);

  // The rest is for the handlers.
  u32 launchNumber = 0;
  Launch current;
  std::vector<u8> fences;  // of each block of the grid, when the kernel has any

 private:
  void prepare(Kernel& kernel, const u8* params);
  void start(Block& block, u64 index);
  void runBlock(Block& block, Kernel& kernel);
  void runWarp(Warp& warp, u64 budget);
  bool releaseBarriers(Block& block);
  [[noreturn]] void reportDeadlock(Kernel& kernel);

  std::vector<Block> blocks_;
  std::vector<u8> registers_, local_;
  u32 random_ = 1;
};

/** Throws what is wrong with a launch configuration. */
void checkLaunch(const Kernel& kernel, const Launch& launch);

/** "block (1,0,0) thread (3,0,0), kernel k, PTX line 7: ld.global.f32 ..." */
std::string placeOf(const Warp& warp, const Instruction& instruction, u32 lane);

/** Throws a fault of the running kernel. */
[[noreturn]] void kernelFault(Status status, const std::string& what, const Warp& warp, const Instruction& instruction,
                              u32 lane);

/** Host addresses of an access of `bytes` per lane, after all checks of address and initialisation. */
enum class Access : u8 { Load, Store, Atomic };
void resolve(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, Access access, u8** hosts,
             u64* addresses);

/** A store that collides with another unless both write the same bytes. */
struct Suspicion {
  enum Kind : u8 { WriteAfterWrite, WriteAfterRead, OtherBlock } kind = OtherBlock;
  u64 place = 0;  // the word of shared memory; the block that wrote before
  int line = 0;   // of the other access, in shared memory
};
/** Notes a store for the race checks and returns the lanes that collide, each with its suspicion. */
u32 noteStores(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, const u64* addresses,
               Suspicion* suspicions);
/** Throws what a colliding store is. */
[[noreturn]] void reportStore(Warp& warp, const Instruction& instruction, u32 lane, const Suspicion& suspicion);
/** Notes and checks a load of or an atomic operation on shared memory. */
void checkShared(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, const u64* addresses, Access access);

/** Adds an access to the counters. */
void countGlobal(Counters& counters, const u64* addresses, u32 mask, u32 bytes, Access access);
void countShared(Counters& counters, const u64* addresses, u32 mask, u32 bytes);

/** `for (u32 lane : lanesOf(mask))` */
struct LaneRange {
  struct Iterator {
    u32 rest;
    u32 operator*() const { return static_cast<u32>(__builtin_ctz(rest)); }
    Iterator& operator++() { return rest &= rest - 1, *this; }
    bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };
  u32 mask;
  Iterator begin() const { return {mask}; }
  Iterator end() const { return {0}; }
};
inline LaneRange lanesOf(u32 mask) { return {mask}; }

/** Calls `body(lane)` for each lane of `mask`; whole warps, the common case, by a loop the compiler can unroll. */
template <class F>
inline void forLanes(u32 mask, F body) {
  if (mask == FULL_MASK)
    for (u32 l = 0; l < LANES; ++l) body(l);
  else
    for (u32 l : lanesOf(mask)) body(l);
}

}  // namespace ptxsim
