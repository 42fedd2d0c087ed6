/**
 * @file Admission filters: whether an id that a table lacks has been seen often enough to get a row.
 *
 * Mirrors runtime/hash_filter. State is in shared memory (assembly/filter) and any thread may ask at any time; a filter
 * object is one thread's grip on it. Thresholds are by slot of the id, whose bits are always read as those of a v2 id.
 */
import { MonolithError } from '../../base/errors.js';
import type { Arena } from '../../memory/arena.js';
import {
  cellCount,
  countingGeometry,
  FEATURE_SLOTS,
  FILTER,
  FILTER_ELEMENTS,
  type FilterGeometry,
  filterBytes,
  filterHeaderBytes,
  slidingGeometry,
  splitStrideBytes,
  writeFilterHeader,
} from '../../memory/filter-layout.js';
import type { Views } from '../../memory/views.js';
import type { FilterKernels } from '../../runtime/backends/wasm/calls/filter.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';

export const DEFAULT_FILTER_CAPACITY = 300_000_000;
export const DEFAULT_SPLIT_NUM = 7;
const CHUNK = 1024;

export interface FilterMemory {
  readonly views: Views;
  readonly kernels: FilterKernels;
  /** Where state and scratch come from. */
  readonly arena: Arena;
}

export interface FilterQuestion {
  readonly ids: BigInt64Array;
  /** Sightings of each id; one each when left out. */
  readonly counts?: Uint32Array;
  /** Not 0 where the table has the id, which then passes and is not counted. Left out: there is no table. */
  readonly present?: Uint8Array;
}

export interface AdmissionFilter {
  readonly type: 'sliding_hash_filter' | 'hash_filter' | 'probabilistic_filter' | 'no_filter';
  /** 1 for each id that is to be kept out. */
  shouldFilter(question: FilterQuestion): Uint8Array;
}

/** Occurrence thresholds by slot. */
export function buildThresholds(config: SlotOccurrenceThresholdConfig = {}): Uint32Array {
  const thresholds = new Uint32Array(FEATURE_SLOTS).fill(config.defaultOccurrenceThreshold ?? 0);
  for (const { slot = 0, occurrenceThreshold = 0 } of config.slotOccurrenceThresholds ?? []) {
    if (!(Number.isInteger(slot) && slot >= 0 && slot < FEATURE_SLOTS))
      throw new MonolithError('ML_FID_SLOT', { limit: FEATURE_SLOTS, slot });
    thresholds[slot] = occurrenceThreshold;
  }
  return thresholds;
}

/** Whether any slot has a threshold above 0: else no filter is needed. */
export function needsFilter(config: SlotOccurrenceThresholdConfig): boolean {
  return buildThresholds(config).some((threshold) => threshold > 0);
}

/** Room for a chunk of a question: ids, counts, present bytes, answers. */
class Scratch {
  readonly ids: number;
  readonly counts: number;
  readonly present: number;
  readonly out: number;
  readonly #views: Views;

  constructor({ arena, views }: FilterMemory) {
    this.#views = views;
    this.ids = arena.alloc(CHUNK * 17, 'filter scratch');
    this.out = this.ids + CHUNK * 8;
    this.counts = this.out + CHUNK * 4;
    this.present = this.counts + CHUNK * 4;
  }

  /** Calls `body` for each chunk, with the addresses it needs; what has no values gets address 0. */
  each(
    { ids, counts, present }: FilterQuestion,
    body: (from: number, n: number, at: { counts: number; present: number }) => void,
  ): void {
    const { i64, u32, u8 } = this.#views;
    for (let from = 0; from < ids.length; from += CHUNK) {
      const n = Math.min(CHUNK, ids.length - from);
      i64.set(ids.subarray(from, from + n), this.ids / 8);
      if (counts !== undefined) u32.set(counts.subarray(from, from + n), this.counts / 4);
      if (present !== undefined) u8.set(present.subarray(from, from + n), this.present);
      body(from, n, {
        counts: counts === undefined ? 0 : this.counts,
        present: present === undefined ? 0 : this.present,
      });
    }
  }
}

/** Names a filter for other threads. */
export interface FilterHandle {
  readonly pointer: number;
  readonly geometry: FilterGeometry;
  readonly thresholds: number;
}

/** Counting filters: one split that fills up, or several of which the oldest is forgotten. */
export class HashFilter implements AdmissionFilter {
  readonly type: 'sliding_hash_filter' | 'hash_filter';
  readonly handle: FilterHandle;
  readonly #memory: FilterMemory;
  readonly #scratch: Scratch;

