/** Addresses of lanes to host memory, with every check a GPU leaves out, and the counters of memory traffic. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include "machine.hpp"

namespace ptxsim {

std::string placeOf(const Warp& warp, const Instruction& i, u32 lane) {
  const u32* dim = warp.engine->current.block;
  u32 thread = warp.index * LANES + lane;
  char text[160];
  std::snprintf(text, sizeof text, "block (%u,%u,%u) thread (%u,%u,%u), kernel ", warp.block->id[0], warp.block->id[1],
                warp.block->id[2], thread % dim[0], thread / dim[0] % dim[1], thread / dim[0] / dim[1]);
  return text + warp.kernel->name + ", PTX line " + std::to_string(i.line) + ": " + warp.kernel->texts[i.text];
}

void kernelFault(Status status, const std::string& what, const Warp& warp, const Instruction& i, u32 lane) {
  throw Fault(status, what + " by " + placeOf(warp, i, lane));
}

namespace {

const char* nameOf(Access access) {
  return access == Access::Load ? "load" : access == Access::Store ? "store" : "atomic operation";
}

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

[[noreturn]] void badAddress(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, Access access,
                             const std::string& why) {
  kernelFault(ILLEGAL_ADDRESS,
              "illegal address: " + std::string(nameOf(access)) + " of " + std::to_string(bytes) + " bytes at " +
                  hex(address) + " (" + why + ")",
              warp, i, lane);
}

[[noreturn]] void unwritten(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, const char* space) {
  kernelFault(LAUNCH_FAILED,
              "uninitialised memory: load of " + std::to_string(bytes) + " bytes of " + space + " memory at " +
                  hex(address) + " that nothing has written",
              warp, i, lane);
}

void checkAligned(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const u64* addresses) {
  u64 low = 0;
  forLanes(mask, [&](u32 l) { low |= addresses[l]; });
  if ((low & (bytes - 1)) == 0) return;
  for (u32 l : lanesOf(mask)) {
    if ((addresses[l] & (bytes - 1)) == 0) continue;
    kernelFault(MISALIGNED_ADDRESS,
                "misaligned address: " + std::string(nameOf(access)) + " of " + std::to_string(bytes) + " bytes at " +
                    hex(addresses[l]),
                warp, i, l);
  }
}

/** Whether all lanes are inside the allocation this instruction hit last. */
bool allInside(const Allocation* allocation, u32 mask, u32 bytes, const u64* addresses) {
  if (!allocation || allocation->high - allocation->low < bytes) return false;
  u64 low = allocation->low, span = allocation->high - bytes - low;
  bool inside = true;
  forLanes(mask, [&](u32 l) { inside &= addresses[l] - low <= span; });
  return inside;
}

/** Bounds, initialisation and bookkeeping of one lane in global memory. */
u8* globalLane(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, Access access) {
  Memory& memory = warp.engine->memory;
  Allocation* allocation = memory.find(address, bytes);
  if (!allocation) badAddress(warp, i, lane, address, bytes, access, memory.describe(address));
  if (allocation->readOnly && access != Access::Load)
    badAddress(warp, i, lane, address, bytes, access, "constant memory");
  if (!allocation->written) {
    if (access != Access::Store && warp.engine->controls.checkUninitialized && !memory.isWritten(address, bytes)) {
      unwritten(warp, i, lane, address, bytes, "global");
    }
    if (access == Access::Store) memory.markLane(address, bytes), memory.markDirty(*allocation);
  }
  i.allocation = allocation;
  return memory.host(address);
}

void resolveGlobal(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, u8** hosts,
                   const u64* addresses) {
  const Allocation* last = i.allocation;
  bool fast = allInside(last, mask, bytes, addresses) && last->written && !(last->readOnly && access != Access::Load);
  if (fast) {
    u64 delta = reinterpret_cast<u64>(warp.engine->memory.host(DEVICE_BASE)) - DEVICE_BASE;
    for (u32 l = 0; l < LANES; ++l) hosts[l] = reinterpret_cast<u8*>(addresses[l] + delta);
  } else {
    for (u32 l : lanesOf(mask)) hosts[l] = globalLane(warp, i, l, addresses[l], bytes, access);
  }
  if (warp.engine->controls.counters) countGlobal(warp.kernel->counters, addresses, mask, bytes, access);
}

