/**
 * @file What sets of touched ids and sets of touched pairs share: one thread's grip on a set in shared memory.
 *
 * The set itself is assembly/touched. Ids from outside its memory go through a lane of the set, a lane's worth at a
 * time.
 */

import { checkKeys } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { WasmMemory } from '../../base/wasm-types.js';
import { Arena, CACHE_LINE } from '../../memory/arena.js';
import { type Ids, idsOf, type Refuse } from '../../memory/given-arrays.js';
import { touchedGeometry } from '../../memory/touched-geometry.js';
import { LANE_KEY_COUNT, LANE_KEYS, LANE_SCRATCH, type TOUCHED_SLOT_BYTES } from '../../memory/touched-layout.js';
import { view } from '../../memory/views.js';
import type { TouchedKernels } from '../../runtime/backends/wasm/calls/touched.js';

export const SHARED_NAME = 'MonolithTouchedKeySet';
/** 64 MiB at 32 bytes a key. */
export const DEFAULT_CAPACITY = 2097152;
export const DEFAULT_CONCURRENCY_LEVEL = 1024;
/** Slots of a larger set would not fit a memory of 4 GiB. */
const CAPACITY_MAX = 100_000_000;
const CONCURRENCY_MAX = 65536;
const LOCK_LIMIT_MS = 30_000;

/** The options, and what else `TableMemory.region` gives for them. */
const KNOWN = ['memory', 'kernels', 'arena', 'views', 'capacity', 'concurrencyLevel', 'nameSuffix'];

/** What every thread needs to reach the memory a set lives in. */
export interface TouchedKeyMemory {
  readonly memory: WasmMemory;
  /** An instance over that memory. */
  readonly kernels: TouchedKernels;
}

export interface TouchedKeySetOptions extends TouchedKeyMemory {
  /** Where the set's memory comes from. It is reserved here and first written by the first insert. */
  readonly arena: Arena;
  readonly capacity?: number;
  readonly concurrencyLevel?: number;
  readonly nameSuffix?: string;
}

/** Names a set for other threads; survives `postMessage`. */
export interface TouchedKeySetHandle {
  readonly pointer: number;
  readonly capacity: number;
  readonly concurrencyLevel: number;
  readonly sharedName: string;
  readonly keys: keyof typeof TOUCHED_SLOT_BYTES;
}

/** `keys` says what the set holds; a handle of one kind is no handle of the other. */
export abstract class TouchedSet {
  readonly handle: TouchedKeySetHandle;
  protected readonly memory: WasmMemory;
  protected readonly kernels: TouchedKernels;

  constructor(
    options: TouchedKeySetOptions | (TouchedKeyMemory & { readonly handle: TouchedKeySetHandle }),
    keys: keyof typeof TOUCHED_SLOT_BYTES,
  ) {
    this.memory = options.memory;
    this.kernels = options.kernels;
    if (this.memory === undefined || this.kernels === undefined) throw withoutMemory();
    this.handle = 'handle' in options ? options.handle : create(options, keys);
    const { pointer, capacity, sharedName } = this.handle;
    const here = pointer < this.memory.buffer.byteLength && this.kernels.capacityOfTouchedKeys(pointer) === capacity;
    if (here && this.handle.keys === keys) return;
    const reason = here ? `the handle is of a set of ${this.handle.keys} keys` : 'the handle is of another memory';
    throw new MonolithError('ML_TOUCHED_SIZE', { name: sharedName, reason });
  }

  /** The memory the set is in. */
  get buffer(): SharedArrayBuffer {
    return this.memory.buffer;
  }

  get capacity(): number {
    return this.handle.capacity;
  }

  get concurrencyLevel(): number {
    return this.handle.concurrencyLevel;
  }

  get sharedName(): string {
    return this.handle.sharedName;
  }

  /** Keys in the set; exact while no thread inserts. */
  get size(): number {
    return this.kernels.countTouchedKeys(this.handle.pointer) >>> 0;
  }

  /** How often an insert found the set full and emptied it. */
  get clearCount(): number {
    return this.kernels.countTouchedClears(this.handle.pointer) >>> 0;
  }

