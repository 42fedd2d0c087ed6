/** @file Exports of assembly/dump: table rows as records of EntryDump messages. memory/dump-layout.ts draws the plan. */
export interface DumpKernels {
  /** Fills CRC_TABLES_BYTES at `tables`, which the plan and crc32cBytes name. */
  crc32cTables(tables: number): void;
  /** Fills CRC_SHIFT_BYTES at `shift`, by which `bytes` bytes of zero are one step. */
  crc32cShift(tables: number, shift: number, bytes: number): void;
  crc32cBytes(tables: number, bytes: number, n: number, previous: number): number;
  /** Records of the rows of `n` slots; returns their bytes. */
  encodeEntries(plan: number, slots: number, n: number, out: number, scratch: number): number;
  /** Records into columns; returns how many. `progress` says where and why it ended (DECODE_PROGRESS, DECODE_END). */
  decodeEntries(
    plan: number,
    bytes: number,
    end: number,
    limit: number,
    ids: number,
    times: number,
    rows: number,
    rowStride: number,
    progress: number,
  ): number;
  /** Rows from columns into the table, under the locks of its partitions; returns how many, fewer than n = heap full. */
  loadRows(table: number, ids: number, times: number, rows: number, stride: number, n: number, scratch: number): number;
}
