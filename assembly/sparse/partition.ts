// Hands ids to their owners: by hash of the id, so that every thread finds the same owner without asking.
import { WORD } from "../units";
import { mix64 } from "../hash";

/**
 * Stable counting sort of the indexes 0..n-1 by partition, where a partition is the top bits of the hash:
 * order[offsets[p]..offsets[p + 1]) are the indexes of partition p, ascending. `partitions` is a power of two.
 */
export function partitionByHash(uids: usize, n: i32, partitions: i32, order: usize, offsets: usize): void {
  const bits = ctz(partitions);
  // Shifting twice keeps the count below 64 for one partition, where the shift alone would be by 64, that is by 0.
  const shift: u64 = 63 - bits;
  memory.fill(offsets, 0, (<usize>partitions + 1) << 2);
  for (let i: i32 = 0; i < n; i++) {
    const p = offsets + (<usize>((mix64(load<u64>(uids + (<usize>i << 3))) >> shift) >> 1) << 2);
    store<u32>(p, load<u32>(p, WORD) + 1, WORD);
  }
  let sum: u32 = 0;
  for (let p: i32 = 1; p <= partitions; p++) {
    const at = offsets + (<usize>p << 2);
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  // While placing, offsets[p] is the cursor of p and ends as the start of p + 1; one shift up restores the starts.
  for (let i: i32 = 0; i < n; i++) {
    const p = offsets + (<usize>((mix64(load<u64>(uids + (<usize>i << 3))) >> shift) >> 1) << 2);
    const at = load<u32>(p);
    store<u32>(order + (<usize>at << 2), i);
    store<u32>(p, at + 1);
  }
  for (let p: i32 = partitions; p > 0; p--) {
    const at = offsets + (<usize>p << 2);
    store<u32>(at, load<u32>(at - 4));
  }
  store<u32>(offsets, 0);
}

/** out[i] = ids[order[i]]: the ids of one partition side by side, ready for uniqueI64 at their owner. */
export function gatherI64(ids: usize, order: usize, n: i32, out: usize): void {
  for (let i: i32 = 0; i < n; i++) {
    store<u64>(out + (<usize>i << 3), load<u64>(ids + (<usize>load<u32>(order + (<usize>i << 2)) << 3)));
  }
}
