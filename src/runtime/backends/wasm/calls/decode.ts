/** @file Exports of assembly/decode: bytes of data files into columns. memory/decode-layout.ts draws the plan. */
export interface DecodeKernels {
  /** FarmHash's fingerprint of bytes. */
  fingerprint64(at: number, length: number): bigint;
  /** Why it ended, one of `DECODED`; where, and with how many rows, stands in the plan. */
  decodeCsv(plan: number, from: number, end: number, row: number, rowsMax: number): number;
  /** The same of records of tf.Example. */
  decodeExamples(plan: number, from: number, end: number, row: number, rowsMax: number): number;
}
