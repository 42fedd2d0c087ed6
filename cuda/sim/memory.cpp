#include "memory.hpp"
#include <sys/mman.h>
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ptxsim {

/** Bytes between two allocations, at least: an overrun lands here and is noticed. */
constexpr u64 RED_ZONE_BYTES = 512;
constexpr u64 PAGE = 4096;

static void* reserve(u64 bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw Fault(OUT_OF_MEMORY, "simulator: cannot reserve address space");
  return at;
}

/** Gives the pages wholly inside a range back to the system; they read as zero afterwards. */
static void discard(u8* from, u8* to) {
  u64 low = alignUp(reinterpret_cast<u64>(from), PAGE), high = reinterpret_cast<u64>(to) & ~(PAGE - 1);
  if (high > low) madvise(reinterpret_cast<void*>(low), high - low, MADV_DONTNEED);
}

static std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Memory::Memory(u64 limitBytes) : limit_(limitBytes) {
  arena_ = static_cast<u8*>(reserve(ARENA_BYTES));
  bits_ = static_cast<u8*>(reserve(ARENA_BYTES / 8));
}

Memory::~Memory() {
  munmap(arena_, ARENA_BYTES);
  munmap(bits_, ARENA_BYTES / 8);
  if (writers_) munmap(writers_, ARENA_BYTES);
}

u32* Memory::writers() {
  if (!writers_) writers_ = static_cast<u32*>(reserve(ARENA_BYTES));
  return writers_;
}

void Memory::forgetWriters() {
  u8* shadow = reinterpret_cast<u8*>(writers_);
  if (shadow) discard(shadow, shadow + ARENA_BYTES);
}

u64 Memory::allocate(u64 bytes) {
  if (bytes == 0) throw Fault(INVALID_VALUE, "an allocation of 0 bytes");
  if (used_ + bytes > limit_ || top_ + bytes + PAGE > ARENA_BYTES) {
    throw Fault(OUT_OF_MEMORY, std::to_string(bytes) + " bytes were asked for, " + std::to_string(limit_ - used_) +
                                   " of " + std::to_string(limit_) + " simulated bytes are free");
  }
  u64 low = DEVICE_BASE + top_;
  top_ += alignUp(bytes, 256) + RED_ZONE_BYTES;
  Allocation allocation;
  allocation.low = low;
  allocation.high = low + bytes;
  live_[low] = allocation;
  used_ += bytes;
  ++generation_;
  std::memset(host(low), POISON, bytes);
  return low;
}

void Memory::release(u64 address) {
  auto found = live_.find(address);
  if (found == live_.end()) {
    throw Fault(INVALID_VALUE, hex(address) + " is not the start of a live allocation: " + describe(address));
  }
  Allocation allocation = found->second;
  live_.erase(found);
  used_ -= allocation.high - allocation.low;
  ++generation_;
  // Addresses are not used again, so a pointer that outlives its allocation is always noticed.
  freed_[allocation.low] = allocation.high;
  discard(host(allocation.low), host(allocation.high));
}

Allocation* Memory::find(u64 address, u64 bytes) {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  Allocation& allocation = std::prev(next)->second;
  return address + bytes <= allocation.high && address + bytes >= address ? &allocation : nullptr;
}

Allocation* Memory::check(u64 address, u64 bytes, const char* call) {
  Allocation* allocation = find(address, bytes);
  if (allocation) return allocation;
  throw Fault(INVALID_VALUE, std::string(call) + ": " + std::to_string(bytes) + " bytes at " + hex(address) +
                                 " are not inside one allocation: " + describe(address));
}

std::string Memory::describe(u64 address) const {
  auto inside = [address](const std::map<u64, u64>& ranges) {
    auto next = ranges.upper_bound(address);
    return next != ranges.begin() && address < std::prev(next)->second;
  };
  if (inside(freed_)) return "the memory was freed";
  auto next = live_.upper_bound(address);
  if (next != live_.begin()) {
    const Allocation& before = std::prev(next)->second;
    u64 size = before.high - before.low;
    if (address < before.high + RED_ZONE_BYTES) {
      return "byte " + std::to_string(address - before.low) + " of an allocation of " + std::to_string(size) + " bytes";
    }
  }
  if (next != live_.end() && next->first - address <= RED_ZONE_BYTES) {
    return std::to_string(next->first - address) + " bytes before an allocation";
  }
  return "no allocation is near";
}

void Memory::markWritten(u64 address, u64 bytes) {
  if (bytes == 0) return;
  Allocation* allocation = find(address, bytes);
  if (!allocation || allocation->written) return;
  if (address == allocation->low && bytes == allocation->high - allocation->low) {
    allocation->written = true;
    return;
  }
  u64 from = address - DEVICE_BASE, to = from + bytes;
  while (from < to && (from & 7)) markLane(DEVICE_BASE + from++, 1);
  if (to - from >= 8) std::memset(bits_ + (from >> 3), 0xff, (to - from) >> 3), from += (to - from) & ~7ull;
  while (from < to) markLane(DEVICE_BASE + from++, 1);
  markDirty(*allocation);
}

u64 Memory::firstUnwritten(u64 address, u64 bytes) const {
  u64 from = address - DEVICE_BASE, to = from + bytes;
  while (from < to) {
    if ((from & 7) == 0 && to - from >= 8 && bits_[from >> 3] == 0xff) from += 8;
    else if (isWritten(DEVICE_BASE + from, 1)) ++from;
    else break;
  }
  return DEVICE_BASE + from;
}

void Memory::settle() {
  if (!anyDirty_) return;
  anyDirty_ = false;
  for (auto& [low, allocation] : live_) {
    if (!allocation.dirty) continue;
    allocation.dirty = false;
    allocation.written = firstUnwritten(low, allocation.high - low) == allocation.high;
  }
}

}  // namespace ptxsim
