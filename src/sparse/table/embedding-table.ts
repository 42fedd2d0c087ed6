/**
 * @file What every embedding table can do, whatever it is made of: one hash table, several of them, or shards.
 *
 * Mirrors the operations of runtime/hash_table and native_training/hash_table_ops. Ids are 64 bits; the bit
 * pattern is what counts. Values and gradients are row-major, `dim` floats a row.
 */
import type { Floats, Ids } from '../../memory/given-arrays.js';

/** Ids of many rows in one array. */
export type IdArray = BigInt64Array | BigUint64Array;

export interface UpdateOptions {
  /** Time of the request in Unix seconds, which becomes the rows' time of last update. Default: 0. */
  readonly timeSec?: number;
}

export interface OptimizeOptions extends UpdateOptions {
  /** Step the rates are read at, and what optimizers that count steps see. Default: 0. */
  readonly globalStep?: number;
  /** Rates of this call, one per segment. Default: the table's own at `globalStep`. */
  readonly learningRates?: ArrayLike<number>;
  /** Sum the gradients of an id before its one step; without it every position is a step of its own. */
  readonly enableDedup?: boolean;
}

/** One call at a time from one thread; other threads may call at the same time through grips of their own. */
export interface EmbeddingTable {
  readonly name: string;
  /** Floats a lookup gives per id. */
  readonly dim: number;
  /** Segments, which is also how many learning rates an update consumes. */
  readonly sliceSize: number;
  readonly size: number;
  /** 1 for each id that has a row. */
  contains(ids: Ids): Uint8Array;
  /**
   * Embeddings of `ids`, one after the other, written to `out` when given. An absent id gives zeros and is not
   * inserted.
   */
  lookup(ids: Ids, out?: Float32Array): Float32Array;
  /** A serialized EntryDump without its id for each id; no bytes for an absent one. */
  lookupEntry(ids: Ids): Uint8Array[];
  assign(ids: Ids, values: Floats, options?: UpdateOptions): void;
  assignAdd(ids: Ids, values: Floats, options?: UpdateOptions): void;
  /**
   * One step per position, in order, of the ids that the admission filter lets in. A Float32Array of gradients is
   * scratch afterwards.
   */
  optimize(ids: Ids, gradients: Floats, options?: OptimizeOptions): void;
  /** First values again, for rows new or old. 1 for each id that had a row, else 0. */
  reinitialize(ids: Ids): Int32Array;
  /**
   * Removes rows whose last update is `expire days of their feature slot` or longer before `nowSec`; returns how many.
   */
  evict(nowSec: number): number;
  clear(): void;
}
