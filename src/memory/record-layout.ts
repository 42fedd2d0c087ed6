/**
 * @file Records that kernels read in place of long lists of operands. All words are u32, addresses are bytes.
 */

/** What gatherSlicesF32 and scatterSlicesF32 move between rows of a table and a matrix. */
export const PIECE = {
  /** First id in a row of ids, and how many are summed. */
  first: 0,
  ids: 1,
  /** Bytes from the begin of a table row. */
  offset: 2,
  floats: 3,
  matrix: 4,
  /** Bytes. */
  stride: 5,
  /** 1: added to the matrix. */
  add: 6,
} as const;
export const PIECE_WORDS = 8;

/**
 * Columns in which rows that have the same id have the same floats, for gemmRepeatsF32 and its gradient. Fields come in
 * order of their columns and do not overlap. From `numbers` on it is what numberRepeatsU32 gives.
 */
export const FIELD = {
  column: 0,
  floats: 1,
  /** Number of each row's id, u32[rows]. */
  numbers: 2,
  /** Rows by number, u32[rows]. */
  order: 3,
  /** Where the rows of each number begin in `order`, u32[]. */
  starts: 4,
  /** Address of how many numbers there are. */
  count: 5,
} as const;
export const FIELD_WORDS = 8;

/** Shape of batchMatMulF32, c = a * b with [m, k] x [k, n]: strides are floats, the columns of c are contiguous. */
export const MATMUL_SHAPE = {
  groups: 0,
  m: 1,
  n: 2,
  k: 3,
  aGroup: 4,
  aRow: 5,
  aCol: 6,
  bGroup: 7,
  bRow: 8,
  bCol: 9,
  cGroup: 10,
  cRow: 11,
} as const;
export const MATMUL_SHAPE_WORDS = 12;

/** A copy of copyPieces. */
export const COPY = { from: 0, to: 1, bytes: 2 } as const;
export const COPY_WORDS = 3;
/** A copy of copyMatrices: rows of `bytes` bytes that lie `fromBytes` and `toBytes` apart, all multiples of four. */
export const COPY_ROWS = { from: 0, to: 1, rows: 2, bytes: 3, fromBytes: 4, toBytes: 5 } as const;
export const COPY_ROWS_WORDS = 6;

/** A cell of the scratch table of uniqueI64. A cell of another generation is empty; the key is an i64. */
export const UNIQUE_CELL = { key: 0, generation: 2, index: 3 } as const;
export const UNIQUE_CELL_BYTES = 16;

/** An input of fusedReorderI64; `offsets` (i32) is written. */
export const REORDER_INPUT = { ids: 0, length: 1, dim: 2, offsets: 3 } as const;
/** An output of fusedGatherF32, and of its gradient, which reads from `to`. */
export const GATHER_OUTPUT = { offsets: 0, rows: 1, dim: 2, to: 3 } as const;
/** Where layoutResolve finds rows: offsets count units. */
export const LAYOUT_SOURCE = { address: 0, floats: 1, unit: 2 } as const;
/** A server of shardPlaceI64: what its offsets begin with, and where its ids go. */
export const SHARD_SERVER = { low: 0, high: 1, list: 2 } as const;
/** Words of each of these four. */
export const RECORD_WORDS = 4;

/** The words of a record whose values are given by name; words without a name are 0. */
export function wordsOf<Name extends string>(
  layout: Readonly<Record<Name, number>>,
  words: number,
  values: Readonly<Record<Name, number>>,
): number[] {
  const record = new Array<number>(words).fill(0);
  for (const name of Object.keys(values) as Name[]) record[layout[name]] = values[name];
  return record;
}
