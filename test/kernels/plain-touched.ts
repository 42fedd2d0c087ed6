/**
 * @file Plain hopscotch sets of ids and of pairs of id and table: what assembly/touched does, for one thread and
 * without locks.
 *
 * It takes the same steps in the same order, so that it places every key in the same slot and drains in the same order.
 */
import { mix64BigInt } from '../../src/memory/hash.js';
import type { TouchedGeometry } from '../../src/memory/touched-geometry.js';
import { INSERT_RANGE } from '../../src/memory/touched-layout.js';
import { SECRET } from '../sparse/colliding-keys.js';

const HOP_RANGE = 32;
const MASK_64 = (1n << 64n) - 1n;

/** Hash of a key: never 0, which marks a free slot, and never 1. */
export function hashKey(key: bigint): number {
  return (Number(mix64BigInt(key, SECRET) & 0xffffffffn) | 3) >>> 0;
}

/** The set over keys of any width, by the 64 bits of a key that are mixed. */
class ReferenceTouchedSet {
  readonly geometry: TouchedGeometry;
  readonly #fold: (key: bigint) => bigint;
  readonly #keys: bigint[];
  readonly #hashes: Uint32Array;
  readonly #hops: Uint32Array;
  /** Linear probing; undefined is free. */
  #overflow: (bigint | undefined)[];
  #overflowCount = 0;
  #size = 0;

  /** `fold` makes a key the 64 bits that are mixed. */
  constructor(geometry: TouchedGeometry, fold: (key: bigint) => bigint) {
    this.geometry = geometry;
    this.#fold = fold;
    this.#keys = new Array(geometry.slots).fill(0n);
    this.#hashes = new Uint32Array(geometry.slots);
    this.#hops = new Uint32Array(geometry.slots);
    this.#overflow = new Array(geometry.overflowSlots);
  }

  get size(): number {
    return this.#size;
  }

  get overflowCount(): number {
    return this.#overflowCount;
  }

  /** Inserts the keys in order; returns how many keys clears dropped on the way. */
  protected insertAll(keys: Iterable<bigint>): number {
    let dropped = 0;
    for (const key of keys) dropped += this.#insertOne(key);
    return dropped;
  }

  /** Removes and returns all keys: those of the table by slot, then those of the overflow set. */
  protected stealAll(): bigint[] {
    const keys: bigint[] = [];
    this.#hashes.forEach((hash, slot) => {
      if (hash !== 0) keys.push(this.#keys[slot]!);
    });
    for (const key of this.#overflow) if (key !== undefined) keys.push(key);
    this.#clear();
    return keys;
  }

  #insertOne(key: bigint): number {
    let dropped = this.#size > this.geometry.capacity ? this.#clear() : 0;
    const hash = hashKey(this.#fold(key));
    const bucket = hash & (this.geometry.buckets - 1);
    if (this.#inTable(bucket, key) || this.#overflow[this.#overflowPlace(key)] !== undefined) return dropped;
    if (!this.#place(bucket, key, hash)) {
      if (this.#overflowCount >= this.geometry.overflowLimit) {
        dropped += this.#clear();
        return dropped + this.#insertOne(key);
      }
      this.#overflow[this.#overflowPlace(key)] = key;
      this.#overflowCount++;
    }
    this.#size++;
    return dropped;
  }

  #inTable(bucket: number, key: bigint): boolean {
    for (let i = 0; i < HOP_RANGE; i++) {
      if ((this.#hops[bucket]! >>> i) & 1 && this.#keys[bucket + i] === key) return true;
    }
    return false;
  }

  /** Puts an absent key within HOP_RANGE of its bucket, moving others if it must; false when there is no way. */
  #place(bucket: number, key: bigint, hash: number): boolean {
    let hole = bucket;
    while (hole < bucket + INSERT_RANGE && this.#hashes[hole] !== 0) hole++;
    if (hole === bucket + INSERT_RANGE) return false;
    while (hole - bucket >= HOP_RANGE) {
      const next = this.#moveHole(hole);
      if (next === undefined) {
        this.#hashes[hole] = 0;
        return false;
      }
      hole = next;
    }
    this.#keys[hole] = key;
    this.#hashes[hole] = hash;
    this.#hops[bucket]! |= 1 << (hole - bucket);
    return true;
  }

  /**
   * Moves an entry of one of the 31 buckets below `hole` into it; the slot it left, or undefined when none can move.
   */
  #moveHole(hole: number): number | undefined {
    for (let home = hole - HOP_RANGE + 1; home < hole; home++) {
      const hop = this.#hops[home]!;
      const first = hop === 0 ? HOP_RANGE : 31 - Math.clz32(hop & -hop);
      const distance = hole - home;
      if (first >= distance) continue;
      this.#keys[hole] = this.#keys[home + first]!;
      this.#hashes[hole] = this.#hashes[home + first]!;
      this.#hops[home] = (hop | (1 << distance)) & ~(1 << first);
      return home + first;
    }
    return undefined;
  }

  /** Where `key` is in the overflow set, or the free place where it would go. */
  #overflowPlace(key: bigint): number {
    const mask = this.geometry.overflowSlots - 1;
    let at = Number(mix64BigInt(this.#fold(key)) & BigInt(mask));
    while (this.#overflow[at] !== undefined && this.#overflow[at] !== key) at = (at + 1) & mask;
    return at;
  }

  #clear(): number {
    const dropped = this.#size;
    this.#hashes.fill(0);
    this.#hops.fill(0);
    this.#overflow = new Array(this.geometry.overflowSlots);
    this.#overflowCount = 0;
    this.#size = 0;
    return dropped;
  }
}

export class ReferenceTouchedKeySet extends ReferenceTouchedSet {
  constructor(geometry: TouchedGeometry) {
    super(geometry, (key) => key);
  }

  insert(ids: Iterable<bigint>): number {
    return this.insertAll(ids);
  }

  steal(): BigInt64Array {
    return BigInt64Array.from(this.stealAll());
  }
}

export interface TouchedPair {
  readonly id: bigint;
  readonly table: number;
}

/** A pair is one number: the table above the 64 bits of the id. */
export class ReferenceTouchedPairSet extends ReferenceTouchedSet {
  constructor(geometry: TouchedGeometry) {
    super(geometry, (key) => (key & MASK_64) ^ mix64BigInt((key >> 64n) + 1n));
  }

  insert(ids: Iterable<bigint>, table: number): number {
    return this.insertAll([...ids].map((id) => (BigInt(table) << 64n) | (id & MASK_64)));
  }

  steal(): TouchedPair[] {
    return this.stealAll().map((key) => ({ id: BigInt.asIntN(64, key), table: Number(key >> 64n) }));
  }
}
