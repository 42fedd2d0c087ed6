/** Launches: checks the configuration, sets warps up, and runs blocks until all have ended or nothing moves. */
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include "machine.hpp"

namespace ptxsim {

static u64 threadsOf(const u32 (&dim)[3]) { return static_cast<u64>(dim[0]) * dim[1] * dim[2]; }

static u32 sharedBytes(const Kernel& kernel, const Launch& launch) {
  if (launch.dynamicShared == 0) return kernel.staticShared;
  return static_cast<u32>(alignUp(kernel.staticShared, 16)) + launch.dynamicShared;
}

void checkLaunch(const Kernel& kernel, const Launch& launch) {
  u64 threads = threadsOf(launch.block);
  auto fail = [&](const std::string& why, Status status = INVALID_VALUE) {
    throw Fault(status, "kernel " + kernel.name + ": " + why);
  };
  if (threads == 0 || threadsOf(launch.grid) == 0) fail("a dimension of the grid or the block is 0");
  if (threads > kernel.maxThreads)
    fail(std::to_string(threads) + " threads in a block, at most " + std::to_string(kernel.maxThreads) + " can be");
  if (kernel.exactThreads && threads != kernel.maxThreads)
    fail("a block needs exactly " + std::to_string(kernel.maxThreads) + " threads");
  if (launch.block[2] > 64) fail("the z dimension of a block is at most 64");
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 || launch.grid[2] > 65535) fail("the grid is too large");
  u64 shared = static_cast<u64>(alignUp(kernel.staticShared, 16)) + launch.dynamicShared;
  if (shared > SHARED_BYTES_MAX)
    fail(std::to_string(shared) + " bytes of shared memory, at most " + std::to_string(SHARED_BYTES_MAX) + " can be");
}

/** What a special register holds, but for ctaid, which changes with the block. */
static u32 specialValue(u32 special, u32 thread, const Launch& launch) {
  u32 lane = thread % LANES;
  switch (special) {
    case TID_X: return thread % launch.block[0];
    case TID_Y: return thread / launch.block[0] % launch.block[1];
    case TID_Z: return thread / launch.block[0] / launch.block[1];
    case NTID_X:
    case NTID_Y:
    case NTID_Z: return launch.block[special - NTID_X];
    case NCTAID_X:
    case NCTAID_Y:
    case NCTAID_Z: return launch.grid[special - NCTAID_X];
    case LANEID: return lane;
    case WARPID: return thread / LANES;
    case LANEMASK_EQ: return 1u << lane;
    case LANEMASK_LE: return FULL_MASK >> (31 - lane);
    case LANEMASK_LT: return (1u << lane) - 1;
    case LANEMASK_GE: return FULL_MASK << lane;
    case LANEMASK_GT: return FULL_MASK << lane << 1;
    default: return 0;
  }
}

static void loadParams(Warp& warp, const Kernel& kernel, const u8* params) {
  for (const ParamLoad& load : kernel.paramLoads) {
    u64 value = 0;
    std::memcpy(&value, params + load.offset, load.bytes);
    u32 shift = 64 - 8u * load.bytes;
    if (load.isSigned && shift) value = static_cast<u64>(static_cast<s64>(value << shift) >> shift);
    for (u32 l = 0; l < LANES; ++l) std::memcpy(warp.registers + load.slot + l * load.width, &value, load.width);
  }
}

/** Register files and shared memory of the resident blocks; storage is kept from launch to launch. */
void Engine::prepare(Kernel& kernel, const u8* params) {
  u64 threads = threadsOf(current.block);
  u32 warps = static_cast<u32>((threads + LANES - 1) / LANES);
  u32 resident = std::max(1u, controls.residentBlocks);
  u32 shared = sharedBytes(kernel, current);
  size_t contexts = static_cast<size_t>(warps) * resident;
  size_t localEach = static_cast<size_t>(kernel.localBytes) * LANES;
  if (registers_.size() < contexts * kernel.contextBytes + 64) registers_.resize(contexts * kernel.contextBytes + 64);
  local_.assign(contexts * localEach, POISON);
  u8* base = reinterpret_cast<u8*>(alignUp(reinterpret_cast<u64>(registers_.data()), 64));
  if (blocks_.size() < resident) blocks_.resize(resident);
  for (u32 b = 0; b < resident; ++b) {
    Block& block = blocks_[b];
    block.live = false;
    block.shared.resize(shared);
    block.sharedWritten.resize(shared);
    if (block.words.size() < shared / 4 + 1) block.words.resize(shared / 4 + 1);
    block.warps.resize(warps);
    block.readsEach = shared / 4 + 1;
    size_t reads = static_cast<size_t>(warps) * block.readsEach;
    if (block.reads.size() < reads) block.reads.resize(reads);
    for (u32 w = 0; w < warps; ++w) {
      Warp& warp = block.warps[w];
      size_t context = static_cast<size_t>(b) * warps + w;
      warp.registers = base + context * kernel.contextBytes;
      warp.local = local_.data() + context * localEach;
      warp.block = &block;
      warp.engine = this;
      warp.kernel = &kernel;
      warp.index = w;
      warp.random = controls.seed * 2654435761u + w * 40503u + b + 1;
      u64 lanes = std::min<u64>(threads - w * LANES, LANES);
      warp.present = FULL_MASK >> (LANES - lanes);
      std::memcpy(warp.registers, kernel.constants.data(), kernel.constants.size());
      std::memset(warp.registers + kernel.constants.size(), POISON, kernel.contextBytes - kernel.constants.size());
      for (u32 s = 0; s < SPECIALS; ++s) {
        if (kernel.specials[s] == ~0u) continue;
        for (u32 l = 0; l < LANES; ++l) warp.reg<u32>(kernel.specials[s])[l] = specialValue(s, w * LANES + l, current);
      }
      loadParams(warp, kernel, params);
    }
  }
}

