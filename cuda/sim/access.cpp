/** Addresses of lanes to host memory, with every check a GPU leaves out. */
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

/** Whether all lanes are there and each begins where the one before ends: then one range stands for all. */
bool isDense(const u64* addresses, u32 mask, u32 bytes) {
  u64 first = addresses[0], gaps = 0;
  if (mask != FULL_MASK || addresses[LANES - 1] - first != (LANES - 1) * bytes) return false;
  for (u32 l = 0; l < LANES; ++l) gaps |= addresses[l] - first - static_cast<u64>(l) * bytes;
  return gaps == 0;
}

void checkAligned(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const Reach& reach) {
  const u64* addresses = reach.addresses;
  u64 low = addresses[0];
  if (!reach.isDense) low = 0, forLanes(mask, [&](u32 l) { low |= addresses[l]; });
  if ((low & (bytes - 1)) == 0) return;
  for (u32 l : lanesOf(mask)) {
    if ((addresses[l] & (bytes - 1)) == 0) continue;
    kernelFault(MISALIGNED_ADDRESS,
                "misaligned address: " + std::string(nameOf(access)) + " of " + std::to_string(bytes) + " bytes at " +
                    hex(addresses[l]),
                warp, i, l);
  }
}

/** Whether a lane is more than `span` bytes after `low`, or before it: in the sign, which vectors have no compare for.
 */
bool isPast(u64 span, u32 mask, const u64* addresses, u64 low) {
  u64 signs = 0;
  forLanes(mask, [&](u32 l) { signs |= (addresses[l] - low) | (span - (addresses[l] - low)); });
  return signs >> 63;
}

/** Whether all lanes are inside the allocation this instruction hit last. */
bool allInside(const Allocation* allocation, u32 mask, u32 bytes, const u64* addresses, bool dense) {
  u64 each = dense ? bytes * LANES : bytes;
  if (!allocation || allocation->high - allocation->low < each) return false;
  u64 low = allocation->low, span = allocation->high - each - low;
  if (dense) return addresses[0] - low <= span;
  return !isPast(span, mask, addresses, low);
}

/** Of lanes inside an allocation with bytes that nothing has written: marks stores; whether loads are of written ones.
 */
bool passUnwritten(Warp& warp, Allocation& allocation, u32 mask, u32 bytes, Access access, const u64* addresses) {
  Memory& memory = warp.engine->memory;
  if (access == Access::Store) {
    forLanes(mask, [&](u32 l) { memory.markLane(addresses[l], bytes); });
    memory.markDirty(allocation);
    return true;
  }
  bool passes = true;
  if (warp.engine->controls.checkUninitialized)
    forLanes(mask, [&](u32 l) { passes &= memory.isWritten(addresses[l], bytes); });
  return passes;
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
                   const u64* addresses, bool dense) {
  Allocation* last = i.allocation;
  bool fast = allInside(last, mask, bytes, addresses, dense) && !(last->readOnly && access != Access::Load) &&
              (last->written || passUnwritten(warp, *last, mask, bytes, access, addresses));
  if (fast) {
    u64 delta = reinterpret_cast<u64>(warp.engine->memory.host(DEVICE_BASE)) - DEVICE_BASE;
    for (u32 l = 0; l < LANES; ++l) hosts[l] = reinterpret_cast<u8*>(addresses[l] + delta);
  } else {
    for (u32 l : lanesOf(mask)) hosts[l] = globalLane(warp, i, l, addresses[l], bytes, access);
  }
  if (warp.engine->controls.counters) countGlobal(warp.kernel->counters, addresses, mask, bytes, access, dense);
}

void checkSharedBounds(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const u64* addresses) {
  u64 size = warp.block->shared.size();
  if (size >= bytes && !isPast(size - bytes, mask, addresses, 0)) return;
  for (u32 l : lanesOf(mask)) {
    if (addresses[l] <= size && addresses[l] + bytes <= size) continue;
    badAddress(warp, i, l, addresses[l], bytes, access,
               "the block has " + std::to_string(size) + " bytes of shared memory");
  }
}

