/** The running machine: warps, blocks, the controls of the simulator and the engine that launches kernels. */
#pragma once
#include <algorithm>
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

/** Who wrote a word of shared memory last. */
struct SharedWord {
  static constexpr u16 MANY = 0xffff;
  u32 epoch = 0;
  u16 writer = 0;  // a warp
  bool isAtomic = false;
  int line = 0;
};

struct Block {
  u32 id[3] = {0, 0, 0};
  u64 index = 0;
  bool live = false;
  u32 writer = 0;      // names this block in the shadow of global memory until its next fence; see races.cpp
  bool wrote = false;  // under that name
  u32 epoch = 0;       // grows at every barrier of the whole block
  u32 wroteShared = 0, readShared = 0;  // warps that did in this epoch, a bit for each
  std::vector<Warp> warps;
  std::vector<u8> shared;
  std::vector<u8> sharedWritten;  // 255 for each byte that was
  std::vector<SharedWord> words;
  /** By warp and word, the last load of it: `firstRead` and the index of the instruction; lower in earlier epochs. */
  std::vector<u32> reads;
  u32 readsEach = 0;  // words of one warp
  u32 firstRead = 1;
  u32 instructions = 0;  // of the kernel in this epoch

  u32* readsBy(u32 warp) { return reads.data() + static_cast<size_t>(warp) * readsEach; }
  void nextEpoch();
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
  Launch current;
  /** Who writes in this launch: a block, from its start or a fence to its next fence. See races.cpp. */
  struct Writer {
    u64 block;
    bool fenced;
  };
  std::vector<Writer> writers;
  u32 firstWriter = 1;  // names of earlier launches are lower
  /** Gives the block a new name in the shadow of global memory. */
  void nameWriter(Block& block);
  /** The block passes a fence: what it wrote is published, and what follows has another name. */
  void passFence(Block& block);

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

enum class Access : u8 { Load, Store, Atomic };
/** Where the lanes of an access are. */
struct Reach {
  alignas(64) u64 addresses[LANES];
  alignas(64) u8* hosts[LANES];
  bool isDense;  // all lanes, one after the other without gaps, in the device and in the host
};
/** Finds host addresses of an access of `bytes` per lane, after all checks of address and initialisation. */
void resolve(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, Access access, Reach& reach);

/** A store that collides with another unless both write the same bytes. */
struct Suspicion {
  enum Kind : u8 { WriteAfterWrite, WriteAfterRead, OtherBlock } kind;
  u64 place;  // the word of shared memory; the block that wrote before
  int line;   // of the other access, in shared memory
};
/** Notes a store for the race checks and returns the lanes that collide, each with its suspicion. */
u32 noteStores(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, const Reach& reach,
               Suspicion* suspicions);
/** Throws what a colliding store is. */
[[noreturn]] void reportStore(Warp& warp, const Instruction& instruction, u32 lane, const Suspicion& suspicion);
/** Notes and checks a load of or an atomic operation on shared memory. */
void checkShared(Warp& warp, const Instruction& instruction, u32 mask, u32 bytes, const u64* addresses, Access access);

/** Adds an access to the counters. */
void countGlobal(Counters& counters, const u64* addresses, u32 mask, u32 bytes, Access access, bool dense);
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