/** What an earlier block or kernel did to the words is of an epoch before. */
void Block::nextEpoch() {
  ++epoch;
  wroteShared = readShared = 0;
  u32 code = static_cast<u32>(warps[0].kernel->code.size());
  firstRead += instructions;
  instructions = code;
  if (firstRead <= ~0u - code) return;
  std::fill(reads.begin(), reads.end(), 0);
  firstRead = 1;
}

void Engine::start(Block& block, u64 index) {
  block.index = index;
  block.id[0] = static_cast<u32>(index % current.grid[0]);
  block.id[1] = static_cast<u32>(index / current.grid[0] % current.grid[1]);
  block.id[2] = static_cast<u32>(index / current.grid[0] / current.grid[1]);
  block.live = true;
  nameWriter(block);
  block.nextEpoch();
  std::fill(block.shared.begin(), block.shared.end(), POISON);
  std::fill(block.sharedWritten.begin(), block.sharedWritten.end(), 0);
  for (Warp& warp : block.warps) {
    warp.exited = warp.atBarrier = warp.atSync = 0;
    warp.rotate = false;
    std::fill(std::begin(warp.pc), std::end(warp.pc), 0);
    for (u32 axis = 0; axis < 3; ++axis) {
      u32 slot = warp.kernel->specials[CTAID_X + axis];
      if (slot != ~0u) std::fill_n(warp.reg<u32>(slot), LANES, block.id[axis]);
    }
  }
  ++block.warps[0].kernel->counters.blocks;
}

/** The order of blocks: as numbered, or with a seed by a random stride that meets each once. */
namespace {
struct BlockOrder {
  u64 total, stride = 1, first = 0, next = 0;
  BlockOrder(u64 total, u32 seed) : total(total) {
    if (!seed || total < 3) return;
    first = seed % total;
    stride = seed * 2654435761ull % total;
    while (stride == 0 || std::gcd(stride, total) != 1) stride = (stride + 1) % total;
  }
  bool done() const { return next == total; }
  u64 take() { return (first + next++ * stride) % total; }
};
}  // namespace

void Engine::launch(Kernel& kernel, const Launch& config, const u8* params) {
  auto begin = std::chrono::steady_clock::now();
  current = config;
  ++kernel.counters.launches;
  if (kernel.generation != memory.generation()) {
    for (Instruction& i : kernel.code) i.allocation = nullptr;
    kernel.generation = memory.generation();
  }
  BlockOrder order(threadsOf(config.grid), controls.seed);
  firstWriter += static_cast<u32>(writers.size());
  writers.clear();
  prepare(kernel, params);
  u32 resident = std::max(1u, controls.residentBlocks);
  u64 limit = kernel.counters.warpInstructions + controls.warpInstructionsMax;
  random_ = controls.seed * 747796405u + 12345;
  u32 live = 0;
  for (u32 b = 0; b < resident && !order.done(); ++b, ++live) start(blocks_[b], order.take());
  while (live > 0) {
    bool moved = false;
    for (u32 b = 0; b < resident; ++b) {
      Block& block = blocks_[b];
      if (!block.live) continue;
      u64 before = kernel.counters.warpInstructions;
      runBlock(block, kernel);
      moved |= kernel.counters.warpInstructions != before;
      if (releaseBarriers(block)) moved = true;
      bool ended = std::none_of(block.warps.begin(), block.warps.end(), [](const Warp& w) { return w.live() != 0; });
      if (!ended) continue;
      moved = true;
      if (order.done()) block.live = false, --live;
      else start(block, order.take());
    }
    if (!moved) reportDeadlock(kernel);
    if (kernel.counters.warpInstructions > limit) {
      throw Fault(LAUNCH_TIMEOUT, "live-lock: kernel " + kernel.name + " ran " +
                                      std::to_string(controls.warpInstructionsMax) +
                                      " warp instructions without an end");
    }
  }
  memory.settle();
  kernel.counters.nanoseconds +=
      static_cast<u64>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

/** A turn of each warp of a block. A seed makes the order and the length of the turns vary. */
void Engine::runBlock(Block& block, Kernel&) {
  auto next = [this] { return (random_ = random_ * 1664525u + 1013904223u) >> 8; };
  size_t warps = block.warps.size(), first = controls.seed ? next() % warps : 0;
  u64 budget = controls.seed ? 16 + next() % std::max(1u, controls.quantum) : controls.quantum;
  for (size_t k = 0; k < warps; ++k) {
    Warp& warp = block.warps[(first + k) % warps];
    if (warp.runnable()) runWarp(warp, budget);
  }
}

void Engine::reportDeadlock(Kernel& kernel) {
  std::string message = "deadlock:";
  int shown = 0;
  for (Block& block : blocks_) {
    if (!block.live) continue;
    for (Warp& warp : block.warps) {
      int lastLine = -1;
      for (u32 l : lanesOf(warp.live())) {
        const Instruction& i = kernel.code[warp.pc[l]];
        if (i.line == lastLine || shown == 4) continue;
        message += (shown++ ? "; and " : " ") + placeOf(warp, i, l) + " waits";
        lastLine = i.line;
      }
    }
  }
  throw Fault(LAUNCH_TIMEOUT, message);
}

}  // namespace ptxsim
