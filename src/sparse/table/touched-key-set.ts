/**
 * @file Bounded set of the ids touched since the last drain, shared by all threads of a session.
 *
 * Mirrors native_training/touched_key_set_ops. A set that runs over its capacity is emptied, and the insert that
 * emptied it says how many ids were dropped. The shared name is for whoever keeps sets by name; two objects never merge
 * because their names agree.
 */
import type { Ids } from '../../memory/given-arrays.js';
import { view } from '../../memory/views.js';
import {
  type TouchedKeyMemory,
  type TouchedKeySetHandle,
  type TouchedKeySetOptions,
  TouchedSet,
} from './touched-set.js';

export {
  DEFAULT_CAPACITY,
  DEFAULT_CONCURRENCY_LEVEL,
  SHARED_NAME,
  type TouchedKeyMemory,
  type TouchedKeySetHandle,
  type TouchedKeySetOptions,
} from './touched-set.js';

/**
 * A bounded set of the ids touched since the last drain, shared by threads.
 *
 * ```ts
 * const touched = new TouchedKeySet({ memory, kernels, arena, capacity: 1000, concurrencyLevel: 1 });
 * touched.insert([1n, 2n, 2n]); // 0: nothing was dropped
 * touched.steal(); // BigInt64Array [1n, 2n], in any order
 * ```
 */
export class TouchedKeySet extends TouchedSet {
  constructor(options: TouchedKeySetOptions | (TouchedKeyMemory & { readonly handle: TouchedKeySetHandle })) {
    super(options, 'id');
  }

  /** The set another thread made, by its handle. `memory` must be the memory it was made in. */
  static attach(handle: TouchedKeySetHandle, { memory, kernels }: TouchedKeyMemory): TouchedKeySet {
    return new TouchedKeySet({ memory, kernels, handle });
  }

  /** Inserts `ids` in row-major order; returns how many ids were dropped by clears on the way. */
  insert(ids: Ids): number {
    return this.insertBy(ids, (pointer, count, scratch) =>
      this.kernels.insertTouchedKeys(this.handle.pointer, pointer, count, scratch),
    );
  }

  /** Removes all ids and returns them, in no particular order. Inserts of other threads wait meanwhile. */
  steal(): BigInt64Array {
    const { beginSteal, endSteal } = this.kernels;
    return this.stealBy(beginSteal, endSteal, new BigInt64Array(0), (at, count) =>
      view(BigInt64Array, this.memory.buffer, at, count, this.sharedName).slice(),
    );
  }
}
