// Cache misses of the shared kernels. Under a lock they would be paid one by one; here those of many ids are under way
// together.
import { SLOT, TABLE } from "../generated/layouts";
import { firstBucket, partitionCount } from "./find";
import { hitSlot, idBits } from "./index";
import { isServing } from "./retriever";

/** Ids that are brought near together. */
const NEAR_IDS: u32 = 64;
/** Fewer are not worth two walks. */
const NEAR_IDS_MIN: u32 = 4;

/** Reads the lines of the first bucket of each id. The result is of no use; a load that may trap is not removed. */
function touchBuckets(table: usize, ids: usize, end: usize, last: usize): u32 {
  const count = partitionCount(table);
  const partitions = <usize>load<u32>(table, TABLE.partitions);
  let seen: u32 = 0;
  for (let at = ids; at < end; at += 8) {
    seen |= load<u32>(min(<usize>firstBucket(partitions, count, load<u64>(at)), last));
  }
  return seen;
}

/** Reads the lines of the first `bytes` bytes of the row of each id that is in its first bucket. */
function touchRows(table: usize, ids: usize, end: usize, last: usize, bytes: usize): u32 {
  const count = partitionCount(table);
  const partitions = <usize>load<u32>(table, TABLE.partitions);
  let seen: u32 = 0;
  for (let at = ids; at < end; at += 8) {
    const bucket = min(<usize>firstBucket(partitions, count, load<u64>(at)), last);
    const bits = idBits(bucket, v128.load_splat<i64>(at));
    if (bits == 0) continue;
    const row = <usize>load<u32>(hitSlot(bucket, bits), SLOT.row);
    seen |= load<u32>(min(row, last));
    for (let c: usize = 64; c < bytes; c += 64) seen |= load<u32>(min(row + c, last));
  }
  return seen;
}

/**
 * Brings near what a shared kernel will want of the ids from the i-th on, every so many ids: their buckets and the
 * first `bytes` bytes of their rows. No lock is held: others may change what is read, so an address may be of memory
 * that is no longer the table's, or no address at all. It is only read, and within the memory.
 */
@inline
export function bringNear(table: usize, ids: usize, i: u32, n: u32, bytes: usize): void {
  if ((i & (NEAR_IDS - 1)) != 0 || n - i < NEAR_IDS_MIN) return;
  const end = ids + (<usize>min(NEAR_IDS, n - i) << 3);
  // For a memory of 4 GiB the size wraps to 0, and this is right still.
  const last = (<usize>memory.size() << 16) - 64;
  touchBuckets(table, ids, end, last);
  if (bytes != 0) touchRows(table, ids, end, last, bytes);
}

/** Bytes of a row that hold what a lookup shows. */
export function shownBytes(table: usize): usize {
  return isServing(table) ? <usize>load<u32>(table, TABLE.rowBytes) : <usize>load<u32>(table, TABLE.dim) << 2;
}
