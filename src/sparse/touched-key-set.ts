/**
 * @file Bounded set of the ids touched since the last drain, shared by all threads of a session.
 *
 * Mirrors native_training/touched_key_set_ops. The set itself is in shared memory (assembly/touched); this class is one
 * thread's grip on it. A set that runs over its capacity is emptied, and the insert that emptied it says how many ids
 * were dropped. The shared name is for whoever keeps sets by name; two objects never merge because their names agree.
 */
import { MonolithError } from '../base/errors.js';
import { type Arena, CACHE_LINE } from '../memory/arena.js';
import { view } from '../memory/views.js';
import { LANE_KEY_COUNT, LANE_KEYS, LANE_SCRATCH, touchedGeometry } from '../runtime/touched-geometry.js';
import type { TouchedKernels } from '../runtime/wasm/touched.js';

export const SHARED_NAME = 'MonolithTouchedKeySet';
/** 64 MiB at 32 bytes a key. */
export const DEFAULT_CAPACITY = 2097152;
export const DEFAULT_CONCURRENCY_LEVEL = 1024;
/** Slots of a larger set would not fit a memory of 4 GiB. */
const CAPACITY_MAX = 100_000_000;
const CONCURRENCY_MAX = 65536;
const LOCK_LIMIT_MS = 30_000;

/** One id, an array of ids, or nested arrays of them; taken in row-major order. */
export type Ids = bigint | BigInt64Array | BigUint64Array | readonly Ids[];

/** What every thread needs to reach the memory a set lives in. */
export interface TouchedKeyMemory {
  readonly memory: WebAssembly.Memory;
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
}

/**
 * ```ts
 * const touched = new TouchedKeySet({ memory, kernels, arena, capacity: 1000, concurrencyLevel: 1 });
 * touched.insert([1n, 2n, 2n]); // 0: nothing was dropped
 * touched.steal(); // BigInt64Array [1n, 2n], in any order
 * ```
 */
export class TouchedKeySet {
  readonly handle: TouchedKeySetHandle;
  readonly #memory: WebAssembly.Memory;
  readonly #kernels: TouchedKernels;

  constructor(options: TouchedKeySetOptions | (TouchedKeyMemory & { readonly handle: TouchedKeySetHandle })) {
    this.#memory = options.memory;
    this.#kernels = options.kernels;
    this.handle = 'handle' in options ? options.handle : create(options);
  }

