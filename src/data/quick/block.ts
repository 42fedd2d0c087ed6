/** @file Some rows as columns, one after the other out of a file. */
import type { MonolithError } from '../../base/errors.js';
import type { FeedData } from '../../memory/batch.js';
import type { DataRow } from '../files/place.js';
import type { CellPlan } from './cell-plans.js';
import type { DecodedColumn, Decoder } from './decoder.js';

export interface Block {
  readonly rows: number;
  /** In the order of the schema. The arrays are used again for the next block. */
  readonly feeds: readonly FeedData[];
  /** Of the column that decides on which side rows are, their hashes. */
  readonly keys: BigInt64Array | undefined;
  /** Where rows were left out: how many there were, and the place of each that is left among them. */
  readonly numbers?: { readonly count: number; readonly offsets: readonly number[] };
}

/** What blocks are made with, of all files. */
export interface BlockMaker {
  readonly decoder: Decoder;
  readonly cells: readonly CellPlan[];
  /** The block of `rows` rows: where `columnOf` does not say it, in the memory of the decoder. */
  block(rows: number, columnOf?: (index: number, rows: number) => DecodedColumn): Block;
  /** A block of rows as objects; rows that cannot be encoded are told and left out. */
  slowBlock(rows: readonly DataRow[]): Block | undefined;
  readonly onBadRow: (error: MonolithError) => void;
  /** What is fed for one cell of the field at `index`; undefined where its row cannot be encoded. */
  encode(index: number, cell: unknown): readonly FeedData[] | undefined;
}
