// Admission filters: how often has an id been seen? Counts are kept in small cells found by hash and a piece of the id,
// so an answer may be wrong for ids that share both; a table's rows would cost a hundred times the bytes.
//
// src/memory/filter-layout.ts draws the filter.
//
// Any thread may add at any time. A cell changes by compare-and-swap and is never torn; what is added to a split while
// another thread wipes it is lost, which forgets a few sightings. One thread alone gets exact results: steps of a
// session ask side by side and leave the counting to one thread (filterAsk, filterCount).
import { LONG } from "./units";
import {
  APPLY_SLICE, APPLY_SLICE_BYTES, FILTER, FILTER_COUNT_MAX, FILTER_ELEMENTS, KEPT_OUT,
} from "./generated/layouts";
import { mix64 } from "./hash";

@inline
function splitsOf(filter: usize): u32 {
  return load<u32>(filter, FILTER.splits);
}

@inline
function elementsAt(filter: usize, split: u32): usize {
  return filter + FILTER_ELEMENTS + (<usize>split << 2);
}

@inline
function readCell(cell: usize, wide: bool): u32 {
  return wide ? <u32>atomic.load<u16>(cell) : <u32>atomic.load<u8>(cell);
}

@inline
function swapCell(cell: usize, wide: bool, from: u32, to: u32): bool {
  return wide
    ? atomic.cmpxchg<u16>(cell, <u16>from, <u16>to) == <u16>from
    : atomic.cmpxchg<u8>(cell, <u8>from, <u8>to) == <u8>from;
}

@inline
function signatureOf(id: u64, wide: bool): u32 {
  return <u32>(id >> 17) & (wide ? 0xfff : 0xf);
}

/** The first cell of the split that is empty or has the signature, or 0. */
function findCell(filter: usize, split: u32, start: u32, signature: u32, wide: bool): usize {
  const shift: usize = wide ? 1 : 0;
  const steps = load<u32>(filter, FILTER.steps);
  let cell = <usize>load<u32>(filter, FILTER.cells) +
    <usize>split * <usize>load<u32>(filter, FILTER.splitStride) + (<usize>start << shift);
  for (let i: u32 = 0; i < steps; i++) {
    const value = readCell(cell, wide);
    if (value == 0 || value >> 4 == signature) return cell;
    cell += <usize>1 << shift;
  }
  return 0;
}

/** The first cell from the head on that is empty or has the signature, or 0. */
function findForward(filter: usize, head: u32, start: u32, signature: u32, wide: bool): usize {
  const splits = splitsOf(filter);
  const forward = load<u32>(filter, FILTER.forward);
  for (let i: u32 = 0; i < forward; i++) {
    const cell = findCell(filter, (head + i) % splits, start, signature, wide);
    if (cell != 0) return cell;
  }
  return 0;
}

/** The count kept in the splits before the head, nearest first; 0 when there is none. */
function countBackward(filter: usize, head: u32, start: u32, signature: u32, wide: bool): u32 {
  const splits = splitsOf(filter);
  const reach = min<u32>(atomic.load<u32>(filter, FILTER.headIncrement), load<u32>(filter, FILTER.backward));
  for (let i: u32 = 1; i <= reach; i++) {
    const cell = findCell(filter, (head + splits - i) % splits, start, signature, wide);
    if (cell == 0) continue;
    const value = readCell(cell, wide);
    if (value != 0 && value >> 4 == signature) return value & FILTER_COUNT_MAX;
  }
  return 0;
}

/** Counts a new element of the split `cell` is in, and moves on when the head is full. */
function countElement(filter: usize, cell: usize, head: u32): void {
  const split = <u32>((cell - <usize>load<u32>(filter, FILTER.cells)) / <usize>load<u32>(filter, FILTER.splitStride));
  const capacity = load<u32>(filter, FILTER.capacity);
  const elements = elementsAt(filter, split);
  if (atomic.load<u32>(elements) < capacity) atomic.add<u32>(elements, 1);
  const splits = splitsOf(filter);
  if (splits == 1 || atomic.load<u32>(elementsAt(filter, head)) + 1 < capacity) return;
  const next = (head + 1) % splits;
  if (atomic.cmpxchg<u32>(filter, head, next, FILTER.head) != head) return;
  atomic.add<u32>(filter, 1, FILTER.headIncrement);
  const wiped = (next + 1) % splits;
  const stride = <usize>load<u32>(filter, FILTER.splitStride);
  memory.fill(<usize>load<u32>(filter, FILTER.cells) + <usize>wiped * stride, 0, stride);
  atomic.store<u32>(elementsAt(filter, wiped), 0);
}

