/**
 * Races that need no luck to be seen: who touched a word since the last barrier is remembered, whatever the schedule.
 *
 * Shared memory: warps of a block, within one barrier interval. Global memory: stores of different blocks to one word
 * with different values, unless the first block has passed a fence since (a lock or a published result). Races inside a
 * warp are not seen here: the control `splitLanes` runs lanes one by one for those.
 */
#include <algorithm>
#include "machine.hpp"

namespace ptxsim {

namespace {

/** The line of a load of a word in this epoch by a warp of `others`, or 0. */
int lineOfRead(const Warp& warp, u32 others, u64 word) {
  Block& block = *warp.block;
  for (u32 other : lanesOf(others)) {
    u32 read = block.readsBy(other)[word];
    if (read >= block.firstRead) return warp.kernel->code[read - block.firstRead].line;
  }
  return 0;
}

/** Notes a store or an atomic operation; what it collides with goes to `found`. */
bool noteSharedWrite(Warp& warp, const Instruction& i, u64 address, u32 bytes, bool isAtomic, Suspicion& found) {
  Block& block = *warp.block;
  u32 others = block.readShared & ~(1u << warp.index);
  bool collides = false;
  for (u64 word = address >> 2; word <= (address + bytes - 1) >> 2; ++word) {
    SharedWord& w = block.words[word];
    bool othersWrote = w.epoch == block.epoch && w.writer != warp.index;
    if (othersWrote && !(isAtomic && w.isAtomic)) collides = true, found = {Suspicion::WriteAfterWrite, word, w.line};
    else if (int line = lineOfRead(warp, others, word))
      collides = true, found = {Suspicion::WriteAfterRead, word, line};
    w = {block.epoch, static_cast<u16>(othersWrote ? SharedWord::MANY : warp.index), isAtomic, i.line};
  }
  block.wroteShared |= 1u << warp.index;
  return collides;
}

void checkSharedRead(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes) {
  Block& block = *warp.block;
  for (u64 word = address >> 2; word <= (address + bytes - 1) >> 2; ++word) {
    SharedWord& w = block.words[word];
    if (w.epoch != block.epoch || w.writer == warp.index) continue;
    kernelFault(LAUNCH_FAILED,
                "shared-memory race: read after a write of another warp, of PTX line " + std::to_string(w.line) +
                    ", without a barrier between, at byte " + std::to_string(word * 4),
                warp, i, lane);
  }
}

template <u32 WORDS>
void noteReads(u32* reads, u32 read, u32 mask, const u64* addresses) {
  forLanes(mask, [&](u32 l) { std::fill_n(reads + (addresses[l] >> 2), WORDS, read); });
}

/** Most loads are in epochs without a store of another warp: nothing is to check then, and the note is a plain store.
 */
void noteSharedReads(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const u64* addresses) {
  Block& block = *warp.block;
  if (block.wroteShared & ~(1u << warp.index))
    for (u32 l : lanesOf(mask)) checkSharedRead(warp, i, l, addresses[l], bytes);
  block.readShared |= 1u << warp.index;
  u32* reads = block.readsBy(warp.index);
  u32 read = block.firstRead + static_cast<u32>(&i - warp.kernel->code.data());
  if (bytes == 16) noteReads<4>(reads, read, mask, addresses);
  else if (bytes == 8) noteReads<2>(reads, read, mask, addresses);
  else noteReads<1>(reads, read, mask, addresses);
}

/** The shadow of a global word has the name of its last writer and a bit for each byte it wrote. */
constexpr u32 BYTE_BITS = 4, ALL_BYTES = 15, NAMES_MAX = 1u << (32 - BYTE_BITS);

/** Who wrote what `before` says, if it was another block of this launch, with nothing to order the two. */
const Engine::Writer* rivalOf(const Engine& engine, u64 block, u32 before, u32 bytes) {
  u32 name = before >> BYTE_BITS;
  if (name < engine.firstWriter || !(before & bytes)) return nullptr;
  const Engine::Writer& other = engine.writers[name - engine.firstWriter];
  return other.block == block || other.fenced ? nullptr : &other;
}

/** As noteGlobalWrites for a range of whole words, when none of it was written in this launch by another name. */
bool noteFreshWrites(u32* at, u32 words, u32 mine, u32 firstOfLaunch) {
  u32 old = 0;
  for (u32 k = 0; k < words; ++k) old |= at[k] >= firstOfLaunch && at[k] != mine;
  if (old) return false;
  std::fill_n(at, words, mine);
  return true;
}

u32 noteGlobalWrites(Warp& warp, u32 mask, u32 bytes, const Reach& reach, Suspicion* suspicions) {
  Engine& engine = *warp.engine;
  Block& block = *warp.block;
  u32* shadow = engine.memory.writers();
  u32 words = bytes < 4 ? 1 : bytes / 4, found = 0;
  u32 name = block.writer << BYTE_BITS, firstOfLaunch = engine.firstWriter << BYTE_BITS;
  block.wrote = true;
  if (reach.isDense && bytes >= 4) {
    u32* at = shadow + engine.memory.wordOf(reach.addresses[0]);
    if (noteFreshWrites(at, words * LANES, name | ALL_BYTES, firstOfLaunch)) return 0;
  }
  forLanes(mask, [&](u32 l) {
    u64 address = reach.addresses[l];
    u32* at = shadow + engine.memory.wordOf(address);
    u32 written = bytes >= 4 ? ALL_BYTES : ((1u << bytes) - 1) << (address & 3);
    for (u32 k = 0; k < words; ++k) {
      u32 before = at[k];
      at[k] = name | written;
      if (before < firstOfLaunch || before == at[k]) continue;
      const Engine::Writer* rival = rivalOf(engine, block.index, before, written);
      if (!rival) continue;
      found |= 1u << l;
      suspicions[l] = {Suspicion::OtherBlock, rival->block, 0};
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

void Engine::nameWriter(Block& block) {
  auto name = [this](Block& one) {
    one.writer = firstWriter + static_cast<u32>(writers.size());
    one.wrote = false;
    writers.push_back({one.index, false});
  };
  if (firstWriter + writers.size() + blocks_.size() >= NAMES_MAX) {
    // Names run out after 2^28 blocks and fences: they begin again, and what was written so far is of nobody.
    memory.forgetWriters();
    writers.clear();
    firstWriter = 1;
    for (Block& other : blocks_) name(other);
  }
  name(block);
}

void Engine::passFence(Block& block) {
  if (!block.wrote) return;
  writers[block.writer - firstWriter].fenced = true;
  nameWriter(block);
}

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
  if (access == Access::Load) return noteSharedReads(warp, i, mask, bytes, addresses);
  Suspicion suspicion;
  for (u32 l : lanesOf(mask))
    if (noteSharedWrite(warp, i, addresses[l], bytes, true, suspicion)) reportStore(warp, i, l, suspicion);
}

u32 noteStores(Warp& warp, const Instruction& i, u32 mask, u32 bytes, const Reach& reach, Suspicion* suspicions) {
  const u64* addresses = reach.addresses;
  if (i.space == Space::Shared) return noteSharedWrites(warp, i, mask, bytes, addresses, 0, suspicions);
  if (i.space != Space::Generic) return noteGlobalWrites(warp, mask, bytes, reach, suspicions);
  u32 shared = 0, global = 0;
  for (u32 l : lanesOf(mask)) {
    if (addresses[l] >= DEVICE_BASE) global |= 1u << l;
    else if (addresses[l] < LOCAL_WINDOW) shared |= 1u << l;
  }
  u32 found = shared ? noteSharedWrites(warp, i, shared, bytes, addresses, SHARED_WINDOW, suspicions) : 0;
  return global ? found | noteGlobalWrites(warp, global, bytes, reach, suspicions) : found;
}

}  // namespace ptxsim
