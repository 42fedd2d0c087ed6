/**
 * @file Exports of assembly/decode: bytes of data files into columns. memory/decode-layout.ts draws the plan,
 * memory/pages-layout.ts what is known of pages of Parquet.
 */
export interface DecodeKernels {
  /** FarmHash's fingerprint of bytes. */
  fingerprint64(at: number, length: number): bigint;
  /** Why it ended, one of `DECODED`; where, and with how many rows, stands in the plan. */
  decodeCsv(plan: number, from: number, end: number, row: number, rowsMax: number): number;
  /** The same of records of tf.Example. */
  decodeExamples(plan: number, from: number, end: number, row: number, rowsMax: number): number;
  /** The end of the decoded block, 0 of none. */
  decodeSnappy(from: number, end: number, to: number, limit: number): number;
  /** How many of `count` values the runs have. */
  readRuns(runs: number, to: number, count: number): number;
  /** How many of `count` levels are 1, -1 where they are none. */
  readPresence(runs: number, to: number, count: number): number;
  spread32(from: number, mask: number, to: number, count: number, missing: number): void;
  spread64(from: number, mask: number, to: number, count: number, missing: number): void;
  /** How many of `count` indices there are before one beyond `bound`. */
  pick32(from: number, bound: number, indices: number, to: number, count: number): number;
  pick64(from: number, bound: number, indices: number, to: number, count: number): number;
  /** How many of `count` levels were used, -1 where they are none. */
  readLists(
    repeats: number,
    levels: number,
    count: number,
    full: number,
    lists: number,
    splits: number,
    rowsMax: number,
  ): number;
  /** How many of `count` values were written before one that is left to the twin. */
  readNumbers(type: number, kind: number, plan: number, field: number, from: number, to: number, count: number): number;
  readTimes(perSecond: number, from: number, to: number, count: number): number;
  /** The address behind `count` texts, 0 where they are more than there is. */
  findTexts(from: number, end: number, to: number, count: number): number;
  /** The row that is left to the twin, or `end`. */
  readTexts(plan: number, field: number, mask: number, texts: number, row: number, end: number): number;
  readTextIds(plan: number, field: number, texts: number, to: number, count: number): number;
  /** The same of lines of JSON. */
  decodeJson(plan: number, from: number, end: number, row: number, rowsMax: number): number;
}