function get(filter: usize, id: u64): u32 {
  const wide = load<u32>(filter, FILTER.cellBytes) == 2;
  const signature = signatureOf(id, wide);
  const start = <u32>(mix64(id) % <u64>load<u32>(filter, FILTER.totalSize));
  const head = atomic.load<u32>(filter, FILTER.head);
  const cell = findForward(filter, head, start, signature, wide);
  if (cell == 0) return FILTER_COUNT_MAX;
  const value = readCell(cell, wide);
  return value == 0 ? countBackward(filter, head, start, signature, wide) : value & FILTER_COUNT_MAX;
}

function add(filter: usize, id: u64, count: u32): u32 {
  if (count == 0) return get(filter, id);
  const wide = load<u32>(filter, FILTER.cellBytes) == 2;
  const signature = signatureOf(id, wide);
  const start = <u32>(mix64(id) % <u64>load<u32>(filter, FILTER.totalSize));
  for (;;) {
    const head = atomic.load<u32>(filter, FILTER.head);
    const cell = findForward(filter, head, start, signature, wide);
    if (cell == 0) break;
    const value = readCell(cell, wide);
    if (value == 0) {
      const before = countBackward(filter, head, start, signature, wide);
      const after = min<u32>(before + min<u32>(count, FILTER_COUNT_MAX), FILTER_COUNT_MAX);
      if (!swapCell(cell, wide, 0, (signature << 4) + after)) continue;
      countElement(filter, cell, head);
      return before;
    }
    if (value >> 4 != signature) continue; // another thread took the cell since it was found
    const before = value & FILTER_COUNT_MAX;
    const after = min<u32>(before + min<u32>(count, FILTER_COUNT_MAX), FILTER_COUNT_MAX);
    if (after == before || swapCell(cell, wide, value, (signature << 4) + after)) return before;
  }
  atomic.add<u64>(filter, 1, FILTER.failureCount);
  return FILTER_COUNT_MAX;
}

@inline
function countAt(counts: usize, i: i32): u32 {
  return counts == 0 ? 1 : load<u32>(counts + (<usize>i << 2));
}

/**
 * out[i] = count of ids[i] before counts[i] (1 each without counts) were added; 15 also for an id that found no cell.
 */
export function filterAdd(filter: usize, ids: usize, counts: usize, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) {
    store<u32>(out + (<usize>i << 2), add(filter, load<u64>(ids + (<usize>i << 3)), countAt(counts, i)));
  }
}

/** out[i] = count of ids[i]. */
export function filterGet(filter: usize, ids: usize, n: i32, out: usize): void {
  for (let i = 0; i < n; i++) store<u32>(out + (<usize>i << 2), get(filter, load<u64>(ids + (<usize>i << 3))));
}

@inline
function featureSlotOf(id: u64): usize {
  return <usize>(id >> 48) & 0x7fff;
}

/**
 * out[i] = 1 when ids[i] is to be kept out, a byte each. `thresholds` has a u32 per feature slot; an id of one
 * without is neither kept out nor counted. Ids whose byte in `present` is not 0 are passed over; `present` may be 0.
 */
export function filterIds(
  filter: usize, ids: usize, counts: usize, n: i32, thresholds: usize, present: usize, out: usize,
): void {
  for (let i = 0; i < n; i++) {
    const id = load<u64>(ids + (<usize>i << 3));
    const threshold = load<u32>(thresholds + (featureSlotOf(id) << 2));
    const passes = threshold == 0 || (present != 0 && load<u8>(present + i) != 0);
    store<u8>(out + i, passes ? 0 : <u8>(add(filter, id, countAt(counts, i)) < threshold));
  }
}

/** Whether an id that has no row is to be kept out, as filterIds would say; nothing is counted. */
function keepsOut(filter: usize, thresholds: usize, id: u64): bool {
  const threshold = load<u32>(thresholds + (featureSlotOf(id) << 2));
  return threshold != 0 && get(filter, id) < threshold;
}

