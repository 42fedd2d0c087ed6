/** @file Batches on their way from the data to the memory of a session. */
import type { PartialBatchData } from '../memory/batch.js';

/** A batch that is in no memory yet. */
export interface MadeBatch<Row = unknown> {
  readonly data: PartialBatchData;
  readonly rows?: readonly Row[];
}

/** One pass over the data. */
export interface BatchPass<Row = unknown> {
  /** The next batch, undefined at the end: at once where the data is at hand, later where it is waited for. */
  next(): MadeBatch<Row> | undefined | Promise<MadeBatch<Row> | undefined>;
  /** Goes past so many batches, which are not made; fewer at the end of the data. */
  skip(batches: number): void | Promise<void>;
  /** Leaves the data where it is. */
  close?(): unknown;
}

/** What passes come from. */
export interface BatchMaker<Row = unknown> {
  /** Batches of a pass, of data that is in memory as a whole: each pass then gives the same batches, at once. */
  readonly batchCount?: number;
  readonly once: boolean;
  /** The pass of a number, from 0: rows that are shuffled have the same order whenever it is made. */
  pass(number: number): BatchPass<Row>;
}
