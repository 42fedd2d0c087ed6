/** @file Rows that a run is judged by, whoever read them. */
import type { EncodedTable } from '../recipe/encoded-table.js';

/** Rows with their labels. */
export interface JudgedRows {
  readonly table: EncodedTable;
  readonly rows: Uint32Array;
  readonly labels: Float32Array;
  /** What they are called. */
  readonly source: string;
  /** Averages of each id of the rows that were trained on; undefined of another file. */
  readonly averages: Float32Array | undefined;
  readonly idColumns: readonly string[];
}
