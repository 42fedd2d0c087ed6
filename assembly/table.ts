// Embedding hash table in shared memory: any 64-bit id, rows that never move, an index per partition that grows alone.
//
// A table is 2^p partitions chosen by the top bits of the id's hash. During an update a partition belongs to one thread,
// so nothing here takes a lock but the heap. Lookups run while nobody writes. src/memory/table-layout.ts draws the
// layout for the other side.
//
// Table, u32 words:     | 0 log2 partitions | 1 dim | 2 state floats | 3 row bytes | 4 segments | 5 heap | 6 seed |
//                       | 7 zero row (weights) | 8 dimension of the partitions' array (pointer) | 9..15 - | 16.. segments, 16 words each |
// Segment, u32 words:   | 0 dim | 1 weight offset | 2 state offset (floats) | 3 initializer | 4 a f32 | 5 b f32 |
//                       | 6 optimizer | 7 learning rate f32 | 8.. parameters f32 |
// Partition, 64 bytes:  | 0 index | 1 bucket mask | 2 rows | 3 next row | 4 end of block | 5 first block | 6 last block | 7 rows of last block |
// Index bucket, 64 bytes: four i64 keys, four u32 row addresses (0 = free slot), 16 spare bytes.
// Row block:            64-byte header | 0 next block | 1 rows used | then rows |
// Row:                  | i64 id | u32 last update (s) | u32 gradient sum (address, 0 between steps) | weights | state |
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from "./dense";
import { mix64 } from "./hash";
import { heapAlloc, heapFree } from "./heap";

const ROW_HEADER: usize = 16;
const CHUNK: u32 = 256;
/** Rows that are stepped together: with their gradients they stay in the nearest cache. */
const OPTIMIZED_ROWS: usize = 64;
/** Rows in the first block of a partition; each further block doubles, up to ROWS_BLOCK_MAX. */
const ROWS_BLOCK_MIN: u32 = 4;
const ROWS_BLOCK_MAX: u32 = 4096;

const INIT_UNIFORM: u32 = 1;
const INIT_CONSTANT: u32 = 2;
const OPT_SGD: u32 = 0;
const OPT_ADAGRAD: u32 = 1;
const OPT_FTRL: u32 = 2;

// @ts-ignore: decorator
@inline function partitionAt(table: usize, hash: u64): usize {
  const log2 = load<u32>(table);
  const p: usize = log2 == 0 ? 0 : <usize>(hash >> (64 - <u64>log2));
  return <usize>load<u32>(table, 32) + (p << 6);
}

// @ts-ignore: decorator
@inline function bucketOf(partition: usize, hash: u64): usize {
  return <usize>load<u32>(partition) + ((<usize>hash & <usize>load<u32>(partition, 4)) << 6);
}

// @ts-ignore: decorator
@inline function matchKeys(bucket: usize, key: v128): i32 {
  return i64x2.bitmask(i64x2.eq(v128.load(bucket), key)) | (i64x2.bitmask(i64x2.eq(v128.load(bucket, 16), key)) << 2);
}

// @ts-ignore: decorator
@inline function freeSlots(bucket: usize): i32 {
  return i32x4.bitmask(i32x4.eq(v128.load(bucket, 32), i32x4.splat(0)));
}

/** Row address of `id` starting at `bucket`, or 0. A key in a free slot is left over from nothing, so it never counts. */
function probe(partition: usize, bucket: usize, id: i64): usize {
  const key = i64x2.splat(id);
  let b = bucket;
  let free = freeSlots(b);
  let hit = matchKeys(b, key) & ~free;
  while (hit == 0 && free == 0) {
    b = nextBucket(partition, b);
    free = freeSlots(b);
    hit = matchKeys(b, key) & ~free;
  }
  return hit != 0 ? <usize>load<u32>(b + (<usize>ctz(hit) << 2), 32) : 0;
}

// @ts-ignore: decorator
@inline function nextBucket(partition: usize, bucket: usize): usize {
  const index = <usize>load<u32>(partition);
  return index + ((bucket + 64 - index) & ((<usize>load<u32>(partition, 4) << 6) | 63));
}

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
 * rows[i] = address of the weights of ids[i], or of the table's zero row: an absent id reads as zeros and is not
 * inserted. Returns the number of ids found. Chunks keep many cache misses in flight: hash all, touch all, probe all.
 */
