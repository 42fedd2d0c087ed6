/**
 * @file Layout of an embedding hash table in shared memory; assembly/table.ts says how it is used.
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
  /** TABLE_FLAG. */
  flags: 9,
  /** Bytes of a row's body: weights and state of a training row, the compressed segments of a serving row. */
  bodyBytes: 10,
  /** BAD_GRADIENTS. */
  badGradients: 11,
  /** Rows whose gradient was NaN or infinite, counted atomically. */
  badGradientRows: 12,
  /** Address of the OVERFLOW block of a table that has a filter or does not fail when the heap is full, else 0. */
  overflow: 13,
  /** i64, the largest time of an update, raised atomically. */
  maxUpdateTime: 14,
} as const;
/**
 * `plain`: a training table whose retrievers are all raw, so that the first floats of a row are what a lookup shows.
 */
export const TABLE_FLAG = { serving: 1, plain: 2 } as const;
export const BAD_GRADIENTS = { fail: 0, skip: 1 } as const;
/** What tableApply, tableUpdate, tableOptimize and tableTouch answer in place of a count. */
export const UPDATE_RESULT = { heapFull: -1, badGradient: -2, refused: -3, lostLock: -4 } as const;
/** For tableApply: rows are stamped with the latest time the table has seen. */
export const TIME_UNKNOWN = 0xffffffff;
/** Where the segments begin, and the words of each. */
export const SEGMENTS = 16;
export const SEGMENT_WORDS = 32;
export const SEGMENT = {
  dim: 0,
  weightOffset: 1,
  stateOffset: 2,
  initializer: 3,
  initialA: 4,
  initialB: 5,
  /** OPTIMIZER_NUMBER of optimizer-layout.ts. */
  optimizer: 6,
  /** SEGMENT_FLAG. */
  flags: 7,
  retriever: 8,
  /** r of fixed_r8, amplitude of one_bit, for the retriever and for the compressor. */
  amplitude: 9,
  /** Scale of one_bit at present; the retriever's backward renews it. */
  scale: 10,
  initScale: 11,
  maxScale: 12,
  stepSize: 13,
  compressor: 14,
  /** Byte offset of the segment in the body of a serving row. */
  bodyOffset: 15,
  /** Parameter block of the optimizer; optimizer-layout.ts names its bytes. */
  parameters: 16,
  /** i64, the step that rounding to half draws by: the global step, or the calls so far of callers that give none. */
  drawStep: 28,
} as const;
export const SEGMENT_FLAG = { roundsToHalf: 1 } as const;
export const RETRIEVER = { raw: 0, fixedR8: 1, oneBit: 2 } as const;
export const COMPRESSOR = { fp32: 0, fp16: 1, fixedR8: 2, oneBit: 3 } as const;
export const PARTITION_BYTES = 64;
export const PARTITION = {
  index: 0,
  /** Buckets less 1, and SALTED in a partition whose buckets are chosen by the secret of the memory. */
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
  /** Held by a shared kernel while it works on one id. */
  lock: 10,
  /** New ids that got no row because the heap was full. */
  passedOver: 11,
  /** Four floats that whoever holds the lock may write. */
  scratch: 12,
} as const;

/**
 * In the word of the mask: buckets are chosen by the secret of the memory. As part of a mask it does nothing, because
 * what is masked becomes an address and loses its upper bits.
 */
export const SALTED = 0x80000000;

/** Buckets of an index, by the word of its mask. */
export function bucketsOfMask(mask: number): number {
  return (mask & ~SALTED) + 1;
}
/** A bucket: four ids (i64), four row words, four times of the last update in seconds (u32). */
export const BUCKET_BYTES = 64;
export const BUCKET_SLOTS = 4;
/**
 * A slot is named by the address of its row word less 32, so that constants reach its other words: bytes from there.
 * The id is at 2 * slot - bucket.
 */
export const SLOT = { row: 32, time: 48 } as const;
/** Where the id of a slot is, counted in i64: slots are 4 bytes apart, ids 8. */
export function idWordOf(slot: number): number {
  return (slot + (slot % BUCKET_BYTES)) / 8;
}

