/**
 * @file How the reference keeps one row of a table: packed addresses and inline cells (runtime/hash_table/entry_defs).
 *
 * Our tables have a layout of their own; this is for tools that read or size theirs.
 */
const SHARD_BITS = 3;
const BLOCK_BITS = 17;
const TIMESTAMP_BYTES = 4;
/** Cells a row may lie in without a pointer. */
export const INLINE_CELL_BYTES = [16, 24, 32] as const;

export interface EntryAddress {
  readonly shardId: number;
  readonly blockId: number;
  readonly entryId: number;
}

/** 3 bits of shard, 17 of block, 12 of entry, from the lowest up. */
export function packEntryAddress({ shardId, blockId, entryId }: EntryAddress): number {
  return (shardId | (blockId << SHARD_BITS) | (entryId << (SHARD_BITS + BLOCK_BITS))) >>> 0;
}

export function unpackEntryAddress(address: number): EntryAddress {
  return {
    shardId: address & ((1 << SHARD_BITS) - 1),
    blockId: (address >>> SHARD_BITS) & ((1 << BLOCK_BITS) - 1),
    entryId: address >>> (SHARD_BITS + BLOCK_BITS),
  };
}

/** A cell of `length` bytes whose last four are the time of the last update. */
export class InlineEntry {
  readonly #bytes: DataView;

  constructor(length: number) {
    this.#bytes = new DataView(new ArrayBuffer(length));
  }

  /** Bytes left for the body. */
  get capacity(): number {
    return this.#bytes.byteLength - TIMESTAMP_BYTES;
  }

  get floats(): Float32Array {
    return new Float32Array(this.#bytes.buffer, 0, Math.floor(this.capacity / 4));
  }

  get timestampSec(): number {
    return this.#bytes.getUint32(this.capacity, true);
  }

  set timestampSec(value: number) {
    this.#bytes.setUint32(this.capacity, value, true);
  }
}
