/** @file Admission filters in plain TypeScript, for one thread. */

import { FILTER, FILTER_COUNT_MAX, FILTER_ELEMENTS, KEPT_OUT } from '../../../memory/filter-layout.js';
import { mix64BigInt } from '../../../memory/hash.js';
import { APPLY_SLICE, APPLY_SLICE_BYTES } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { twin } from './twin.js';

/** One id's way through a filter. */
class Visit {
  readonly m: Views;
  readonly filter: number;
  readonly start: number;
  readonly signature: number;

  constructor(m: Views, filter: number, id: bigint) {
    this.m = m;
    this.filter = filter;
    const bits = this.word('cellBytes') === 2 ? 0xfffn : 0xfn;
    this.signature = Number((BigInt.asUintN(64, id) >> 17n) & bits);
    this.start = Number(mix64BigInt(id) % BigInt(this.word('totalSize')));
  }

  word(name: keyof typeof FILTER): number {
    return this.m.u32[(this.filter >>> 2) + FILTER[name]]!;
  }

  set(name: keyof typeof FILTER, value: number): void {
    this.m.u32[(this.filter >>> 2) + FILTER[name]] = value;
  }

  elements(split: number): number {
    return (this.filter >>> 2) + FILTER_ELEMENTS + split;
  }

  cellsOf(split: number): number {
    return this.word('cells') + split * this.word('splitStride');
  }

  read(cell: number): number {
    return this.m.u8[cell]! + (this.word('cellBytes') === 2 ? this.m.u8[cell + 1]! * 256 : 0);
  }

  write(cell: number, count: number): void {
    const value = this.signature * 16 + count;
    this.m.u8[cell] = value;
    if (this.word('cellBytes') === 2) this.m.u8[cell + 1] = value >>> 8;
  }

  /** Address of the first cell that is empty or of this signature. */
  find(split: number): number | null {
    for (let i = 0; i < this.word('steps'); i++) {
      const cell = this.cellsOf(split) + (this.start + i) * this.word('cellBytes');
      const value = this.read(cell);
      if (value === 0 || value >>> 4 === this.signature) return cell;
    }
    return null;
  }

  /** The first split from the head on that offers a cell. */
  forward(): { split: number; cell: number } | null {
    for (let i = 0; i < this.word('forward'); i++) {
      const split = (this.word('head') + i) % this.word('splits');
      const cell = this.find(split);
      if (cell !== null) return { split, cell };
    }
    return null;
  }

  backward(): number {
    const splits = this.word('splits');
    for (let i = 1; i <= Math.min(this.word('headIncrement'), this.word('backward')); i++) {
      const cell = this.find((this.word('head') + splits - i) % splits);
      if (cell !== null && this.read(cell) !== 0) return this.read(cell) & FILTER_COUNT_MAX;
    }
    return 0;
  }

  add(count: number): number {
    if (count === 0) return this.get();
    const found = this.forward();
    if (found === null) {
      this.m.i64[(this.filter >>> 3) + FILTER.failureCount / 2]!++;
      return FILTER_COUNT_MAX;
    }
    const isNew = this.read(found.cell) === 0;
    const before = isNew ? this.backward() : this.read(found.cell) & FILTER_COUNT_MAX;
    this.write(found.cell, Math.min(before + count, FILTER_COUNT_MAX));
    if (isNew) this.countElement(found.split);
    return before;
  }

  countElement(split: number): void {
    const { u32, u8 } = this.m;
    const capacity = this.word('capacity');
    u32[this.elements(split)] = Math.min(u32[this.elements(split)]! + 1, capacity);
    const splits = this.word('splits');
    const head = this.word('head');
    if (splits === 1 || u32[this.elements(head)]! < capacity - 1) return;
    this.set('head', (head + 1) % splits);
    this.set('headIncrement', this.word('headIncrement') + 1);
    const wiped = (head + 2) % splits;
    u8.fill(0, this.cellsOf(wiped), this.cellsOf(wiped) + this.word('splitStride'));
    u32[this.elements(wiped)] = 0;
  }

  get(): number {
    const found = this.forward();
    if (found === null) return FILTER_COUNT_MAX;
    const value = this.read(found.cell);
    return value === 0 ? this.backward() : value & FILTER_COUNT_MAX;
  }
}

const countAt = (m: Views, counts: number, i: number): number => (counts === 0 ? 1 : m.u32[(counts >>> 2) + i]!);
const featureSlotOf = (id: bigint): number => Number((id >> 48n) & 0x7fffn);

