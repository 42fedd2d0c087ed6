/**
 * Device memory: allocations that are never moved nor reused, with red zones between them and a bit per byte that says
 * whether it was ever written.
 *
 * Device addresses are not host addresses: a host pointer given to a kernel is out of every allocation.
 */
#pragma once
#include <map>
#include <string>
#include "base.hpp"

namespace ptxsim {

constexpr u64 DEVICE_BASE = 0x0000'0b00'0000'0000ull;
constexpr u64 ARENA_BYTES = 64ull << 30;
/** What new and freed memory is filled with: as a float -2.66e7, as an integer negative. */
constexpr u8 POISON = 0xcb;

struct Allocation {
  u64 low = 0;   // device address of the first byte
  u64 high = 0;  // and after the last
  bool readOnly = false;
  bool written = false;  // every byte is known to have been written: loads need no look at the bits
  bool dirty = false;    // kernels stored into it since the bits were last summed up
};

class Memory {
 public:
  explicit Memory(u64 limitBytes);
  ~Memory();
  Memory(const Memory&) = delete;

  u64 allocate(u64 bytes);
  void release(u64 address);
  u64 used() const { return used_; }
  u64 limit() const { return limit_; }
  void setLimit(u64 bytes) { limit_ = bytes; }
  /** Grows with every allocation and release: what was found out about addresses holds only for one generation. */
  u64 generation() const { return generation_; }

  u8* host(u64 address) const { return arena_ + (address - DEVICE_BASE); }
  /** The live allocation that holds `bytes` at `address`, or null. */
  Allocation* find(u64 address, u64 bytes);
  /** As find, for a driver call: throws what is wrong with the range. */
  Allocation* check(u64 address, u64 bytes, const char* call);
  /** Why an access is out of bounds, in words: which allocation is near, or that it was freed. */
  std::string describe(u64 address) const;

  void markWritten(u64 address, u64 bytes);
  /** Whether all of `bytes` (1 to 16, aligned) were written. */
  bool isWritten(u64 address, u32 bytes) const;
  /** The same for a range of any size. Returns the first address that was not written, or `address + bytes`. */
  u64 firstUnwritten(u64 address, u64 bytes) const;
  void markLane(u64 address, u32 bytes);
  void markDirty(Allocation& allocation) { allocation.dirty = anyDirty_ = true; }
  /** After a launch: allocations that kernels have filled need no look at the bits any more. */
  void settle();

  /** Shadow of the last writer of each 4-byte word, for the race check; see races.cpp. Made on first use. */
  u32* writers();
  void forgetWriters();
  u64 wordOf(u64 address) const { return (address - DEVICE_BASE) >> 2; }

 private:
  u8* arena_ = nullptr;
  u8* bits_ = nullptr;
  u32* writers_ = nullptr;
  u64 top_ = 4096;
  u64 limit_;
  u64 used_ = 0;
  u64 generation_ = 1;
  bool anyDirty_ = false;
  std::map<u64, Allocation> live_;  // by low
  std::map<u64, u64> freed_;        // low -> high, for messages
};

inline bool Memory::isWritten(u64 address, u32 bytes) const {
  u64 at = address - DEVICE_BASE;
  if (bytes == 16) return bits_[at >> 3] == 0xff && bits_[(at >> 3) + 1] == 0xff;
  u32 mask = ((1u << bytes) - 1) << (at & 7);
  return (bits_[at >> 3] & mask) == mask;
}

inline void Memory::markLane(u64 address, u32 bytes) {
  u64 at = address - DEVICE_BASE;
  if (bytes == 16) bits_[at >> 3] = bits_[(at >> 3) + 1] = 0xff;
  else bits_[at >> 3] |= static_cast<u8>(((1u << bytes) - 1) << (at & 7));
}

}  // namespace ptxsim
