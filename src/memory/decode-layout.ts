/**
 * @file Layout of the plan by which kernels turn the bytes of data files into columns.
 *
 * | 0 fields | 1 field count | 2 columns of a line | 3 delimiter | 4 decimal comma | 5 powers of ten | 6 scratch |
 * | 7 next | 8 rows | 9 lines | 10 column | 11 names | 12 name mask | 13 list | 14 checksums | 15 stamp |
 * | 16 first field |
 *
 * Addresses and counts are u32. `next`, `rows`, `lines` are results: where to go on, rows that are whole, newlines or
 * records that were passed; `column` is the field that ended the call. Rows whose columns have names find them in a
 * hash table of `name mask` + 1 slots | fingerprint u64 | field + 1 | 0 |; `list` has room for the values of one cell,
 * `checksums` is the table of CRC-32C, and `stamp` numbers rows, so that a field knows whether the row at hand has
 * it. Rows mostly have their columns in one order: `first field` is the address of the one that was first in a row
 * before, and a field knows the one that came next.
 *
 * A field, in the order of columns: what its cells are made into, and where. Floats and ids have an array of a value
 * for each row at `to`; a field of many ids has splits there, and ids at `values`. Lists of texts are addresses of
 * | count | address | length | … |.
 */
export const DECODE = {
  fields: 0,
  fieldCount: 1,
  columnCount: 2,
  delimiter: 3,
  decimalComma: 4,
  powers: 5,
  scratch: 6,
  next: 7,
  rows: 8,
  lines: 9,
  column: 10,
  names: 11,
  nameMask: 12,
  list: 13,
  checksums: 14,
  stamp: 15,
  firstField: 16,
} as const;
export const DECODE_WORDS = 17;

export const CELL = {
  column: 0,
  kind: 1,
  to: 2,
  values: 3,
  capacity: 4,
  max: 5,
  split: 6,
  flags: 7,
  /** Floats of the weights of ids, `perRow` of them for each row. */
  weights: 8,
  perRow: 9,
  /** Texts that are missing values, 0 without any. */
  nulls: 10,
  /** Texts of a label. */
  texts: 11,
  operator: 12,
  /** Between an id and its weight. */
  weightMark: 13,
  /** Floats in place of a missing number, and whether there is one. */
  missing: 14,
  hasMissing: 15,
  /** What a label is compared with, a double. */
  operand: 16,
  name: 18,
  nameBytes: 19,
  /** The last row that had it. */
  stamp: 20,
  /** Values of a row, of a field that has a list of them. */
  width: 21,
  /** The field that came behind it in a row before, 0 of none. */
  next: 22,
} as const;
export const CELL_WORDS = 24;
/** A slot of the table of names. */
export const NAME = { fingerprint: 0, field: 2 } as const;
export const NAME_WORDS = 4;

/** What a cell is made into. */
export const CELL_KIND = {
  float: 0,
  double: 1,
  id: 2,
  ids: 3,
  rule: 4,
  text: 5,
  oneOf: 6,
  time: 7,
  int: 8,
  hash: 9,
} as const;
export const CELL_FLAG = { lower: 1, weighted: 2, ms: 4 } as const;
/** Comparisons of a rule. */
export const RULE = { atLeast: 0, above: 1, atMost: 2, below: 3, equal: 4, other: 5 } as const;
/** Why a decoder ended: at the end of the bytes, full, or at a row that only the slow way knows. */
export const DECODED = { end: 0, full: 1, odd: 2 } as const;
/** Bytes of text that a decoder may change, such as to lower case. */
export const DECODE_SCRATCH_BYTES = 1024;
/** Values of a cell that decoders can hold aside. */
export const DECODE_LIST_MAX = 4096;
/** Words of the table of checksums: 16 of 256. */
export const CHECKSUM_WORDS = 16 * 256;
/** Bytes behind the input that decoders may read. */
export const DECODE_SLACK_BYTES = 64;
/** Texts of one list: address and bytes. */
export const TEXT = { address: 0, bytes: 1 } as const;
export const TEXT_WORDS = 2;
