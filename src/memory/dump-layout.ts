/**
 * @file Layout of the plan by which kernels write and read the rows of a table as EntryDump messages.
 *
 * All rows of a table have the same message but for the values in it and the varint of the time at its end. The plan
 * holds that message with zeros for values (the template), which of its bytes are constant, and the runs of floats:
 *
 * | 0 checksum tables | 1 fixed bytes | 2 template | 3 mask | 4 runs | 5 row bytes | 6 checksum state of the template |
 * | 7 skips | 8..12 stored checksum of the length for a time of 1..5 bytes | 13 shift tables | 14 lane tables | 15 - |
 * | 16..20 checksum of the header with the payload as zeros, for the same | 21..23 - | 24.. runs, 4 words each |
 *
 * Addresses and counts are u32. `fixed bytes` counts the message up to and with the tag of the time; template and mask
 * are padded with zeros to 64 bytes. `skips` is 1 for serving tables: only id and weights are fixed, an optimizer field
 * of any content may follow, and then the time. Run: | byte offset in the row | floats | byte offset in the message |
 * constant bytes after the run, less one |. Shift tables are 4 KiB for each number of bytes of the time: what a
 * checksum becomes when a record of that size follows. Lane tables are sets of 512 bytes, by which checksums of 16 rows
 * move on over a word and the constant bytes behind it: the first half of an id, any other word, and the last float of
 * each run.
 */
export const DUMP_PLAN = {
  tables: 0,
  fixedBytes: 1,
  template: 2,
  mask: 3,
  runs: 4,
  rowBytes: 5,
  templateCrc: 6,
  skips: 7,
  /** Word of a time of one byte; those of longer ones follow. */
  sizeCrc: 8,
  shifts: 13,
  laneSets: 14,
  headerCrc: 16,
} as const;
/** Words before those of a time of one byte, for who counts from the bytes of the time. */
export const DUMP_SIZE_CRCS = DUMP_PLAN.sizeCrc - 1;
export const DUMP_HEADER_CRCS = DUMP_PLAN.headerCrc - 1;
export const DUMP_PLAN_RUNS = 24;
export const DUMP_RUN = { row: 0, count: 1, message: 2, gap: 3 } as const;
export const DUMP_RUN_WORDS = 4;

/**
 * Bytes of a table of checksums, one word for each byte; there are 8 for the bytes of a long, and 4 that shift a state.
 */
export const CRC_TABLE_BYTES = 1024;
export const CRC_TABLES_BYTES = 8 * CRC_TABLE_BYTES;
export const CRC_SHIFT_BYTES = 4 * CRC_TABLE_BYTES;
export const LANE_SET_BYTES = 512;
export const TIME_BYTES_MAX = 5;
/**
 * Bytes of a record before its payload: u64 size, u32 checksum of the size. A u32 checksum of the payload follows it.
 */
export const RECORD_FRAME = { size: 0, sizeCrc: 8, payload: 12 } as const;
/** Where the id is in the message of a row, behind a tag of one byte; floats have such a tag each. */
export const ENTRY_ID = 1;
export const TAGGED_FLOAT_BYTES = 5;
/** What kernels may write or read beyond the last record. */
export const DUMP_SLACK_BYTES = 64;
/** Rows that encodeEntries and loadRows take at a time; the scratch memory of either. */
export const ENCODE_CHUNK = 128;
export const LOAD_CHUNK = 512;
export const DUMP_SCRATCH_BYTES = LOAD_CHUNK * 8;

/**
 * Words of decodeEntries: address of the next record, why it ended, checksum of the file up to there if all is right.
 */
export const DECODE_PROGRESS = { next: 0, why: 1, crc: 2 } as const;
export const DECODE_PROGRESS_BYTES = 12;
export const DECODE_END = { needsBytes: 0, full: 1, unusual: 2 } as const;
