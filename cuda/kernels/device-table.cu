// A table whose ids, rows and times are all on the device: rows of ids, new rows, and what stands before a step of
// them.
//
// The index is drawn in slots.cuh; the value of a slot is the number of a row. A row has the floats of the host's:
// weights, state, and zeros up to a multiple of four. Behind the last one is a row of zeros, which absent ids read. Ids
// of a call are unique. The secret of the host's memory decides the places in the index. Counters are | rows |
// gradients that were not finite | 1 when there was no room |.
#include "slots.cuh"

/** rowOf[i] = the row of ids[i], 2^32 - 1 for one that has none; addresses[i] = where it is, for those the row of
 * zeros. */
KERNEL deviceTableFind(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, const float* rows, u32 rowFloats,
                       u32 rowsMax, u32* rowOf, u64* addresses, u32 secret) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    const DeviceSlot* const slot = findSlot(slots, mask, ids[i], secret);
    const u32 row = slot == nullptr ? NO_ROW : slot->value;
    rowOf[i] = row;
    addresses[i] = (u64)(rows + (u64)min(row, rowsMax) * rowFloats);
  }
}

/** Gives rows to the ids that have none. fresh[i] = 1 for those, else 0. */
KERNEL deviceTableTake(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, u32* rowOf, u32* fresh, u64* idOf,
                       u32* counters, u32 rowsMax, u32 secret) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    bool isFresh = false;
    if (rowOf[i] == NO_ROW) {
      const u64 id = ids[i];
      DeviceSlot* const slot = takeSlot(slots, mask, id, secret);
      const u32 row = atomicAdd(counters + DEVICE_COUNTER::rows, 1);
      isFresh = slot != nullptr && row < rowsMax;
      if (isFresh) {
        slot->value = row;
        idOf[row] = id;
        rowOf[i] = row;
      } else {
        atomicExch(counters + DEVICE_COUNTER::noRoom, 1);
      }
    }
    fresh[i] = isFresh;
  }
}

/**
 * The first values of fresh rows: first[c], and where range[c] is not 0 a number from there on that depends on (seed,
 * id, c) alone. Bit-equal to tableInitRow of the CPU.
 */
KERNEL deviceTableFill(const u32* fresh, const u32* rowOf, const u64* ids, u32 n, float* rows, u32 rowFloats,
                       const float* first, const float* range, u32 seed) {
  const u32 quads = rowFloats / 4, bits = laneBits(quads), step = 1u << bits;
  for (u32 i = firstThread() >> bits; i < n; i += allThreads() >> bits) {
    if (!fresh[i]) continue;
    const u64 base = mix64(ids[i] ^ ((u64)seed * 0x9e3779b97f4a7c15ull));
    float* const row = rows + (u64)rowOf[i] * rowFloats;
    for (u32 quad = threadIdx.x & (step - 1); quad < quads; quad += step) {
      const float4 a = load4(first + quad * 4), b = load4(range + quad * 4);
      const auto value = [=](u32 c, float from, float width) {
        const u32 drawn = (u32)(mix64(base + (u64)(quad * 4 + c) * 0xd1b54a32d192ed03ull) >> 40);
        return width == 0 ? from : (float)drawn * 5.9604644775390625e-8f * width + from;
      };
      store4(row + quad * 4,
             make_float4(value(0, a.x, b.x), value(1, a.y, b.y), value(2, a.z, b.z), value(3, a.w, b.w)));
    }
  }
}

/**
 * Stamps the rows that are about to be stepped. A row whose gradient is NaN or infinite keeps its values: it is
 * counted, and rowOf[i] becomes 2^32 - 1. As many lanes work on a gradient as it has floats.
 */
KERNEL deviceTableAdmit(u32* rowOf, u32 n, const float* grad, u32 gradStride, u32 dim, u32* times, u32 timeSec,
                        u32* counters) {
  const u32 bits = laneBits(dim), step = 1u << bits, rowsOfWarp = 32u >> bits;
  const u32 lane = threadIdx.x & 31, part = lane & (step - 1);
  const u32 members = (step == 32 ? WHOLE_WARP : (1u << step) - 1) << (lane - part);
  // All lanes of a warp take part in the vote, those without a row too.
  for (u32 first = (firstThread() >> 5) * rowsOfWarp; first < n; first += (allThreads() >> 5) * rowsOfWarp) {
    const u32 i = first + (lane >> bits);
    bool bad = false;
    if (i < n) {
      for (u32 c = part; c < dim; c += step) bad |= !isfinite(grad[(u64)i * gradStride + c]);
    }
    const u32 votes = __ballot_sync(WHOLE_WARP, bad);
    if (i >= n || part != 0) continue;
    const u32 row = rowOf[i];
    if (row != NO_ROW) times[row] = timeSec;
    if ((votes & members) == 0) continue;
    rowOf[i] = NO_ROW;
    atomicAdd(counters + DEVICE_COUNTER::badGradients, 1);
  }
}

/** Puts ids into an empty index: id i has row i. */
KERNEL deviceTablePlace(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, u32* counters, u32 secret) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    DeviceSlot* const slot = takeSlot(slots, mask, ids[i], secret);
    if (slot == nullptr) atomicExch(counters + DEVICE_COUNTER::noRoom, 1);
    else slot->value = i;
  }
}
