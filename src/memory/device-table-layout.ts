/**
 * @file The record of a table that lives on a device: what the thread that runs steps and the main thread know of it.
 *
 * ```
 * u32 words: | 0 table | 1 validity | 2 rows at first | 3 grows | 4 first values | 5 ranges |
 *            | 6 name | 7 bytes of it | 8 rows max | 9 - | 10, 11 rows | 12, 13 ids | 14, 15 times | 16, 17 counters |
 * ```
 * `table` is the control block of the same table on the host, `validity` as in placement-layout.ts. `first values` and
 * `ranges` have the floats of a row: cuda/kernels/device-table.cu makes new rows of them. From `rows max` on the thread
 * that runs steps writes: how many rows there is room for, and four device addresses, low word first.
 */
export const DEVICE_TABLE = {
  table: 0,
  validity: 1,
  rowsAtFirst: 2,
  grows: 3,
  first: 4,
  range: 5,
  name: 6,
  nameBytes: 7,
  rowsMax: 8,
  rows: 10,
  ids: 12,
  times: 14,
  counters: 16,
} as const;
export const DEVICE_TABLE_WORDS = 18;

/** Rows a table may have there. */
export const DEVICE_ROWS_MAX = 2 ** 30;

/** A slot of the index of ids there, in words of 32 bits; the id has two. Free slots are all ones. */
export const DEVICE_SLOT = { id: 0, value: 2 } as const;
export const DEVICE_SLOT_WORDS = 4;
/** The number of no row. */
export const NO_ROW = 0xffffffff;

/** Words of the counters on the device. */
export const DEVICE_COUNTER = { rows: 0, badGradients: 1, noRoom: 2 } as const;
export const DEVICE_COUNTERS = 4;

/** Puts an address of the device into a record. */
export function writeAddress(u32: Uint32Array, word: number, address: number): void {
  u32[word] = address % 2 ** 32;
  u32[word + 1] = Math.floor(address / 2 ** 32);
}

export function readAddress(u32: Uint32Array, word: number): number {
  return u32[word + 1]! * 2 ** 32 + u32[word]!;
}