  private constructor(handle: FilterHandle, memory: FilterMemory) {
    this.handle = handle;
    this.type = handle.geometry.splits === 1 ? 'hash_filter' : 'sliding_hash_filter';
    this.#memory = memory;
    this.#scratch = new Scratch(memory);
  }

  /** One counting filter; cells of 16 bits, or of 8 for four times the errors at half the bytes. */
  static counting(
    options: FilterMemory & {
      readonly capacity: number;
      readonly fillRate?: number;
      readonly cellBits?: 8 | 16;
      readonly thresholds?: SlotOccurrenceThresholdConfig;
    },
  ): HashFilter {
    checkCount('capacity', options.capacity);
    const geometry = countingGeometry(options.capacity, options.fillRate, options.cellBits === 8 ? 1 : 2);
    return HashFilter.#make(geometry, options, options.thresholds);
  }

  static sliding(
    options: FilterMemory & {
      readonly capacity?: number;
      readonly splitNum?: number;
      readonly thresholds?: SlotOccurrenceThresholdConfig;
    },
  ): HashFilter {
    const { capacity = DEFAULT_FILTER_CAPACITY, splitNum = DEFAULT_SPLIT_NUM } = options;
    checkCount('capacity', capacity);
    checkCount('splitNum', splitNum);
    return HashFilter.#make(slidingGeometry(capacity, splitNum), options, options.thresholds);
  }

  /** The filter another thread made, in the same memory. */
  static attach(handle: FilterHandle, memory: FilterMemory): HashFilter {
    return new HashFilter(handle, memory);
  }

  static #make(geometry: FilterGeometry, memory: FilterMemory, config?: SlotOccurrenceThresholdConfig): HashFilter {
    const { arena, views } = memory;
    const thresholds = putThresholds(memory, config);
    const pointer = arena.alloc(filterBytes(geometry), 'admission filter');
    views.u8.fill(0, pointer, pointer + filterBytes(geometry));
    writeFilterHeader(views.u32, pointer, geometry);
    return new HashFilter({ pointer, geometry, thresholds }, memory);
  }

  /** The memory the filter is in. */
  get buffer(): SharedArrayBuffer {
    return this.#memory.views.buffer;
  }

  get geometry(): FilterGeometry {
    return this.handle.geometry;
  }

  word(name: keyof typeof FILTER): number {
    return this.#memory.views.u32[this.handle.pointer / 4 + FILTER[name]]!;
  }

  setWord(name: keyof typeof FILTER, value: number): void {
    this.#memory.views.u32[this.handle.pointer / 4 + FILTER[name]] = value;
  }

  /** How often an id found no cell. */
  get failureCount(): bigint {
    return this.#memory.views.i64[this.handle.pointer / 8 + FILTER.failureCount / 2]!;
  }

  set failureCount(value: bigint) {
    this.#memory.views.i64[this.handle.pointer / 8 + FILTER.failureCount / 2] = value;
  }

  /** Elements of each split: live numbers, writable. */
  get splitElements(): Uint32Array {
    const at = this.handle.pointer / 4 + FILTER_ELEMENTS;
    return this.#memory.views.u32.subarray(at, at + this.geometry.splits);
  }

  /** Elements over all splits. */
  get elementCount(): number {
    return this.splitElements.reduce((sum, count) => sum + count, 0);
  }

  /** Cells of a split in place. */
  cells(split: number): Uint16Array | Uint8Array {
    const { geometry, pointer } = this.handle;
    const at = pointer + filterHeaderBytes(geometry) + split * splitStrideBytes(geometry);
    const { buffer } = this.#memory.views;
    const count = cellCount(geometry);
    return geometry.cellBytes === 2 ? new Uint16Array(buffer, at, count) : new Uint8Array(buffer, at, count);
  }

  /** Counts sightings; the result is the count of each id before them. */
  add(ids: BigInt64Array, counts?: Uint32Array): Uint32Array {
    const { kernels, views } = this.#memory;
    const { pointer } = this.handle;
    const result = new Uint32Array(ids.length);
    const scratch = this.#scratch;
    scratch.each(counts === undefined ? { ids } : { ids, counts }, (from, n, at) => {
      kernels.filterAdd(pointer, scratch.ids, at.counts, n, scratch.out);
      result.set(views.u32.subarray(scratch.out / 4, scratch.out / 4 + n), from);
    });
    return result;
  }

  get(ids: BigInt64Array): Uint32Array {
    const { kernels, views } = this.#memory;
    const result = new Uint32Array(ids.length);
    const scratch = this.#scratch;
    scratch.each({ ids }, (from, n) => {
      kernels.filterGet(this.handle.pointer, scratch.ids, n, scratch.out);
      result.set(views.u32.subarray(scratch.out / 4, scratch.out / 4 + n), from);
    });
    return result;
  }

  shouldFilter(question: FilterQuestion): Uint8Array {
    const { kernels, views } = this.#memory;
    const { pointer, thresholds } = this.handle;
    const result = new Uint8Array(question.ids.length);
    const scratch = this.#scratch;
    scratch.each(question, (from, n, at) => {
      kernels.filterIds(pointer, scratch.ids, at.counts, n, thresholds, at.present, scratch.out);
      result.set(views.u8.subarray(scratch.out, scratch.out + n), from);
    });
    return result;
  }
}

