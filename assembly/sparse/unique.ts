// First-seen-order unique of 64-bit ids over an open-addressing scratch table.
//
// src/memory/record-layout.ts draws a cell; there are tableMask + 1 of them.
// A cell of another generation is empty, so a call costs nothing for the cells it does not meet and nothing is cleared
// between calls. The caller counts the generation up; 0 is never one, because fresh memory is zero. Before the counter
// would pass 2^32 - 1 the caller zeroes the table and starts again at 1.
import { WORD } from "../units";
import { UNIQUE_CELL } from "../generated/layouts";
import { mixSecretly, secretOf } from "../hash";

/** From this many cells on (512 KiB) the table leaves L2 room to nothing else, and touching cells ahead pays. */
const TOUCHED_CELLS: u32 = 32768;
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
  return tableMask >= TOUCHED_CELLS
    ? uniqueChunks(ids, 8, n, table, tableMask, generation, base, uids, inverse, 4, true)
    : uniqueChunks(ids, 8, n, table, tableMask, generation, base, uids, inverse, 4, false);
}

/**
 * As uniqueI64 of columns of a matrix of ids, i64[rows][stride]: the columns are columns[0..columnCount), one after the
 * other. inverse[r, j] is the index of ids[r, columns[j]] in uids. A feature after the other and not a row after the
 * other: ids of a feature repeat, and what a column met lies near for the rest of it.
 */
export function uniqueColumnsI64(
  ids: usize, idsStride: u32, rows: i32, columns: usize, columnCount: u32, table: usize, tableMask: u32,
  generation: u32,
  base: i32, uids: usize, inverse: usize,
): i32 {
  const touch = tableMask >= TOUCHED_CELLS;
  const step = <usize>idsStride << 3, inverseStep = <usize>columnCount << 2;
  let count = base;
  for (let j: u32 = 0; j < columnCount && count >= 0; j++) {
    const from = ids + (<usize>load<u32>(columns + (<usize>j << 2)) << 3);
    const to = inverse + (<usize>j << 2);
    count = touch
      ? uniqueColumn(from, step, rows, table, tableMask, generation, count, uids, to, inverseStep, true)
      : uniqueColumn(from, step, rows, table, tableMask, generation, count, uids, to, inverseStep, false);
  }
  return count;
}

function uniqueColumn(
  ids: usize, step: usize, n: i32, table: usize, tableMask: u32, generation: u32, base: i32, uids: usize,
  inverse: usize,
  inverseStep: usize, touch: bool,
): i32 {
  return touch
    ? uniqueChunks(ids, step, n, table, tableMask, generation, base, uids, inverse, inverseStep, true)
    : uniqueChunks(ids, step, n, table, tableMask, generation, base, uids, inverse, inverseStep, false);
}

/** Reads a word of each cell whose offsets lie in `q`..`e`, eight to a turn where they are neighbours. */
@inline
function touchCells(table: usize, q: usize, e: usize, step: usize): u32 {
  let touched: u32 = 0;
  if (step != 4) {
    for (; q < e; q += step) touched |= load<u32>(table + load<u32>(q));
    return touched;
  }
  for (; q + 32 <= e; q += 32) {
    touched |= load<u32>(table + load<u32>(q));
    touched |= load<u32>(table + load<u32>(q, WORD));
    touched |= load<u32>(table + load<u32>(q, 2 * WORD));
    touched |= load<u32>(table + load<u32>(q, 3 * WORD));
    touched |= load<u32>(table + load<u32>(q, 4 * WORD));
    touched |= load<u32>(table + load<u32>(q, 5 * WORD));
    touched |= load<u32>(table + load<u32>(q, 6 * WORD));
    touched |= load<u32>(table + load<u32>(q, 7 * WORD));
  }
  for (; q < e; q += 4) touched |= load<u32>(table + load<u32>(q));
  return touched;
}

/**
 * Per chunk: hash all ids, touch all their cells when the table is large (a loop that does nothing else stands in for
 * the prefetch WASM does not have), then probe. Hashing apart from probing keeps the multiplications going while a
 * mispredicted probe is thrown away. Ids lie `step` bytes apart, entries of `inverse` `inverseStep`. `inverse` holds
 * the cell offsets between the passes.
 */
@inline
function uniqueChunks(
  ids: usize, step: usize, n: i32, table: usize, tableMask: u32, generation: u32, base: i32, uids: usize,
  inverse: usize,
  inverseStep: usize, touch: bool,
): i32 {
  const byteMask = <usize>tableMask << 4;
  const secret = secretOf();
  let count: u32 = base;
  let touched: u32 = 0;
  for (let start: i32 = 0; start < n; start += CHUNK_IDS) {
    const first = inverse + <usize>start * inverseStep;
    const last = inverse + <usize>min(start + CHUNK_IDS, n) * inverseStep;
    let id = ids + <usize>start * step;
    for (let q = first; q < last; q += inverseStep, id += step) {
      store<u32>(q, (<u32>mixSecretly(load<u64>(id), secret) << 4) & <u32>byteMask);
    }
    if (touch) touched |= touchCells(table, first, last, inverseStep);
    id = ids + <usize>start * step;
    for (let q = first; q < last; q += inverseStep, id += step) {
      const key = load<u64>(id);
      const home = <usize>load<u32>(q);
      let at = home;
      let meta = load<u64>(table + at, UNIQUE_CELL.generation);
      while (u32(meta) == generation && load<u64>(table + at, UNIQUE_CELL.key) != key) {
        at = (at + 16) & byteMask;
        if (at == home) return -1;
        meta = load<u64>(table + at, UNIQUE_CELL.generation);
      }
      if (u32(meta) != generation) {
        meta = (u64(count) << 32) | u64(generation);
        store<u64>(table + at, key, UNIQUE_CELL.key);
        store<u64>(table + at, meta, UNIQUE_CELL.generation);
        store<u64>(uids + (<usize>count << 3), key);
        count++;
      }
      store<u32>(q, u32(meta >> 32));
    }
  }
  // Generation 0 is never passed; the test keeps the touching loads alive through every optimizer.
  if (touch) if (generation == 0) return i32(touched | 0x80000000);
  return count;
}

/** As countInverseU32 of inverse[rows][columns], as uniqueColumnsI64 writes it. */
export function countColumnsU32(inverse: usize, rows: i32, columns: i32, counts: usize): void {
  countInverseU32(inverse, rows * columns, counts);
}

/** counts[inverse[i]] += 1 for each of the n ids of a feature: how often each unique id came. */
export function countInverseU32(inverse: usize, n: i32, counts: usize): void {
  for (let i = 0; i < n; i++) {
    const at = counts + (<usize>load<u32>(inverse + (<usize>i << 2)) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
}