export function tableFind(table: usize, ids: usize, n: u32, rows: usize): u32 {
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
      const key = i64x2.splat(id);
      const free = freeSlots(bucket);
      const hit = matchKeys(bucket, key) & ~free;
      let row: usize = 0;
      if (hit != 0) row = <usize>load<u32>(bucket + (<usize>ctz(hit) << 2), 32);
      else if (free == 0) {
        const partition = partitionAt(table, mix64(<u64>id));
        row = probe(partition, nextBucket(partition, bucket), id);
      }
      found += <u32>(row != 0);
      store<u32>(at, row != 0 ? <u32>(row + ROW_HEADER) : zeroRow);
    }
  }
  return found;
}

/** Puts (id, row) into the index of `partition`, which has room. */
function indexInsert(partition: usize, hash: u64, id: i64, row: usize): void {
  let bucket = bucketOf(partition, hash);
  for (;;) {
    const free = freeSlots(bucket);
    if (free != 0) {
      const slot = <usize>ctz(free);
      store<i64>(bucket + (slot << 3), id);
      store<u32>(bucket + (slot << 2), <u32>row, 32);
      return;
    }
    bucket = nextBucket(partition, bucket);
  }
}

/** Doubles the index of one partition; the others are untouched. False when the heap is full. */
function growIndex(table: usize, partition: usize): bool {
  const heap = <usize>load<u32>(table, 20);
  const oldIndex = <usize>load<u32>(partition);
  const oldBuckets: u32 = oldIndex == 0 ? 0 : load<u32>(partition, 4) + 1;
  const buckets: u32 = oldBuckets == 0 ? 1 : oldBuckets << 1;
  const index = heapAlloc(heap, buckets << 6);
  if (index == 0) return false;
  store<u32>(partition, <u32>index);
  store<u32>(partition, buckets - 1, 4);
  const end = oldIndex + (<usize>oldBuckets << 6);
  for (let b = oldIndex; b < end; b += 64) {
    for (let slot: usize = 0; slot < 4; slot++) {
      const row = load<u32>(b + (slot << 2), 32);
      if (row == 0) continue;
      const id = load<i64>(b + (slot << 3));
      indexInsert(partition, mix64(<u64>id), id, row);
    }
  }
  if (oldIndex != 0) heapFree(heap, oldIndex, oldBuckets << 6);
  return true;
}

/** A fresh row at the end of the partition's last block; 0 when the heap is full. */
function newRow(table: usize, partition: usize): usize {
  const rowBytes = <usize>load<u32>(table, 12);
  let row = <usize>load<u32>(partition, 12);
  if (row == <usize>load<u32>(partition, 16)) {
    const last = <usize>load<u32>(partition, 24);
    const rows: u32 = last == 0 ? ROWS_BLOCK_MIN : min(load<u32>(partition, 28) << 1, ROWS_BLOCK_MAX);
    // The heap hands out powers of two: fill the block it would give anyway.
    const bytes: u32 = (<u32>1) << (32 - clz(64 + rows * <u32>rowBytes - 1));
    const block = heapAlloc(<usize>load<u32>(table, 20), bytes);
    if (block == 0) return 0;
    const fits = (bytes - 64) / <u32>rowBytes;
    if (last == 0) store<u32>(partition, <u32>block, 20);
    else store<u32>(last, <u32>block);
    store<u32>(partition, <u32>block, 24);
    store<u32>(partition, rows, 28);
    row = block + 64;
    store<u32>(partition, <u32>(row + <usize>fits * rowBytes), 16);
  }
  store<u32>(partition, <u32>(row + rowBytes), 12);
  const block = <usize>load<u32>(partition, 24);
  store<u32>(block, load<u32>(block, 4) + 1, 4);
  return row;
}