/** Row words other than addresses; ROW_SUMMING is added to an address while its time is that of a gradient sum. */
export const ROW_FREE = 0;
export const ROW_REMOVED = 1;
export const ROW_SUMMING = 2;

/**
 * Slots of an index that partition `partition` fills before the index grows: 70 to 83 of 100, more in higher
 * partitions, so that they do not all grow in one step.
 */
export function slotLimit(partition: number, buckets: number): number {
  return Math.floor((buckets * (720 + 2 * partition)) / 256);
}

export const BLOCK_HEADER_BYTES = 64;
export const BLOCK = { next: 0, bytes: 1 } as const;
export const ROWS_BLOCK_MIN = 4;
export const ROWS_BLOCK_MAX = 4096;

export const INITIALIZER = { zeros: 0, uniform: 1, constant: 2 } as const;

/** Partitions of a table: the most threads that can share an update. */
export const PARTITIONS_LOG2 = 6;
export const PARTITIONS = 1 << PARTITIONS_LOG2;

/**
 * A smaller memory could not hold a first block of rows for each partition; a larger one needs more banks than
 * partitions.
 */
export const TABLE_BYTES_MIN = 1 << 20;
export const TABLE_BYTES_MAX = PARTITIONS * (2 ** 32 - 65536);

export const HEAP_HEADER_BYTES = 160;
/** The largest block a heap hands out; kernels take sizes as u32, so that a larger one might look small to them. */
export const HEAP_BLOCK_MAX = 2 ** 31;
/**
 * Heap header, u32 words: lock, first free byte, end, 1 while a step runs, one list of retired blocks per power of two;
 * parent of a share; shares, tables that use them; bytes of scratch memory.
 */
export const HEAP = {
  lock: 0,
  top: 1,
  end: 2,
  inStep: 3,
  retired: 4,
  parent: 36,
  shares: 37,
  sharers: 38,
  scratchBytes: 39,
} as const;
/** Bytes from share to share: headers of heaps that take from `parent`. */
export const SHARE_BYTES = 192;

/** What a table does when its memory is full. Rows that are there are updated as ever. */
export const WHEN_FULL = ['fail', 'evict-expired', 'stop-admitting'] as const;
export type WhenFull = (typeof WHEN_FULL)[number];

/**
 * The overflow block, for ids that get no row in a step: u32 words; OVERFLOW_SLOTS bytes in, a slot per partition, then
 * a row for each.
 */
export const OVERFLOW = {
  /** Expire days of each feature slot, u32[32768]: expired rows are removed. 0: none are. */
  days: 0,
  /** 1: updates of new ids go to a row that nobody reads. 0: they fail. */
  passesOver: 1,
  /** Address of the shares that partitions grow in, or 0. */
  shares: 2,
  /** 1 once rows were removed, or came from files that do not say what the table took of its memory. */
  hasRemovals: 3,
} as const;
export const OVERFLOW_SLOTS = 64;

export function overflowBytes(rowBytes: number): number {
  return OVERFLOW_SLOTS + PARTITIONS * (BUCKET_BYTES + rowBytes);
}

/** Words of a slice record of tableApply. */
export const APPLY_SLICE = {
  ids: 0,
  order: 1,
  offsets: 2,
  rows: 3,
  gradients: 4,
  stride: 5,
  slots: 6,
  /** How often each id came; for tables with an admission filter. */
  counts: 7,
} as const;
export const APPLY_SLICE_BYTES = 32;

/** Ids that a lookup handles together, and the scratch memory it needs for them. */
export const LOOKUP_CHUNK = 512;
export const LOOKUP_SCRATCH_BYTES = LOOKUP_CHUNK * 8;

/** Words of the cursor of tableScan: partition, and 4 * bucket + slot in it. */
export const SCAN_CURSOR = { partition: 0, position: 1 } as const;

/** Address of segment `index` of a table. */
export function segmentAt(table: number, index: number): number {
  return table + 4 * (SEGMENTS + SEGMENT_WORDS * index);
}

export function tableBytes(segmentCount: number): number {
  return 4 * (SEGMENTS + SEGMENT_WORDS * segmentCount);
}