void checkSharedBounds(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const u64* addresses) {
  u64 size = warp.block->shared.size();
  bool outside = size < bytes;
  if (!outside) forLanes(mask, [&](u32 l) { outside |= addresses[l] > size - bytes; });
  if (!outside) return;
  for (u32 l : lanesOf(mask)) {
    if (addresses[l] <= size && addresses[l] + bytes <= size) continue;
    badAddress(warp, i, l, addresses[l], bytes, access,
               "the block has " + std::to_string(size) + " bytes of shared memory");
  }
}

/** Loads need bytes that were written; stores say that they are. Aligned accesses have their bits in one or two bytes.
 */
void checkSharedWritten(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const u64* addresses) {
  u8* all = warp.block->sharedBits.data();
  u32 shape = bytes >= 8 ? 0xff : (1u << bytes) - 1;
  bool second = bytes == 16;
  if (access == Access::Store) {
    forLanes(mask, [&](u32 l) {
      u8* bits = all + (addresses[l] >> 3);
      u8 want = static_cast<u8>(shape << (addresses[l] & 7));
      bits[0] |= want, bits[second] |= want;
    });
    return;
  }
  u32 missing = 0;
  forLanes(mask, [&](u32 l) {
    const u8* bits = all + (addresses[l] >> 3);
    u32 want = shape << (addresses[l] & 7);
    missing |= (~bits[0] & want) | (~bits[second] & want);
  });
  if (!missing) return;
  for (u32 l : lanesOf(mask)) {
    const u8* bits = all + (addresses[l] >> 3);
    u32 want = shape << (addresses[l] & 7);
    if ((~bits[0] & want) | (~bits[second] & want)) unwritten(warp, i, l, addresses[l], bytes, "shared");
  }
}

void resolveShared(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, u8** hosts,
                   const u64* addresses) {
  const Controls& controls = warp.engine->controls;
  checkSharedBounds(warp, i, mask, bytes, access, addresses);
  if (controls.checkUninitialized) checkSharedWritten(warp, i, mask, bytes, access, addresses);
  u8* base = warp.block->shared.data();
  forLanes(mask, [&](u32 l) { hosts[l] = base + addresses[l]; });
  if (controls.counters) countShared(warp.kernel->counters, addresses, mask, bytes);
  if (controls.checkRaces && access != Access::Store && !i.isVolatile)
    checkShared(warp, i, mask, bytes, addresses, access);
}

u8* localLane(Warp& warp, const Instruction& i, u32 lane, u64 address, u32 bytes, Access access) {
  u64 size = warp.kernel->localBytes;
  if (address > size || address + bytes > size)
    badAddress(warp, i, lane, address, bytes, access,
               "a thread has " + std::to_string(size) + " bytes of local memory");
  return warp.local + lane * size + address;
}

/** Generic addresses: each lane says by its window where it is. Shared lanes are checked as a group of their own. */
void resolveGeneric(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, u8** hosts,
                    const u64* addresses) {
  u32 shared = 0, local = 0;
  u64 inside[LANES];
  for (u32 l : lanesOf(mask)) {
    u64 a = addresses[l];
    if (a >= SHARED_WINDOW && a < LOCAL_WINDOW) shared |= 1u << l, inside[l] = a - SHARED_WINDOW;
    else if (a >= LOCAL_WINDOW && a < DEVICE_BASE)
      local |= 1u << l, hosts[l] = localLane(warp, i, l, a - LOCAL_WINDOW, bytes, access);
  }
  if (shared) resolveShared(warp, i, shared, bytes, access, hosts, inside);
  u32 global = mask & ~shared & ~local;
  if (global) resolveGlobal(warp, i, global, bytes, access, hosts, addresses);
}

}  // namespace

