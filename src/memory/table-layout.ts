/**
 * @file Layout of an embedding hash table in shared memory; assembly/table.ts draws it and works on the same words.
 *
 * Word numbers count u32 from the start of the structure, byte offsets say `BYTES`.
 */
export const TABLE = {
  partitionsLog2: 0,
  dim: 1,
  stateFloats: 2,
  rowBytes: 3,
  segments: 4,
  heap: 5,
  seed: 6,
  zeroRow: 7,
  partitions: 8,
} as const;
/** Where the segments begin, and the words of each. */
export const SEGMENTS = 16;
export const SEGMENT_WORDS = 16;
export const SEGMENT = {
  dim: 0,
  weightOffset: 1,
  stateOffset: 2,
  initializer: 3,
  initialA: 4,
  initialB: 5,
  optimizer: 6,
  learningRate: 7,
  /** First value of the optimizer's state (initial accumulator). */
  stateInitial: 8,
  /** Adagrad: weight decay. FTRL: beta, l1, l2. */
  parameters: 9,
} as const;
export const PARTITION_BYTES = 64;
export const PARTITION = {
  index: 0,
  mask: 1,
  rows: 2,
  nextRow: 3,
  blockEnd: 4,
  firstBlock: 5,
  lastBlock: 6,
  blockRows: 7,
  /** First row that was given back; each holds the address of the next in its first word. */
  freeRow: 8,
  /** Slots that are not free: those of rows and those of removed ids. */
  slotsTaken: 9,
} as const;
/** A bucket: four ids (i64), four row words, four times of the last update in seconds (u32). */
export const BUCKET_BYTES = 64;
export const BUCKET_SLOTS = 4;
/** Slots are addresses of a row word less this many bytes. */
export const SLOT_ROW_BYTES = 32;
export const SLOT_TIME_BYTES = 48;
/** Row words other than addresses; ROW_SUMMING is added to an address while its time is that of a gradient sum. */
export const ROW_FREE = 0;
export const ROW_REMOVED = 1;
export const ROW_SUMMING = 2;
export const BLOCK_HEADER_BYTES = 64;
export const BLOCK = { next: 0, bytes: 1 } as const;
export const ROWS_BLOCK_MIN = 4;
export const ROWS_BLOCK_MAX = 4096;

export const INITIALIZER = { zeros: 0, uniform: 1, constant: 2 } as const;
export const OPTIMIZER = { sgd: 0, adagrad: 1, ftrl: 2 } as const;

/** Partitions of a table: the most threads that can share an update. */
export const PARTITIONS_LOG2 = 6;
export const PARTITIONS = 1 << PARTITIONS_LOG2;

export const HEAP_HEADER_BYTES = 144;
/** Heap header, u32 words: lock, first free byte, end, then one list of retired blocks per power of two. */
export const HEAP = { lock: 0, top: 1, end: 2, retired: 4 } as const;

/** Words of a slice record of tableApply. */
export const APPLY_SLICE = { ids: 0, order: 1, offsets: 2, rows: 3, gradients: 4, stride: 5, slots: 6 } as const;
export const APPLY_SLICE_BYTES = 32;

/** Ids that a lookup handles together, and the scratch memory it needs for them. */
export const LOOKUP_CHUNK = 512;
export const LOOKUP_SCRATCH_BYTES = LOOKUP_CHUNK * 4;

export function tableBytes(segmentCount: number): number {
  return 4 * (SEGMENTS + SEGMENT_WORDS * segmentCount);
}
