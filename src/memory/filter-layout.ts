/**
 * @file Layout of an admission filter in shared memory, at a multiple of 64. Words are u32 from the start.
 *
 * A cell holds (signature << 4) + count; 0 is empty and the count stops at FILTER_COUNT_MAX.
 */
export const FILTER = {
  splits: 0,
  forward: 1,
  backward: 2,
  steps: 3,
  head: 4,
  headIncrement: 5,
  totalSize: 6,
  capacity: 7,
  cellBytes: 8,
  splitStride: 9,
  cells: 10,
  /** Two words, an i64. */
  failureCount: 12,
} as const;
export const FILTER_COUNT_MAX = 15;
/** Where the numbers of elements begin, one word per split. */
export const FILTER_ELEMENTS = 16;

/** Cells beyond the hashed ones, so that probing never wraps. */
export const FILTER_SLACK_CELLS = 64;
/** Feature slots that ids can be of. */
export const FEATURE_SLOTS = 32768;

export interface FilterGeometry {
  readonly splits: number;
  readonly forward: number;
  readonly backward: number;
  readonly steps: number;
  /** Elements a split is made for. */
  readonly capacity: number;
  /** Cells that ids hash to. */
  readonly totalSize: number;
  readonly fillRate: number;
  readonly cellBytes: 1 | 2;
}

export function countingGeometry(capacity: number, fillRate = 1.5, cellBytes: 1 | 2 = 2): FilterGeometry {
  const totalSize = Math.max(1, Math.trunc(capacity * fillRate));
  return { splits: 1, forward: 1, backward: 0, steps: 64, capacity, totalSize, fillRate, cellBytes };
}

/** A sliding filter has at least 300 elements in at least 5 splits; one split is always the one being wiped. */
export function slidingGeometry(capacity: number, splitNum: number): FilterGeometry {
  const splits = Math.max(5, splitNum);
  const perSplit = Math.max(1, Math.floor(Math.max(300, capacity) / (splits - 1)));
  return { ...countingGeometry(perSplit, 1.2), splits, forward: 2, backward: splits - 2, steps: 16 };
}

export function cellCount(geometry: FilterGeometry): number {
  return geometry.totalSize + FILTER_SLACK_CELLS;
}

const roundUp = (bytes: number): number => Math.ceil(bytes / 64) * 64;

export function filterHeaderBytes(geometry: FilterGeometry): number {
  return roundUp((FILTER_ELEMENTS + geometry.splits) * 4);
}

export function splitStrideBytes(geometry: FilterGeometry): number {
  return roundUp(cellCount(geometry) * geometry.cellBytes);
}

export function filterBytes(geometry: FilterGeometry): number {
  return filterHeaderBytes(geometry) + geometry.splits * splitStrideBytes(geometry);
}

/** Writes the header of an empty filter at `at`; its cells must be zero. */
export function writeFilterHeader(words: Uint32Array, at: number, geometry: FilterGeometry): void {
  const header = words.subarray(at / 4, at / 4 + FILTER_ELEMENTS + geometry.splits).fill(0);
  header[FILTER.splits] = geometry.splits;
  header[FILTER.forward] = geometry.forward;
  header[FILTER.backward] = geometry.backward;
  header[FILTER.steps] = geometry.steps;
  header[FILTER.totalSize] = geometry.totalSize;
  header[FILTER.capacity] = geometry.capacity;
  header[FILTER.cellBytes] = geometry.cellBytes;
  header[FILTER.splitStride] = splitStrideBytes(geometry);
  header[FILTER.cells] = at + filterHeaderBytes(geometry);
}

/** In a word of the counts of a step: the id is to be kept out. */
export const KEPT_OUT = 0x80000000;
