// Ids: a hash table that finds or inserts, embeddings by id, and the bookkeeping of ragged rows.
//
// slots.cuh draws a table. Inserting and looking up are launches of their own, so that no thread waits for what another
// one writes.
#include "slots.cuh"

/**
 * Inserts ids; each new one gets the next row of `counter`, in an order that is not repeatable. flags[0] becomes 1 when
 * the table is full, or when there are more rows than `rowsMax`; such ids have no row.
 */
KERNEL hashInsertI64(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, u32* counter, u32 rowsMax, u32* flags) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    DeviceSlot* const slot = takeSlot(slots, mask, ids[i]);
    if (slot == nullptr) {
      atomicExch(flags, 1);
      continue;
    }
    // The thread that turns "none" to "being made" gives the row; the others have nothing to wait for.
    if (atomicCAS(&slot->value, NO_ROW, NO_ROW - 1) != NO_ROW) continue;
    const u32 row = atomicAdd(counter, 1);
    atomicExch(&slot->value, row < rowsMax ? row : NO_ROW - 1);
    if (row >= rowsMax) atomicExch(flags, 1);
  }
}

/** Inserts ids with the least of their positions: of ids that repeat, the first counts. Repeatable. */
KERNEL hashFirstI64(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, u32* flags) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    DeviceSlot* const slot = takeSlot(slots, mask, ids[i]);
    if (slot == nullptr) atomicExch(flags, 1);
    else atomicMin(&slot->value, i);
  }
}

/** rows[i] = the value of ids[i], 2^32 - 1 for one that has none. */
KERNEL hashFindI64(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, u32* rows) {
  for (u32 i = firstThread(); i < n; i += allThreads()) {
    const DeviceSlot* slot = findSlot(slots, mask, ids[i]);
    rows[i] = slot == nullptr || slot->value >= NO_ROW - 1 ? NO_ROW : slot->value;
  }
}

/** out[i, :] = the row of ids[i] in `embeddings`; flags[0] becomes 1 when an id has none. A warp per id. */
KERNEL mapIdToEmbeddingF32(DeviceSlot* slots, u32 mask, const u64* ids, u32 n, const float* embeddings, u32 stride,
                           u32 dim, float* out, u32 outStride, u32* flags) {
  forWarpRows(n, [=](u32 i, u32 lane) {
    const DeviceSlot* slot = findSlot(slots, mask, ids[i]);
    const u32 row = slot == nullptr ? NO_ROW : slot->value;
    if (row >= NO_ROW - 1) {
      if (lane == 0) atomicExch(flags, 1);
      return;
    }
    for (u32 c = lane; c < dim; c += 32) out[(u64)i * outStride + c] = embeddings[(u64)row * stride + c];
  });
}

/** How often each unique id came. */
KERNEL countInverseU32(const u32* inverse, u32 n, u32* counts) {
  for (u32 i = firstThread(); i < n; i += allThreads()) atomicAdd(counts + inverse[i], 1);
}

/** The same of the inverse of columns of ids. */
KERNEL countColumnsU32(const u32* inverse, u32 rows, u32 columns, u32* counts) {
  for (u32 i = firstThread(); i < rows * columns; i += allThreads()) atomicAdd(counts + inverse[i], 1);
}

/** out[j - splits[0]] = r for every j of splits[r] to splits[r + 1]. */
KERNEL rowIdsFromSplits(const u32* splits, u32 rows, u32* out) {
  forWarpRows(rows, [=](u32 r, u32 lane) {
    for (u32 j = splits[r] + lane; j < splits[r + 1]; j += 32) out[j - splits[0]] = r;
  });
}