void resolve(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, u8** hosts, u64* addresses) {
  u64 offset = static_cast<u64>(i.offset);
  if (i.wideAddress) {
    const u64* base = warp.reg<u64>(i.s[0]);
    for (u32 l = 0; l < LANES; ++l) addresses[l] = base[l] + offset;
  } else {
    const u32* base = warp.reg<u32>(i.s[0]);
    for (u32 l = 0; l < LANES; ++l) addresses[l] = base[l] + offset;
  }
  checkAligned(warp, i, mask, bytes, access, addresses);
  switch (i.space) {
    case Space::Shared: return resolveShared(warp, i, mask, bytes, access, hosts, addresses);
    case Space::Local:
      for (u32 l : lanesOf(mask)) hosts[l] = localLane(warp, i, l, addresses[l], bytes, access);
      return;
    case Space::Generic: return resolveGeneric(warp, i, mask, bytes, access, hosts, addresses);
    default: return resolveGlobal(warp, i, mask, bytes, access, hosts, addresses);
  }
}

/** Sectors are the 32-byte pieces a request touches; the fewer for its bytes, the better it is coalesced. */
void countGlobal(Counters& counters, const u64* addresses, u32 mask, u32 bytes, Access access) {
  ++counters.globalRequests;
  u64 moved = static_cast<u64>(__builtin_popcount(mask)) * bytes;
  (access == Access::Load ? counters.globalLoadBytes : counters.globalStoreBytes) += moved;
  u64 seen[LANES], highest = 0;
  u32 count = 0;
  for (u32 l : lanesOf(mask)) {
    u64 sector = addresses[l] >> 5;
    // Aligned accesses of up to 16 bytes lie in one sector, and most lanes come in ascending order.
    if (sector <= highest && std::find(seen, seen + count, sector) != seen + count) continue;
    seen[count++] = sector;
    highest = std::max(highest, sector);
  }
  counters.globalSectors += count;
}

namespace {

/** The most different words that lanes of `part` want of one bank. */
u32 wordsOfFullestBank(const u64* addresses, u32 part, u32 wordsEach) {
  u64 words[LANES][LANES];
  u8 count[LANES] = {0};
  u32 most = 1;
  for (u32 l : lanesOf(part)) {
    for (u32 k = 0; k < wordsEach; ++k) {
      u64 word = (addresses[l] >> 2) + k;
      u32 bank = word & 31;
      if (std::find(words[bank], words[bank] + count[bank], word) != words[bank] + count[bank]) continue;
      words[bank][count[bank]++] = word;
      most = std::max<u32>(most, count[bank]);
    }
  }
  return most;
}

/** Whether no bank is asked for two words: the usual case, found out in one pass. */
bool isConflictFree(const u64* addresses, u32 mask) {
  u64 words[LANES];
  u32 seen = 0;
  for (u32 l : lanesOf(mask)) {
    u64 word = addresses[l] >> 2;
    u32 bank = word & 31;
    if ((seen >> bank & 1) && words[bank] != word) return false;
    seen |= 1u << bank;
    words[bank] = word;
  }
  return true;
}

}  // namespace

/**
 * Wavefronts: how often the 32 banks have to be asked, which is the most different words of one bank. Wide accesses go
 * by halves or quarters of a warp.
 */
void countShared(Counters& counters, const u64* addresses, u32 mask, u32 bytes) {
  ++counters.sharedRequests;
  if (bytes <= 4 && isConflictFree(addresses, mask)) {
    ++counters.sharedWavefronts;
    return;
  }
  u32 lanes = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  for (u32 start = 0; start < LANES; start += lanes) {
    u32 part = lanes == 32 ? mask : mask & (((1u << lanes) - 1) << start);
    if (part) counters.sharedWavefronts += wordsOfFullestBank(addresses, part, std::max(1u, bytes / 4));
  }
}

}  // namespace ptxsim
