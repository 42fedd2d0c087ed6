/** @file Admission filters that count: one split that fills up, or several of which the oldest is forgotten. */
import { MonolithError } from '../../base/errors.js';
import {
  cellCount,
  countingGeometry,
  FILTER,
  FILTER_ELEMENTS,
  type FilterGeometry,
  filterBytes,
  filterHeaderBytes,
  slidingGeometry,
  splitStrideBytes,
  writeFilterHeader,
} from '../../memory/filter-layout.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';
import {
  type AdmissionFilter,
  checkFilterOptions,
  type FilterMemory,
  type FilterQuestion,
  FilterScratch,
  putThresholds,
} from './filter-memory.js';

export const DEFAULT_FILTER_CAPACITY = 300_000_000;
export const DEFAULT_SPLIT_NUM = 7;

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
  readonly #scratch: FilterScratch;

  private constructor(handle: FilterHandle, memory: FilterMemory) {
    this.handle = handle;
    this.type = handle.geometry.splits === 1 ? 'hash_filter' : 'sliding_hash_filter';
    this.#memory = memory;
    this.#scratch = new FilterScratch(memory);
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
    checkFilterOptions('HashFilter.counting', options, ['capacity', 'fillRate', 'cellBits', 'thresholds']);
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
    checkFilterOptions('HashFilter.sliding', options, ['capacity', 'splitNum', 'thresholds']);
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

function checkCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new MonolithError('ML_FILTER_SIZE', { reason: `${what} is ${value}, not a whole number from 1` });
}