/** Lets an id in by chance, so that it needs no memory: the more often it comes, the sooner it is in. */
export class ProbabilisticFilter implements AdmissionFilter {
  readonly type = 'probabilistic_filter';
  readonly #memory: FilterMemory;
  readonly #scratch: Scratch;
  readonly #thresholds: number;
  readonly #chances: number;
  readonly #generator: number;

  /**
   * With `equalProbability` every sighting has the same chance, and an id is in with 95% after its threshold of them.
   */
  constructor(
    options: FilterMemory & {
      readonly thresholds?: SlotOccurrenceThresholdConfig;
      readonly equalProbability?: boolean;
      /** Of this thread's generator; the clock when left out, as upstream. */
      readonly seed?: bigint;
    },
  ) {
    this.#memory = options;
    const { arena, views, kernels } = options;
    this.#scratch = new Scratch(options);
    this.#thresholds = putThresholds(options, options.thresholds);
    this.#generator = arena.alloc(16, 'filter generator');
    kernels.seedXorshift(this.#generator, (options.seed ?? process.hrtime.bigint()) | 1n);
    this.#chances = 0;
    if (options.equalProbability === true) {
      this.#chances = arena.alloc(FEATURE_SLOTS * 4, 'filter chances');
      const thresholds = views.u32.subarray(this.#thresholds / 4, this.#thresholds / 4 + FEATURE_SLOTS);
      const chances = Float32Array.from(thresholds, (threshold) => 1 - 0.05 ** (1 / threshold));
      views.f32.set(chances, this.#chances / 4);
    }
  }

  /** Without `present` there is no table and nothing is kept out. */
  shouldFilter(question: FilterQuestion): Uint8Array {
    const { kernels, views } = this.#memory;
    const result = new Uint8Array(question.ids.length);
    const scratch = this.#scratch;
    scratch.each(question, (from, n, at) => {
      const { ids, out } = scratch;
      kernels.filterByChance(this.#generator, ids, at.counts, n, this.#thresholds, this.#chances, at.present, out);
      result.set(views.u8.subarray(out, out + n), from);
    });
    return result;
  }
}

/** Lets everything in. */
export class DummyFilter implements AdmissionFilter {
  readonly type = 'no_filter';

  shouldFilter({ ids }: FilterQuestion): Uint8Array {
    return new Uint8Array(ids.length);
  }
}

export interface CreateFilterOptions extends FilterMemory {
  readonly type: string;
  readonly capacity?: number;
  readonly splitNum?: number;
  readonly thresholds?: SlotOccurrenceThresholdConfig;
  readonly equalProbability?: boolean;
  readonly seed?: bigint;
}

/** The filter of a config, by upstream's names of the types. */
export function createFilter(options: CreateFilterOptions): AdmissionFilter {
  switch (options.type) {
    case 'sliding_hash_filter':
      return HashFilter.sliding(options);
    case 'probabilistic_filter':
      return new ProbabilisticFilter(options);
    case 'no_filter':
      return new DummyFilter();
    default:
      throw new MonolithError('ML_FILTER_TYPE', { type: options.type });
  }
}

/** Backward of the interception op: rows of ids that are kept out become zero. Forward is the identity. */
export function interceptGradient(
  filter: AdmissionFilter,
  ids: BigInt64Array,
  gradient: Float32Array,
  dim: number,
): void {
  filter.shouldFilter({ ids }).forEach((kept, row) => {
    if (kept !== 0) gradient.fill(0, row * dim, (row + 1) * dim);
  });
}

function putThresholds({ arena, views }: FilterMemory, config?: SlotOccurrenceThresholdConfig): number {
  const at = arena.alloc(FEATURE_SLOTS * 4, 'filter thresholds');
  views.u32.set(buildThresholds(config), at / 4);
  return at;
}

function checkCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new MonolithError('ML_FILTER_SIZE', { reason: `${what} is ${value}, not a whole number from 1` });
}
