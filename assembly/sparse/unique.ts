// First-seen-order unique of 64-bit ids over an open-addressing scratch table.
//
// | 0 i64 key | 8 u32 generation | 12 u32 index |   one 16-byte cell, (tableMask + 1) of them
//
// A cell of another generation is empty, so a call costs nothing for the cells it does not meet and nothing is cleared
// between calls. The caller counts the generation up; 0 is never one, because fresh memory is zero. Before the counter
// would pass 2^32 - 1 the caller zeroes the table and starts again at 1.
import { mix64 } from "../hash";

/** From this many cells on (512 KiB) the table leaves L2 room to nothing else, and the chunked walk pays. */
const CHUNKED_CELLS: u32 = 32768;
const CHUNK_IDS: i32 = 256;

/** Cells for at most `maxIds` distinct ids: a power of two, at most half full. */
export function uniqueTableCells(maxIds: u32): u32 {
  const wanted = max<u32>(maxIds * 2, 64);
  return 1 << (32 - clz<u32>(wanted - 1));
}

/**
 * uids[base..result) = ids not seen yet in this generation, in first-seen order; inverse[i] = index of ids[i] in uids.
 * `base` is how many unique ids earlier calls of this generation left in uids: several features of one table share one
 * index space. Any 64-bit id is valid. Returns the new unique count, or -1 when the table has no free cell left.
 */
export function uniqueI64(
  ids: usize, n: i32, table: usize, tableMask: u32, generation: u32, base: i32, uids: usize, inverse: usize,
): i32 {
  return tableMask >= CHUNKED_CELLS && n > 64
    ? uniqueChunked(ids, n, table, tableMask, generation, base, uids, inverse)
    : uniquePlain(ids, n, table, tableMask, generation, base, uids, inverse);
}

/**
 * Finds or claims the cell of `key` from byte offset `at` on; returns its index, which equals `count` when the key is
 * new, or -1 when the walk came round. A hit and a claim of the home cell share one path without a branch between them
 * (which of the two it is follows the data, and a wrong guess costs more than two idle stores): both write the cell and
 * uids[index], a hit with what is there already.
 */
// @ts-ignore: decorator
@inline
function place(table: usize, byteMask: usize, home: usize, key: u64, generation: u32, count: u32, uids: usize): u32 {
  let at = home;
  let index: u32 = 0;
  for (;;) {
    const cell = table + at;
    const meta = load<u64>(cell, 8);
    const empty = u32(u32(meta) != generation);
    if (empty | u32(load<u64>(cell) == key)) {
      const old = u32(meta >> 32);
      index = old ^ ((old ^ count) & (0 - empty));
      store<u64>(cell, key);
      store<u64>(cell, (u64(index) << 32) | u64(generation), 8);
      store<u64>(uids + (<usize>index << 3), key);
      break;
    }
    at = (at + 16) & byteMask;
    if (at == home) {
      index = -1;
      break;
    }
  }
  return index;
}

function uniquePlain(
  ids: usize, n: i32, table: usize, tableMask: u32, generation: u32, base: i32, uids: usize, inverse: usize,
): i32 {
  const byteMask = <usize>tableMask << 4;
  let count: u32 = base;
  for (let i: i32 = 0; i < n; i++) {
    const key = load<u64>(ids + (<usize>i << 3));
    const home = (<usize>mix64(key) << 4) & byteMask;
    const index = place(table, byteMask, home, key, generation, count, uids);
    if (index == u32(-1)) return -1;
    store<u32>(inverse + (<usize>i << 2), index);
    count += u32(index == count);
  }
  return count;
}

/**
 * The same for a table that is larger than the cache: per chunk, hash all ids, touch all their cells in a loop that
 * does nothing else (WASM has no prefetch; the loads overlap only when no probe stands between them), then probe.
 * `inverse` holds the cell offsets between the passes.
 */
function uniqueChunked(
  ids: usize, n: i32, table: usize, tableMask: u32, generation: u32, base: i32, uids: usize, inverse: usize,
): i32 {
  const byteMask = <usize>tableMask << 4;
  let count: u32 = base;
  let touched: u32 = 0;
  for (let start: i32 = 0; start < n; start += CHUNK_IDS) {
    const end = min(start + CHUNK_IDS, n);
    const first = inverse + (<usize>start << 2);
    const last = inverse + (<usize>end << 2);
    let id = ids + (<usize>start << 3);
    for (let q = first; q < last; q += 4, id += 8) store<u32>(q, (<u32>mix64(load<u64>(id)) << 4) & <u32>byteMask);
    let q = first;
    for (; q + 32 <= last; q += 32) {
      touched |= load<u32>(table + load<u32>(q));
      touched |= load<u32>(table + load<u32>(q, 4));
      touched |= load<u32>(table + load<u32>(q, 8));
      touched |= load<u32>(table + load<u32>(q, 12));
      touched |= load<u32>(table + load<u32>(q, 16));
      touched |= load<u32>(table + load<u32>(q, 20));
      touched |= load<u32>(table + load<u32>(q, 24));
      touched |= load<u32>(table + load<u32>(q, 28));
    }
    for (; q < last; q += 4) touched |= load<u32>(table + load<u32>(q));
    id = ids + (<usize>start << 3);
    for (q = first; q < last; q += 4, id += 8) {
      const index = place(table, byteMask, load<u32>(q), load<u64>(id), generation, count, uids);
      if (index == u32(-1)) return -1;
      store<u32>(q, index);
      count += u32(index == count);
    }
  }
  // Generation 0 is never passed; the test keeps the touching loads alive through every optimizer.
  return generation == 0 ? i32(touched | 0x80000000) : i32(count);
}