  /** The set another thread made, by its handle. `memory` must be the memory it was made in. */
  static attach(handle: TouchedKeySetHandle, { memory, kernels }: TouchedKeyMemory): TouchedKeySet {
    if (
      handle.pointer >= memory.buffer.byteLength ||
      kernels.capacityOfTouchedKeys(handle.pointer) !== handle.capacity
    ) {
      throw new MonolithError('ML_TOUCHED_SIZE', {
        name: handle.sharedName,
        reason: 'the handle is of another memory',
      });
    }
    return new TouchedKeySet({ memory, kernels, handle });
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

  /** Ids in the set; exact while no thread inserts. */
  get size(): number {
    return this.#kernels.countTouchedKeys(this.handle.pointer) >>> 0;
  }

  /** How often an insert found the set full and emptied it. */
  get clearCount(): number {
    return this.#kernels.countTouchedClears(this.handle.pointer) >>> 0;
  }

  /** Inserts `ids` in row-major order; returns how many ids were dropped by clears on the way. */
  insert(ids: Ids): number {
    const flat = flatten(ids);
    const lane = this.#kernels.acquireTouchedLane(this.handle.pointer) >>> 0;
    if (lane === 0) throw this.#lost();
    try {
      return flat.buffer === this.#memory.buffer
        ? this.#insertAt(flat.byteOffset, flat.length, lane)
        : this.#insertCopied(flat, lane);
    } finally {
      this.#kernels.releaseTouchedLane(lane);
    }
  }

  /** Removes all ids and returns them, in no particular order. Inserts of other threads wait meanwhile. */
  steal(): BigInt64Array {
    const { pointer } = this.handle;
    const count = this.#kernels.beginSteal(pointer);
    if (count < 0) throw this.#lost();
    if (count === 0) return new BigInt64Array(0);
    try {
      const keys = new BigInt64Array(count);
      const at = this.#kernels.stolenTouchedKeys(pointer) >>> 0;
      keys.set(view(BigInt64Array, this.#memory.buffer, at, count, this.sharedName));
      return keys;
    } finally {
      this.#kernels.endSteal(pointer);
    }
  }

  /** Ids from outside the shared memory go through the lane, a lane's worth at a time. */
  #insertCopied(ids: BigInt64Array, lane: number): number {
    const room = view(BigInt64Array, this.#memory.buffer, lane + LANE_KEYS, LANE_KEY_COUNT, this.sharedName);
    let dropped = 0;
    for (let from = 0; from < ids.length; from += LANE_KEY_COUNT) {
      const part = ids.subarray(from, from + LANE_KEY_COUNT);
      room.set(part);
      dropped += this.#insertAt(lane + LANE_KEYS, part.length, lane);
    }
    return dropped;
  }

  #insertAt(pointer: number, count: number, lane: number): number {
    const dropped = this.#kernels.insertTouchedKeys(this.handle.pointer, pointer, count, lane + LANE_SCRATCH);
    if (dropped < 0) throw this.#lost();
    return dropped;
  }

  #lost(): MonolithError {
    return new MonolithError(
      'ML_TIMEOUT',
      { what: `lock of ${this.sharedName}`, timeoutMs: LOCK_LIMIT_MS },
      { hint: 'a thread died while it held the set; restart the session' },
    );
  }
}

function create(options: TouchedKeySetOptions): TouchedKeySetHandle {
  const { arena, kernels } = options;
  const { capacity = DEFAULT_CAPACITY, concurrencyLevel = DEFAULT_CONCURRENCY_LEVEL, nameSuffix = '' } = options;
  const sharedName = SHARED_NAME + nameSuffix;
  checkCount(sharedName, 'capacity', capacity, CAPACITY_MAX);
  checkCount(sharedName, 'concurrencyLevel', concurrencyLevel, CONCURRENCY_MAX);
  const g = touchedGeometry(capacity, concurrencyLevel);
  const pointer = arena.alloc(g.bytes, sharedName, CACHE_LINE);
  kernels.createTouchedKeys(pointer, capacity, g.buckets, g.locks, g.overflowSlots, g.laneCount);
  return { pointer, capacity, concurrencyLevel, sharedName };
}

function checkCount(name: string, what: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw new MonolithError('ML_TOUCHED_SIZE', {
    name,
    reason: `${what} is ${value}, not a whole number from 1 to ${max}`,
  });
}

/** The ids as one array; what is an array already is not copied. */
function flatten(ids: Ids): BigInt64Array {
  if (ids instanceof BigInt64Array) return ids;
  if (ids instanceof BigUint64Array) return new BigInt64Array(ids.buffer, ids.byteOffset, ids.length);
  const flat: bigint[] = [];
  collect(ids, flat);
  return BigInt64Array.from(flat);
}

function collect(ids: unknown, into: bigint[]): void {
  if (typeof ids === 'bigint') {
    // An id is a pattern of 64 bits; either reading of the top bit is welcome.
    if (BigInt.asIntN(64, ids) !== ids && BigInt.asUintN(64, ids) !== ids)
      throw idError(`${ids} has more than 64 bits`);
    into.push(ids);
  } else if (ids instanceof BigInt64Array || ids instanceof BigUint64Array) {
    for (const id of ids) into.push(id);
  } else if (Array.isArray(ids)) {
    for (const part of ids) collect(part, into);
  } else {
    const found = ids === null ? 'null' : typeof ids === 'object' ? ids.constructor?.name : typeof ids;
    throw idError(`found ${found}, expected bigint, BigInt64Array, BigUint64Array or nested arrays of them`);
  }
}

function idError(reason: string): MonolithError {
  return new MonolithError('ML_ID_TYPE', { what: SHARED_NAME, reason }, { hint: 'write ids as 123n, not 123' });
}