/** Weights from the initializer, state from the optimizer. Uniform values depend on (seed, id, component) alone. */
export function tableInitRow(table: usize, row: usize): void {
  const id = load<u64>(row);
  const weights = row + ROW_HEADER;
  const states = weights + (<usize>load<u32>(table, 4) << 2);
  const segments = load<u32>(table, 16);
  const base = mix64(id ^ (<u64>load<u32>(table, 24) * 0x9E3779B97F4A7C15));
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 6);
    const dim = load<u32>(segment);
    const w = weights + (<usize>load<u32>(segment, 4) << 2);
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    const kind = load<u32>(segment, 12);
    const a = load<f32>(segment, 16), b = load<f32>(segment, 20);
    const first = load<u32>(segment, 4);
    for (let c: u32 = 0; c < dim; c++) {
      let value: f32 = 0;
      if (kind == INIT_CONSTANT) value = a;
      else if (kind == INIT_UNIFORM) {
        const bits = mix64(base + <u64>(first + c) * 0xD1B54A32D192ED03) >> 40;
        value = <f32>(<u32>bits) * <f32>5.9604644775390625e-8 * (b - a) + a;
      }
      store<f32>(w + (<usize>c << 2), value);
    }
    const optimizer = load<u32>(segment, 24);
    if (optimizer == OPT_SGD) continue;
    const initial = load<f32>(segment, 32);
    for (let c: u32 = 0; c < dim; c++) {
      store<f32>(state + (<usize>c << 2), initial);
      if (optimizer == OPT_FTRL) store<f32>(state + (<usize>(dim + c) << 2), 0);
    }
  }
}

/** Row of `id`, made and initialised when absent; 0 when the heap is full. Only the partition's owner may call. */
function upsert(table: usize, id: i64): usize {
  const hash = mix64(<u64>id);
  const partition = partitionAt(table, hash);
  if (load<u32>(partition) == 0 && !growIndex(table, partition)) return 0;
  const found = probe(partition, bucketOf(partition, hash), id);
  if (found != 0) return found;
  const count = load<u32>(partition, 8) + 1;
  // At most 3 of 4 slots are taken: probing stays within one or two lines.
  if (count > (load<u32>(partition, 4) + 1) * 3 && !growIndex(table, partition)) return 0;
  const row = newRow(table, partition);
  if (row == 0) return 0;
  store<i64>(row, id);
  tableInitRow(table, row);
  indexInsert(partition, hash, id, row);
  store<u32>(partition, count, 8);
  return row;
}

/** rows[i] = address of the weights of ids[i], inserted when absent. Returns how many were handled: fewer than n = heap full. */
export function tableUpsert(table: usize, ids: usize, n: u32, rows: usize): u32 {
  for (let i: u32 = 0; i < n; i++) {
    const row = upsert(table, load<i64>(ids + (<usize>i << 3)));
    if (row == 0) return i;
    store<u32>(rows + (<usize>i << 2), <u32>(row + ROW_HEADER));
  }
  return n;
}

// @ts-ignore: decorator
@inline function addRow(dst: usize, src: usize, n: u32): void {
  let i: u32 = 0;
  for (; i + 4 <= n; i += 4, dst += 16, src += 16) v128.store(dst, f32x4.add(v128.load(dst), v128.load(src)));
  for (; i < n; i++, dst += 4, src += 4) store<f32>(dst, load<f32>(dst) + load<f32>(src));
}

/**
 * Steps the rows whose weights the addresses `m`..`end` point to, by the gradients the rows point to. Segment by segment
 * over a few rows, not row by row: the long chains of one optimizer, roots and divisions, then overlap between rows.
 */
function optimizeRows(table: usize, m: usize, end: usize): void {
  const states = <usize>load<u32>(table, 4) << 2;
  const segments = load<u32>(table, 16);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 6);
    const dim = load<u32>(segment);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    const lr = load<f32>(segment, 28);
    const optimizer = load<u32>(segment, 24);
    const a = load<f32>(segment, 36), b = load<f32>(segment, 40), c = load<f32>(segment, 44);
    for (let q = m; q < end; q += 4) {
      const weights = <usize>load<u32>(q);
      const gradient = <usize>load<u32>(weights - 4) + offset;
      if (optimizer == OPT_SGD) applySgdF32(weights + offset, gradient, dim, lr);
      else if (optimizer == OPT_ADAGRAD) applyAdagradF32(weights + offset, weights + state, gradient, dim, lr, a);
      else {
        const first = weights + state;
        applyFtrlF32(weights + offset, first, first + (<usize>dim << 2), gradient, dim, lr, a, b, c);
      }
    }
  }
}