  /** Calls `insert` for all ids, in row-major order; returns how many keys were dropped by clears on the way. */
  protected insertBy(ids: Ids, insert: (pointer: number, count: number, scratch: number) => number): number {
    const flat = idsOf(ids, idError);
    const lane = this.kernels.acquireTouchedLane(this.handle.pointer) >>> 0;
    if (lane === 0) throw this.#lost();
    const insertAt = (pointer: number, count: number): number => {
      const dropped = insert(pointer, count, lane + LANE_SCRATCH);
      if (dropped < 0) throw this.#lost();
      return dropped;
    };
    try {
      if (flat.buffer === this.memory.buffer) return insertAt(flat.byteOffset, flat.length);
      const room = view(BigInt64Array, this.memory.buffer, lane + LANE_KEYS, LANE_KEY_COUNT, this.sharedName);
      let dropped = 0;
      for (let from = 0; from < flat.length; from += LANE_KEY_COUNT) {
        const part = flat.subarray(from, from + LANE_KEY_COUNT);
        room.set(part);
        dropped += insertAt(lane + LANE_KEYS, part.length);
      }
      return dropped;
    } finally {
      this.kernels.releaseTouchedLane(lane);
    }
  }

  /**
   * Begins a steal, reads what it packed (never called for none) and ends it. Inserts of other threads wait meanwhile.
   */
  protected stealBy<T>(
    begin: (set: number) => number,
    end: (set: number) => void,
    none: T,
    read: (at: number, count: number) => T,
  ): T {
    const { pointer } = this.handle;
    const count = begin(pointer);
    if (count < 0) throw this.#lost();
    if (count === 0) return none;
    try {
      return read(this.kernels.stolenTouchedKeys(pointer) >>> 0, count);
    } finally {
      end(pointer);
    }
  }

  #lost(): MonolithError {
    return new MonolithError(
      'ML_TIMEOUT',
      { what: `lock of ${this.sharedName}`, timeoutMs: LOCK_LIMIT_MS },
      { hint: 'a thread died while it held the set; restart the session' },
    );
  }
}

function create(options: TouchedKeySetOptions, keys: keyof typeof TOUCHED_SLOT_BYTES): TouchedKeySetHandle {
  checkKeys('TouchedKeySet', options, KNOWN);
  const { arena, kernels } = options;
  if (!(arena instanceof Arena)) throw withoutMemory();
  const { capacity = DEFAULT_CAPACITY, concurrencyLevel = DEFAULT_CONCURRENCY_LEVEL, nameSuffix = '' } = options;
  const sharedName = SHARED_NAME + nameSuffix;
  checkCount(sharedName, 'capacity', capacity, CAPACITY_MAX);
  checkCount(sharedName, 'concurrencyLevel', concurrencyLevel, CONCURRENCY_MAX);
  const g = touchedGeometry(capacity, concurrencyLevel, undefined, keys);
  const pointer = arena.alloc(g.bytes, sharedName, CACHE_LINE);
  const make = keys === 'id' ? kernels.createTouchedKeys : kernels.createTouchedPairs;
  make(pointer, capacity, g.buckets, g.locks, g.overflowSlots, g.laneCount);
  return { pointer, capacity, concurrencyLevel, sharedName, keys };
}

function withoutMemory(): MonolithError {
  const reason = 'it has no memory to be in';
  const hint = 'give what TableMemory.region or sessionRegion gives: { ...sessionRegion(session), capacity }';
  return new MonolithError('ML_OPTION', { where: 'TouchedKeySet', option: 'arena', reason }, { hint });
}

function checkCount(name: string, what: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw new MonolithError('ML_TOUCHED_SIZE', {
    name,
    reason: `${what} is ${value}, not a whole number from 1 to ${max}`,
  });
}

const idError: Refuse = (reason, hint = 'give a bigint, a BigInt64Array, or lists of them') =>
  new MonolithError('ML_ID_TYPE', { what: SHARED_NAME, reason }, { hint });
