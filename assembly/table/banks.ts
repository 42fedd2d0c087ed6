// What a step needs of a table that lives in other memories: ids and gradients of one bank side by side, ready to be
// copied over, and row pointers to what was copied back. Partition p is of bank p % banks.
import { WORD } from "../units";
import { APPLY_SLICE, PARTITIONS } from "../generated/layouts";

/** out = ids of the partitions of `bank`, in the order partitionByHash gave them; returns how many. */
export function bankIds(ids: usize, order: usize, offsets: usize, bank: u32, banks: u32, out: usize): u32 {
  let at = out;
  for (let p = bank; p < PARTITIONS; p += banks) {
    const end = order + (<usize>load<u32>(offsets + (<usize>p << 2), WORD) << 2);
    for (let q = order + (<usize>load<u32>(offsets + (<usize>p << 2)) << 2); q < end; q += 4, at += 8) {
      store<i64>(at, load<i64>(ids + (<usize>load<u32>(q) << 3)));
    }
  }
  return <u32>((at - out) >> 3);
}

/** Points rows[] of the ids that bankIds gave at their copies, `strideBytes` apart from `local` on. */
export function bankRows(
  order: usize, offsets: usize, bank: u32, banks: u32, rows: usize, local: usize, strideBytes: u32,
): void {
  let row = <u32>local;
  for (let p = bank; p < PARTITIONS; p += banks) {
    const end = order + (<usize>load<u32>(offsets + (<usize>p << 2), WORD) << 2);
    for (let q = order + (<usize>load<u32>(offsets + (<usize>p << 2)) << 2); q < end; q += 4, row += strideBytes) {
      store<u32>(rows + (<usize>load<u32>(q) << 2), row);
    }
  }
}

/** out = counts (word 7 of a slice record) of the ids that bankUpdates of the same arguments gives, in their order. */
export function bankCounts(slice: usize, first: u32, end: u32, bank: u32, banks: u32, out: usize): void {
  const order = <usize>load<u32>(slice, APPLY_SLICE.order);
  const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets);
  const counts = <usize>load<u32>(slice, APPLY_SLICE.counts);
  for (let p = first; p < end; p++) {
    if (p % banks != bank) continue;
    const last = order + (<usize>load<u32>(offsets + (<usize>p << 2), WORD) << 2);
    for (let q = order + (<usize>load<u32>(offsets + (<usize>p << 2)) << 2); q < last; q += 4, out += 4) {
      store<u32>(out, load<u32>(counts + (<usize>load<u32>(q) << 2)));
    }
  }
}

/**
 * Ids and gradient rows of those partitions of `bank` that lie in [first, end), taken from a slice record of
 * tableApply; outOffsets[0..64] as partitionByHash would give them for these ids alone. Returns how many ids there are.
 */
export function bankUpdates(
  slice: usize, first: u32, end: u32, bank: u32, banks: u32, outIds: usize, outGradients: usize, outOffsets: usize,
): u32 {
  const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
  const order = <usize>load<u32>(slice, APPLY_SLICE.order);
  const offsets = <usize>load<u32>(slice, APPLY_SLICE.offsets);
  const gradients = <usize>load<u32>(slice, APPLY_SLICE.gradients);
  const stride = load<u32>(slice, APPLY_SLICE.stride);
  let n: u32 = 0;
  for (let p: u32 = 0; p < PARTITIONS; p++) {
    store<u32>(outOffsets + (<usize>p << 2), n);
    if (p < first || p >= end || p % banks != bank) continue;
    const last = order + (<usize>load<u32>(offsets + (<usize>p << 2), WORD) << 2);
    for (let q = order + (<usize>load<u32>(offsets + (<usize>p << 2)) << 2); q < last; q += 4, n++) {
      const u = <usize>load<u32>(q);
      store<i64>(outIds + (<usize>n << 3), load<i64>(ids + (u << 3)));
      memory.copy(outGradients + ((<usize>n * stride) << 2), gradients + ((u * stride) << 2), <usize>stride << 2);
    }
  }
  store<u32>(outOffsets + (<usize>PARTITIONS << 2), n);
  return n;
}