/** Rows must not point to gradients when nobody is updating them: a later update would add to a buffer that is gone. */
function forgetSums(merged: usize, end: usize): void {
  for (let m = merged; m < end; m += 4) store<u32>(<usize>load<u32>(m) - 4, 0);
}

/**
 * Loads a word of every cache line of the rows and gradients that the indexes `order`..`end` name, in a loop that does
 * nothing else, so that the misses overlap: rows and gradients both lie scattered. The result is of no use.
 */
function touchUpdates(order: usize, end: usize, rows: usize, rowBytes: usize, gradients: usize, stride: usize): i32 {
  let seen: i32 = 0;
  const rowLast = rowBytes - 4;
  const gradientLast = stride - 4;
  for (let q = order; q < end; q += 4) {
    const u = <usize>load<u32>(q);
    const row = <usize>load<u32>(rows + (u << 2)) - ROW_HEADER;
    const gradient = gradients + u * stride;
    for (let c: usize = 0; c < rowLast; c += 64) seen |= load<i32>(row + c);
    for (let c: usize = 0; c < gradientLast; c += 64) seen |= load<i32>(gradient + c);
    seen |= load<i32>(row + rowLast) | load<i32>(gradient + gradientLast);
  }
  return seen;
}

/**
 * Sums the gradients of each id over the slices, in slice order, and steps its row once. Handles the partitions
 * [first, end), whose owner the caller is. `slices` is an array of `sliceCount` records of 8 u32 words:
 * | unique ids | order | offsets | rows | gradients | gradient stride (floats) | - | - |, order and offsets as
 * partitionByHash writes them, rows as tableFind does. The first slice's gradient row is the accumulator; a row
 * points to it for the length of this call. `merged` has room for the ids of one partition over all slices.
 * Returns the number of rows stepped, or -1 when the heap is full: the partition at hand is then as it was, but for new rows.
 */
export function tableApply(table: usize, first: u32, end: u32, slices: usize, sliceCount: u32, merged: usize, updateSec: u32): i32 {
  const zeroRow = load<u32>(table, 28);
  const dim = load<u32>(table, 4);
  const rowBytes = <usize>load<u32>(table, 12);
  let stepped: i32 = 0;
  for (let p = first; p < end; p++) {
    let last = merged;
    for (let s: u32 = 0; s < sliceCount; s++) {
      const slice = slices + (<usize>s << 5);
      const ids = <usize>load<u32>(slice);
      const offsets = <usize>load<u32>(slice, 8) + (<usize>p << 2);
      const rows = <usize>load<u32>(slice, 12);
      const gradients = <usize>load<u32>(slice, 16);
      const stride = <usize>load<u32>(slice, 20) << 2;
      let order = <usize>load<u32>(slice, 4) + (<usize>load<u32>(offsets) << 2);
      const orderEnd = <usize>load<u32>(slice, 4) + (<usize>load<u32>(offsets, 4) << 2);
      let touched = order;
      for (; order < orderEnd; order += 4) {
        if (order == touched) {
          touched = min(order + (CHUNK << 2), orderEnd);
          touchUpdates(order, touched, rows, rowBytes, gradients, stride);
        }
        const u = <usize>load<u32>(order);
        let weights = <usize>load<u32>(rows + (u << 2));
        if (weights == zeroRow) {
          const row = upsert(table, load<i64>(ids + (u << 3)));
          if (row == 0) {
            forgetSums(merged, last);
            return -1;
          }
          weights = row + ROW_HEADER;
        }
        const gradient = gradients + u * stride;
        const sum = <usize>load<u32>(weights - 4);
        if (sum == 0) {
          store<u32>(weights - 4, <u32>gradient);
          store<u32>(last, <u32>weights);
          last += 4;
        } else addRow(sum, gradient, dim);
      }
    }
    for (let m = merged; m < last;) {
      const chunkEnd = min(m + (OPTIMIZED_ROWS << 2), last);
      optimizeRows(table, m, chunkEnd);
      for (; m < chunkEnd; m += 4) {
        const weights = <usize>load<u32>(m);
        store<u32>(weights - 4, 0);
        store<u32>(weights - 8, updateSec);
      }
    }
    stepped += <i32>((last - merged) >> 2);
  }
  return stepped;
}