/** Counts `count` sightings of an id, unless its feature slot has no threshold. */
function countSighting(filter: usize, thresholds: usize, id: u64, count: u32): void {
  if (load<u32>(thresholds + (featureSlotOf(id) << 2)) != 0) add(filter, id, count);
}

/**
 * Asks for the ids of a slice that have no slot, by what is known before the step: counts[i] gets KEPT_OUT where ids[i]
 * is to stay out, and becomes 0 where it has a row. Nothing is counted, so slices may ask side by side and in any
 * order; an id of several slices gets one answer.
 */
export function filterAsk(filter: usize, thresholds: usize, ids: usize, n: u32, slots: usize, counts: usize): void {
  for (let i: u32 = 0; i < n; i++) {
    const at = counts + (<usize>i << 2);
    if (load<u32>(slots + (<usize>i << 2)) != 0) store<u32>(at, 0);
    else if (keepsOut(filter, thresholds, load<u64>(ids + (<usize>i << 3)))) store<u32>(at, load<u32>(at) | KEPT_OUT);
  }
}

/**
 * Counts the sightings of the ids that asked, slice by slice and in the order they came: a cell goes to who comes
 * first, so one caller does it for all partitions. `slices` are records of tableApply of a table with this many
 * partitions.
 */
export function filterCount(partitions: u32, filter: usize, thresholds: usize, slices: usize, sliceCount: u32): void {
  for (let s: u32 = 0; s < sliceCount; s++) {
    const slice = slices + <usize>s * APPLY_SLICE_BYTES;
    const ids = <usize>load<u32>(slice, APPLY_SLICE.ids);
    const counts = <usize>load<u32>(slice, APPLY_SLICE.counts);
    const n = load<u32>(<usize>load<u32>(slice, APPLY_SLICE.offsets) + (<usize>partitions << 2));
    for (let i: u32 = 0; i < n; i++) {
      const count = load<u32>(counts + (<usize>i << 2)) & ~KEPT_OUT;
      if (count != 0) countSighting(filter, thresholds, load<u64>(ids + (<usize>i << 3)), count);
    }
  }
}

/** Seeds the 16 bytes of a generator by two rounds of xorshift64*; a seed of 0 is not one. */
export function seedXorshift(generator: usize, seed: u64): void {
  let x = seed;
  for (let i: usize = 0; i < 16; i += 8) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    store<u64>(generator + i, x * 2685821657736338717);
  }
}

/** The low word of the next number of xorshift128+. */
export function nextXorshift(generator: usize): u32 {
  let x = load<u64>(generator);
  const y = load<u64>(generator, LONG);
  store<u64>(generator, y);
  x ^= x << 23;
  x = x ^ y ^ (x >> 17) ^ (y >> 26);
  store<u64>(generator, x, LONG);
  return <u32>(x + y);
}

/**
 * out[i] = 1 when ids[i], which `present` says the table lacks, is to be kept out by chance. Without `chances` an id
 * gets in with count / threshold; with them, an f32 per feature slot, with 1 - (1 - chance)^count. With a `present` of
 * 0 all get in.
 */
export function filterByChance(
  generator: usize, ids: usize, counts: usize, n: i32, thresholds: usize, chances: usize, present: usize, out: usize,
): void {
  for (let i = 0; i < n; i++) {
    const featureSlot = featureSlotOf(load<u64>(ids + (<usize>i << 3)));
    const threshold = load<u32>(thresholds + (featureSlot << 2));
    const count = countAt(counts, i);
    let admits = threshold == 0 || present == 0 || load<u8>(present + i) != 0;
    if (!admits) {
      const r = nextXorshift(generator);
      if (chances == 0) admits = <u64>r * <u64>threshold < <u64>4294967295 * <u64>count;
      else {
        const miss: f64 = 1 - <f64>load<f32>(chances + (featureSlot << 2));
        let all: f64 = 1;
        for (let k: u32 = 0; k < count && all > 0; k++) all *= miss;
        admits = <f64>r < <f64>4294967295 * (1 - all);
      }
    }
    store<u8>(out + i, admits ? 0 : 1);
  }
}