/** Loads need bytes that were written; stores say that they are. WORD has the size of a part of an access. */
template <class WORD, u32 PARTS>
void checkSharedWritten(Warp& warp, const Instruction& i, u32 mask, Access access, const u64* addresses) {
  constexpr u32 bytes = sizeof(WORD) * PARTS;
  u8* all = warp.block->sharedWritten.data();
  if (access == Access::Store) {
    forLanes(mask, [&](u32 l) { std::memset(all + addresses[l], 255, bytes); });
    return;
  }
  auto isWritten = [&](u32 l) {
    WORD parts[PARTS];
    std::memcpy(parts, all + addresses[l], bytes);
    for (u32 k = 1; k < PARTS; ++k) parts[0] = static_cast<WORD>(parts[0] & parts[k]);
    return parts[0];
  };
  WORD written = static_cast<WORD>(~0ull);
  forLanes(mask, [&](u32 l) { written = static_cast<WORD>(written & isWritten(l)); });
  if (written == static_cast<WORD>(~0ull)) return;
  for (u32 l : lanesOf(mask))
    if (isWritten(l) != static_cast<WORD>(~0ull)) unwritten(warp, i, l, addresses[l], bytes, "shared");
}

void checkSharedWritten(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, const u64* addresses) {
  switch (bytes) {
    case 1: return checkSharedWritten<u8, 1>(warp, i, mask, access, addresses);
    case 2: return checkSharedWritten<u16, 1>(warp, i, mask, access, addresses);
    case 4: return checkSharedWritten<u32, 1>(warp, i, mask, access, addresses);
    case 8: return checkSharedWritten<u64, 1>(warp, i, mask, access, addresses);
    default: return checkSharedWritten<u64, 2>(warp, i, mask, access, addresses);
  }
}

void resolveShared(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, u8** hosts,
                   const u64* addresses) {
  const Controls& controls = warp.engine->controls;
  checkSharedBounds(warp, i, mask, bytes, access, addresses);
  if (controls.checkUninitialized) checkSharedWritten(warp, i, mask, bytes, access, addresses);
  u8* base = warp.block->shared.data();
  for (u32 l = 0; l < LANES; ++l) hosts[l] = base + addresses[l];
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
  u64 inside[LANES] = {0};
  for (u32 l : lanesOf(mask)) {
    u64 a = addresses[l];
    if (a >= SHARED_WINDOW && a < LOCAL_WINDOW) shared |= 1u << l, inside[l] = a - SHARED_WINDOW;
    else if (a >= LOCAL_WINDOW && a < DEVICE_BASE)
      local |= 1u << l, hosts[l] = localLane(warp, i, l, a - LOCAL_WINDOW, bytes, access);
  }
  u8* found[LANES];
  if (shared) resolveShared(warp, i, shared, bytes, access, found, inside);
  for (u32 l : lanesOf(shared)) hosts[l] = found[l];
  u32 global = mask & ~shared & ~local;
  if (!global) return;
  resolveGlobal(warp, i, global, bytes, access, found, addresses, false);
  for (u32 l : lanesOf(global)) hosts[l] = found[l];
}

}  // namespace

void resolve(Warp& warp, const Instruction& i, u32 mask, u32 bytes, Access access, Reach& reach) {
  u64* addresses = reach.addresses;
  u8** hosts = reach.hosts;
  u64 offset = static_cast<u64>(i.offset);
  if (i.wideAddress) {
    const u64* base = warp.reg<u64>(i.s[0]);
    for (u32 l = 0; l < LANES; ++l) addresses[l] = base[l] + offset;
  } else {
    const u32* base = warp.reg<u32>(i.s[0]);
    for (u32 l = 0; l < LANES; ++l) addresses[l] = base[l] + offset;
  }
  // Lanes have local memories of their own, and a generic address may be local.
  reach.isDense = i.space != Space::Local && i.space != Space::Generic && isDense(addresses, mask, bytes);
  checkAligned(warp, i, mask, bytes, access, reach);
  switch (i.space) {
    case Space::Shared: return resolveShared(warp, i, mask, bytes, access, hosts, addresses);
    case Space::Local:
      for (u32 l : lanesOf(mask)) hosts[l] = localLane(warp, i, l, addresses[l], bytes, access);
      return;
    case Space::Generic: return resolveGeneric(warp, i, mask, bytes, access, hosts, addresses);
    default: return resolveGlobal(warp, i, mask, bytes, access, hosts, addresses, reach.isDense);
  }
}

}  // namespace ptxsim
