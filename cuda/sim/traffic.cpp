/** Counters of memory traffic: sectors of global memory, wavefronts of shared memory. */
#include <algorithm>
#include "machine.hpp"

namespace ptxsim {

/** Sectors are the 32-byte pieces a request touches; the fewer for its bytes, the better it is coalesced. */
void countGlobal(Counters& counters, const u64* addresses, u32 mask, u32 bytes, Access access, bool dense) {
  ++counters.globalRequests;
  u64 moved = static_cast<u64>(__builtin_popcount(mask)) * bytes;
  (access == Access::Load ? counters.globalLoadBytes : counters.globalStoreBytes) += moved;
  if (dense) {
    counters.globalSectors += (addresses[LANES - 1] >> 5) - (addresses[0] >> 5) + 1;
    return;
  }
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
