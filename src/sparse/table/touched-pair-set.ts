/**
 * @file Bounded set of the ids touched since the last drain, each with the table it is of: one for all tables of a
 * client.
 *
 * Mirrors the set of a parameter-sync client upstream. It behaves as a TouchedKeySet whose keys are pairs.
 */
import { MonolithError } from '../../base/errors.js';
import type { Ids } from '../../memory/given-arrays.js';
import { view } from '../../memory/views.js';
import {
  type TouchedKeyMemory,
  type TouchedKeySetHandle,
  type TouchedKeySetOptions,
  TouchedSet,
} from './touched-set.js';

/** Tables are numbered below this. */
const TABLE_INDEX_LIMIT = 2 ** 32 - 1;

/** `ids[i]` is of the table `tables[i]`. */
export interface TouchedPairs {
  readonly ids: BigInt64Array;
  readonly tables: Uint32Array;
}

/**
 * A bounded set of pairs of id and table touched since the last drain.
 *
 * ```ts
 * const touched = new TouchedPairSet({ memory, kernels, arena, capacity: 1000, concurrencyLevel: 1 });
 * touched.insert([1n, 2n, 2n], 0);
 * touched.insert([2n], 1);
 * touched.stealByTable(); // Map { 0 => [1n, 2n], 1 => [2n] }, each in any order
 * ```
 */
export class TouchedPairSet extends TouchedSet {
  constructor(options: TouchedKeySetOptions | (TouchedKeyMemory & { readonly handle: TouchedKeySetHandle })) {
    super(options, 'pair');
  }

  /** The set another thread made, by its handle. `memory` must be the memory it was made in. */
  static attach(handle: TouchedKeySetHandle, { memory, kernels }: TouchedKeyMemory): TouchedPairSet {
    return new TouchedPairSet({ memory, kernels, handle });
  }

  /** Inserts ids of one table; returns how many pairs, of whatever table, were dropped by clears on the way. */
  insert(ids: Ids, tableIndex: number): number {
    if (!(Number.isInteger(tableIndex) && tableIndex >= 0 && tableIndex < TABLE_INDEX_LIMIT)) {
      const reason = `table index ${tableIndex} is not a whole number below ${TABLE_INDEX_LIMIT}`;
      throw new MonolithError('ML_TOUCHED_SIZE', { name: this.sharedName, reason });
    }
    return this.insertBy(ids, (pointer, count, scratch) =>
      this.kernels.insertTouchedPairs(this.handle.pointer, pointer, count, tableIndex, scratch),
    );
  }

  /** Removes all pairs and returns them, in no particular order. Inserts of other threads wait meanwhile. */
  stealPairs(): TouchedPairs {
    const { beginStealPairs, endStealPairs } = this.kernels;
    const none = { ids: new BigInt64Array(0), tables: new Uint32Array(0) };
    return this.stealBy(beginStealPairs, endStealPairs, none, (at, count) => {
      const { buffer } = this.memory;
      const words = view(BigInt64Array, buffer, at, count * 2, this.sharedName);
      const halves = view(Uint32Array, buffer, at, count * 4, this.sharedName);
      const [ids, tables] = [new BigInt64Array(count), new Uint32Array(count)];
      for (let i = 0; i < count; i++) {
        ids[i] = words[i * 2]!;
        tables[i] = halves[i * 4 + 2]!;
      }
      return { ids, tables };
    });
  }

  /** stealPairs, the ids of each table together. */
  stealByTable(): Map<number, BigInt64Array> {
    const { ids, tables } = this.stealPairs();
    const counts = new Map<number, number>();
    for (const table of tables) counts.set(table, (counts.get(table) ?? 0) + 1);
    const grouped = new Map([...counts].map(([table, count]) => [table, new BigInt64Array(count)]));
    tables.forEach((table, i) => {
      const left = counts.get(table)! - 1;
      grouped.get(table)![left] = ids[i]!;
      counts.set(table, left);
    });
    return grouped;
  }
}
