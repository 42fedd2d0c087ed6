/**
 * Races that need no luck to be seen: who touched a word since the last barrier is remembered, whatever the schedule.
 *
 * Shared memory: warps of a block, within one barrier interval. Global memory: stores of different blocks to one word
 * with different values, unless the first block has passed a fence since (a lock or a published result). Races inside a
 * warp are not seen here: the control `splitLanes` runs lanes one by one for those.
 */
#include <cstring>
#include "machine.hpp"

namespace ptxsim {

namespace {

[[noreturn]] void reportShared(const char* kind, Warp& warp, const Instruction& i, u32 lane, u64 word, int otherLine) {
  std::string what = std::string("shared-memory race: ") + kind + " of another warp, of PTX line " + std::to_string(otherLine) +
                     ", without a barrier between, at byte " + std::to_string(word * 4);
  kernelFault(LAUNCH_FAILED, what, warp, i, lane);
}

void noteShared(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, Access access, bool sameBytes) {
  Block& block = *warp.block;
  u32 me = 1u << warp.index;
  for (u64 word = address >> 2; word <= (address + bytes - 1) >> 2; ++word) {
    SharedWord& w = block.words[word];
    bool othersWrote = w.writeEpoch == block.epoch && w.writer != warp.index;
    bool othersRead = w.readEpoch == block.epoch && (w.readers & ~me);
    if (access == Access::Load) {
      if (othersWrote) reportShared("read after a write", warp, i, lane, word, w.writeLine);
      if (w.readEpoch != block.epoch) w.readEpoch = block.epoch, w.readers = 0;
      w.readers |= me;
      w.readLine = i.line;
      continue;
    }
    bool bothAtomic = access == Access::Atomic && w.writeAtomic;
    if (othersWrote && !bothAtomic && !sameBytes) reportShared("write after a write", warp, i, lane, word, w.writeLine);
    if (othersRead && !sameBytes) reportShared("write after a read", warp, i, lane, word, w.readLine);
    w.writer = static_cast<u16>(othersWrote ? 0xffff : warp.index);
    w.writeEpoch = block.epoch;
    w.writeAtomic = access == Access::Atomic;
    w.writeLine = i.line;
  }
}

/** The shadow of a global word: launch number, bytes written, fences the block had passed, block. */
struct Writer {
  u32 launch;
  u32 bytes;
  u32 fences;
  u64 block;

  static u64 pack(u32 launch, u32 bytes, u32 fences, u64 block) {
    return static_cast<u64>(launch & 0xffff) << 48 | static_cast<u64>(bytes) << 44 | static_cast<u64>(fences & 0xff) << 36 | (block & 0xfffffffffull);
  }
  static Writer unpack(u64 x) {
    return {static_cast<u32>(x >> 48), static_cast<u32>(x >> 44 & 15), static_cast<u32>(x >> 36 & 0xff), x & 0xfffffffffull};
  }
};

void noteGlobal(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, const u8* host, const u8* fresh) {
  Engine& engine = *warp.engine;
  u64* shadow = engine.memory.writers() + engine.memory.wordOf(address);
  u64 block = warp.block->index;
  u32 fences = engine.fences.empty() ? 0 : engine.fences[block];
  u32 words = bytes < 4 ? 1 : bytes / 4;
  u32 mask = bytes < 4 ? ((1u << bytes) - 1) << (address & 3) : 15;
  u64 mine = Writer::pack(engine.launchNumber, mask, fences, block);
  for (u32 k = 0; k < words; ++k) {
    u64 before = shadow[k];
    shadow[k] = mine;
    if (before == mine) continue;
    Writer other = Writer::unpack(before);
    if (other.launch != (engine.launchNumber & 0xffff) || other.block == block || !(other.bytes & mask)) continue;
    if (!engine.fences.empty() && engine.fences[other.block] != other.fences) continue;
    if (std::memcmp(host + k * 4, fresh + k * 4, bytes < 4 ? bytes : 4) == 0) continue;
    const u32* grid = engine.current.grid;
    std::string who = "(" + std::to_string(other.block % grid[0]) + "," + std::to_string(other.block / grid[0] % grid[1]) + "," +
                      std::to_string(other.block / grid[0] / grid[1]) + ")";
    kernelFault(LAUNCH_FAILED, "global-memory race: block " + who + " has written another value to the same address in this launch, store", warp, i, lane);
  }
}

bool sharedChecked(const Warp& warp) { return !warp.kernel->hasCountedBarrier; }

}  // namespace

void checkShared(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses, Access access) {
  if (!sharedChecked(warp)) return;
  for (u32 l : lanesOf(mask)) noteShared(warp, i, l, addresses[l], bytes, access, false);
}

void checkStore(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses, u8* const* hosts, const u8* fresh) {
  for (u32 l : lanesOf(mask)) {
    u64 address = addresses[l];
    bool isShared = i.space == Space::Shared;
    if (i.space == Space::Generic && address < DEVICE_BASE) {
      if (address >= LOCAL_WINDOW) continue;
      isShared = true;
      address -= SHARED_WINDOW;
    }
    if (!isShared) noteGlobal(warp, i, l, address, bytes, hosts[l], fresh + l * 16);
    else if (sharedChecked(warp)) noteShared(warp, i, l, address, bytes, Access::Store, std::memcmp(hosts[l], fresh + l * 16, bytes) == 0);
  }
}

}  // namespace ptxsim
