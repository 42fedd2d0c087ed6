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

/** Notes a store or an atomic operation; what it collides with goes to `found`. */
bool noteSharedWrite(Warp& warp, const Instruction& i, u64 address, u32 bytes, bool isAtomic, Suspicion& found) {
  Block& block = *warp.block;
  bool collides = false;
  for (u64 word = address >> 2; word <= (address + bytes - 1) >> 2; ++word) {
    SharedWord& w = block.words[word];
    bool othersWrote = w.writeEpoch == block.epoch && w.writer != warp.index;
    bool othersRead = w.readEpoch == block.epoch && (w.readers & ~(1u << warp.index));
    if (othersWrote && !(isAtomic && w.writeAtomic))
      collides = true, found = {Suspicion::WriteAfterWrite, word, w.writeLine};
    else if (othersRead) collides = true, found = {Suspicion::WriteAfterRead, word, w.readLine};
    w.writer = static_cast<u16>(othersWrote ? SharedWord::MANY : warp.index);
    w.writeEpoch = block.epoch;
    w.writeAtomic = isAtomic;
    w.writeLine = i.line;
  }
  return collides;
}

void noteSharedRead(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes) {
  Block& block = *warp.block;
  u32 me = 1u << warp.index;
  for (u64 word = address >> 2; word <= (address + bytes - 1) >> 2; ++word) {
    SharedWord& w = block.words[word];
    if (w.writeEpoch == block.epoch && w.writer != warp.index) {
      kernelFault(LAUNCH_FAILED,
                  "shared-memory race: read after a write of another warp, of PTX line " + std::to_string(w.writeLine) +
                      ", without a barrier between, at byte " + std::to_string(word * 4),
                  warp, i, lane);
    }
    // Loops read the same words again and again: nothing is new then.
    if (w.readEpoch == block.epoch && (w.readers & me)) continue;
    if (w.readEpoch != block.epoch) w.readEpoch = block.epoch, w.readers = 0;
    w.readers |= me;
    w.readLine = i.line;
  }
}

/** The shadow of a global word: launch number, bytes written, fences the block had passed, block. */
struct Writer {
  u32 launch;
  u32 bytes;
  u32 fences;
  u64 block;

  static u64 pack(u32 launch, u32 bytes, u32 fences, u64 block) {
    return static_cast<u64>(launch & 0xffff) << 48 | static_cast<u64>(bytes) << 44 |
           static_cast<u64>(fences & 0xff) << 36 | (block & 0xfffffffffull);
  }
  static Writer unpack(u64 x) {
    return {static_cast<u32>(x >> 48), static_cast<u32>(x >> 44 & 15), static_cast<u32>(x >> 36 & 0xff),
            x & 0xfffffffffull};
  }
};

/** Whether what `before` says was written by another block of this launch, with nothing to order the two. */
bool collides(const Engine& engine, u64 before, u64 mine) {
  Writer other = Writer::unpack(before), own = Writer::unpack(mine);
  if (other.launch != own.launch || other.block == own.block || !(other.bytes & own.bytes)) return false;
  return engine.fences.empty() || engine.fences[other.block] == static_cast<u8>(other.fences);
}

u32 noteGlobalWrites(Warp& warp, u32 mask, u32 bytes, const u64* addresses, Suspicion* suspicions) {
  Engine& engine = *warp.engine;
  u64* shadow = engine.memory.writers();
  u64 block = warp.block->index;
  u32 fences = engine.fences.empty() ? 0 : engine.fences[block];
  u32 words = bytes < 4 ? 1 : bytes / 4, found = 0;
  u64 whole = Writer::pack(engine.launchNumber, 15, fences, block), launch = whole >> 48;
  forLanes(mask, [&](u32 l) {
    u64* at = shadow + engine.memory.wordOf(addresses[l]);
    u64 mine = bytes >= 4 ? whole
                          : Writer::pack(engine.launchNumber, ((1u << bytes) - 1) << (addresses[l] & 3), fences, block);
    for (u32 k = 0; k < words; ++k) {
      u64 before = at[k];
      at[k] = mine;
      if (before >> 48 != launch || before == mine || !collides(engine, before, mine)) continue;
      found |= 1u << l;
      suspicions[l] = {Suspicion::OtherBlock, Writer::unpack(before).block, 0};
    }
  });
  return found;
}

bool sharedChecked(const Warp& warp) { return !warp.kernel->hasCountedBarrier; }

u32 noteSharedWrites(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses, u64 window,
                     Suspicion* suspicions) {
  u32 found = 0;
  if (!sharedChecked(warp)) return found;
  for (u32 l : lanesOf(mask))
    found |= static_cast<u32>(noteSharedWrite(warp, i, addresses[l] - window, bytes, false, suspicions[l])) << l;
  return found;
}

}  // namespace

void reportStore(Warp& warp, const Instruction& i, u32 lane, const Suspicion& suspicion) {
  if (suspicion.kind == Suspicion::OtherBlock) {
    const u32* grid = warp.engine->current.grid;
    std::string who = "(" + std::to_string(suspicion.place % grid[0]) + "," +
                      std::to_string(suspicion.place / grid[0] % grid[1]) + "," +
                      std::to_string(suspicion.place / grid[0] / grid[1]) + ")";
    kernelFault(
        LAUNCH_FAILED,
        "global-memory race: block " + who + " has written another value to the same address in this launch, store",
        warp, i, lane);
  }
  const char* kind = suspicion.kind == Suspicion::WriteAfterWrite ? "write after a write" : "write after a read";
  kernelFault(LAUNCH_FAILED,
              std::string("shared-memory race: ") + kind + " of another warp, of PTX line " +
                  std::to_string(suspicion.line) + ", without a barrier between, at byte " +
                  std::to_string(suspicion.place * 4),
              warp, i, lane);
}

void checkShared(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses, Access access) {
  if (!sharedChecked(warp)) return;
  Suspicion suspicion;
  u64 last = ~0ull;
  for (u32 l : lanesOf(mask)) {
    if (access == Access::Atomic) {
      if (noteSharedWrite(warp, i, addresses[l], bytes, true, suspicion)) reportStore(warp, i, l, suspicion);
    } else if (addresses[l] != last) noteSharedRead(warp, i, l, last = addresses[l], bytes);
  }
}

u32 noteStores(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses, Suspicion* suspicions) {
  if (i.space == Space::Shared) return noteSharedWrites(warp, i, mask, bytes, addresses, 0, suspicions);
  if (i.space != Space::Generic) return noteGlobalWrites(warp, mask, bytes, addresses, suspicions);
  u32 shared = 0, global = 0;
  for (u32 l : lanesOf(mask)) {
    if (addresses[l] >= DEVICE_BASE) global |= 1u << l;
    else if (addresses[l] < LOCAL_WINDOW) shared |= 1u << l;
  }
  u32 found = shared ? noteSharedWrites(warp, i, shared, bytes, addresses, SHARED_WINDOW, suspicions) : 0;
  return global ? found | noteGlobalWrites(warp, global, bytes, addresses, suspicions) : found;
}

}  // namespace ptxsim
