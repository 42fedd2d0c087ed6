/** @file Some rows as columns, one after the other out of a file. */
import type { FeedData } from '../../memory/batch.js';

export interface Block {
  readonly rows: number;
  /** In the order of the schema. The arrays are used again for the next block. */
  readonly feeds: readonly FeedData[];
  /** Of the column that decides on which side rows are, their hashes. */
  readonly keys: BigInt64Array | undefined;
  /** Where rows were left out: how many there were, and the place of each that is left among them. */
  readonly numbers?: { readonly count: number; readonly offsets: readonly number[] };
}