export function filterAdd(m: Views, filter: number, ids: number, counts: number, n: number, out: number): void {
  for (let i = 0; i < n; i++) {
    m.u32[(out >>> 2) + i] = new Visit(m, filter, m.i64[(ids >>> 3) + i]!).add(countAt(m, counts, i));
  }
}

export function filterGet(m: Views, filter: number, ids: number, n: number, out: number): void {
  for (let i = 0; i < n; i++) m.u32[(out >>> 2) + i] = new Visit(m, filter, m.i64[(ids >>> 3) + i]!).get();
}

export function filterIds(
  m: Views,
  filter: number,
  ids: number,
  counts: number,
  n: number,
  thresholds: number,
  present: number,
  out: number,
): void {
  for (let i = 0; i < n; i++) {
    const id = m.i64[(ids >>> 3) + i]!;
    const threshold = m.u32[(thresholds >>> 2) + featureSlotOf(id)]!;
    const passes = threshold === 0 || (present !== 0 && m.u8[present + i] !== 0);
    m.u8[out + i] = passes || new Visit(m, filter, id).add(countAt(m, counts, i)) >= threshold ? 0 : 1;
  }
}

const thresholdOf = (m: Views, thresholds: number, id: bigint): number =>
  m.u32[(thresholds >>> 2) + featureSlotOf(id)]!;

function keepsOut(m: Views, filter: number, thresholds: number, id: bigint): boolean {
  const threshold = thresholdOf(m, thresholds, id);
  return threshold !== 0 && new Visit(m, filter, id).get() < threshold;
}

function countSighting(m: Views, filter: number, thresholds: number, id: bigint, count: number): void {
  if (thresholdOf(m, thresholds, id) !== 0) new Visit(m, filter, id).add(count);
}

export const filterAsk = twin(KERNEL.filterAsk, (m, { filter, thresholds, ids, n, slots, counts }) => {
  for (let i = 0; i < n; i++) {
    const at = (counts >>> 2) + i;
    if (m.u32[(slots >>> 2) + i] !== 0) m.u32[at] = 0;
    else if (keepsOut(m, filter, thresholds, m.i64[(ids >>> 3) + i]!)) m.u32[at]! |= KEPT_OUT;
  }
});

export const filterCount = twin(KERNEL.filterCount, (m, { partitions, filter, thresholds, slices, sliceCount }) => {
  for (let s = 0; s < sliceCount; s++) {
    const word = (name: keyof typeof APPLY_SLICE) => m.u32[(slices + s * APPLY_SLICE_BYTES) / 4 + APPLY_SLICE[name]]!;
    const n = m.u32[word('offsets') / 4 + partitions]!;
    for (let i = 0; i < n; i++) {
      const count = m.u32[word('counts') / 4 + i]! & ~KEPT_OUT;
      if (count !== 0) countSighting(m, filter, thresholds, m.i64[word('ids') / 8 + i]!, count);
    }
  }
});

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);

export function seedXorshift(m: Views, generator: number, seed: bigint): void {
  let x = u64(seed);
  for (let i = 0; i < 2; i++) {
    x ^= x >> 12n;
    x ^= u64(x << 25n);
    x ^= x >> 27n;
    m.u64[(generator >>> 3) + i] = x * 2685821657736338717n;
  }
}

export function nextXorshift(m: Views, generator: number): number {
  const at = generator >>> 3;
  const [first, y] = [m.u64[at]!, m.u64[at + 1]!];
  const x = first ^ u64(first << 23n);
  const next = x ^ y ^ (x >> 17n) ^ (y >> 26n);
  m.u64[at] = y;
  m.u64[at + 1] = next;
  // Signed, as a kernel's result arrives.
  return Number(BigInt.asIntN(32, next + y));
}

export function filterByChance(
  m: Views,
  generator: number,
  ids: number,
  counts: number,
  n: number,
  thresholds: number,
  chances: number,
  present: number,
  out: number,
): void {
  for (let i = 0; i < n; i++) {
    const featureSlot = featureSlotOf(m.i64[(ids >>> 3) + i]!);
    const threshold = m.u32[(thresholds >>> 2) + featureSlot]!;
    const count = countAt(m, counts, i);
    let admits = threshold === 0 || present === 0 || m.u8[present + i] !== 0;
    if (!admits) {
      const r = nextXorshift(m, generator) >>> 0;
      if (chances === 0) admits = BigInt(r) * BigInt(threshold) < 4294967295n * BigInt(count);
      else {
        let all = 1;
        for (let k = 0; k < count && all > 0; k++) all *= 1 - m.f32[(chances >>> 2) + featureSlot]!;
        admits = r < 4294967295 * (1 - all);
      }
    }
    m.u8[out + i] = admits ? 0 : 1;
  }
}
