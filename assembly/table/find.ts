// Lookup of many ids at once.
import { mix64 } from "../hash";
import { bucketOf, freeSlots, hitsOf, nextBucket, partitionAt, probe } from "./index";

const CHUNK: u32 = 256;

/** Loads a word behind each pointer, so that the misses overlap. The result is of no use; a load that may trap is not removed. */
function touch(pointers: usize, n: u32): i32 {
  let a: i32 = 0, b: i32 = 0;
  let p = pointers;
  const end = pointers + (<usize>(n & ~7) << 2);
  for (; p < end; p += 32) {
    a |= load<i32>(<usize>load<u32>(p)); b |= load<i32>(<usize>load<u32>(p, 4));
    a |= load<i32>(<usize>load<u32>(p, 8)); b |= load<i32>(<usize>load<u32>(p, 12));
    a |= load<i32>(<usize>load<u32>(p, 16)); b |= load<i32>(<usize>load<u32>(p, 20));
    a |= load<i32>(<usize>load<u32>(p, 24)); b |= load<i32>(<usize>load<u32>(p, 28));
  }
  return a | b;
}

/**
 * rows[i] = address of the row of ids[i], or of the table's zero row: an absent id reads as zeros and is not inserted.
 * slots[i] = its slot in the index, or 0; no slots are wanted when `slots` is 0. Returns the number of ids found. Chunks
 * keep many cache misses in flight: hash all, touch all, probe all.
 */
export function tableFind(table: usize, ids: usize, n: u32, rows: usize, slots: usize): u32 {
  const zeroRow = load<u32>(table, 28);
  let found: u32 = 0;
  for (let s: u32 = 0; s < n; s += CHUNK) {
    const m = min(CHUNK, n - s);
    const chunkIds = ids + (<usize>s << 3);
    const chunkRows = rows + (<usize>s << 2);
    for (let i: u32 = 0; i < m; i++) {
      const hash = mix64(load<u64>(chunkIds + (<usize>i << 3)));
      store<u32>(chunkRows + (<usize>i << 2), <u32>bucketOf(partitionAt(table, hash), hash));
    }
    touch(chunkRows, m);
    for (let i: u32 = 0; i < m; i++) {
      const id = load<i64>(chunkIds + (<usize>i << 3));
      const at = chunkRows + (<usize>i << 2);
      const bucket = <usize>load<u32>(at);
      const hit = hitsOf(bucket, i64x2.splat(id));
      let slot: usize = 0;
      if (hit != 0) slot = bucket + (<usize>ctz(hit) << 2);
      else if (freeSlots(bucket) == 0) {
        const partition = partitionAt(table, mix64(<u64>id));
        slot = probe(partition, nextBucket(partition, bucket), id);
      }
      found += <u32>(slot != 0);
      store<u32>(at, slot != 0 ? load<u32>(slot, 32) : zeroRow);
      if (slots != 0) store<u32>(slots + (<usize>(s + i) << 2), <u32>slot);
    }
  }
  return found;
}
