/** @file Walks through the rows of a table of the host, some at a time, packed for an upload. */

import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  bucketsOfMask,
  idWordOf,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  ROW_REMOVED,
  SLOT,
  TABLE,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';

/** Rows of the table whose control block is at word `control`. */
export function countHostRows({ u32 }: Views, control: number): number {
  let rows = 0;
  for (let p = 0; p < PARTITIONS; p++) rows += u32[partitionWord(u32, control, p) + PARTITION.rows]!;
  return rows;
}

function partitionWord(u32: Uint32Array, control: number, partition: number): number {
  return (u32[control + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
}

export class HostRows {
  readonly ids: BigInt64Array;
  readonly times: Uint32Array;
  /** Rows as words: half of an i64 of optimizer state may be a NaN, which floats need not carry over. */
  readonly words: Uint32Array;
  readonly #views: Views;
  readonly #slots: Iterator<number>;
  readonly #rowWords: number;

  constructor(views: Views, control: number, chunk: number) {
    this.#views = views;
    this.#rowWords = views.u32[control + TABLE.rowBytes]! / 4;
    this.#slots = slotsOf(views.u32, control);
    this.ids = new BigInt64Array(chunk);
    this.times = new Uint32Array(chunk);
    this.words = new Uint32Array(chunk * this.#rowWords);
  }

  /** Packs the next rows; returns how many, 0 at the end. */
  next(): number {
    const { u32, i64 } = this.#views;
    let count = 0;
    while (count < this.times.length) {
      const { value: slot, done } = this.#slots.next();
      if (done) break;
      const row = u32[(slot + SLOT.row) / 4]! / 4;
      this.ids[count] = i64[idWordOf(slot)]!;
      this.times[count] = u32[(slot + SLOT.time) / 4]!;
      this.words.set(u32.subarray(row, row + this.#rowWords), count * this.#rowWords);
      count++;
    }
    return count;
  }
}

function* slotsOf(u32: Uint32Array, control: number): Generator<number> {
  for (let p = 0; p < PARTITIONS; p++) {
    const partition = partitionWord(u32, control, p);
    const index = u32[partition + PARTITION.index]!;
    if (index === 0) continue;
    const end = index + bucketsOfMask(u32[partition + PARTITION.mask]!) * BUCKET_BYTES;
    for (let bucket = index; bucket < end; bucket += BUCKET_BYTES) {
      for (let i = 0; i < BUCKET_SLOTS; i++) {
        const slot = bucket + i * 4;
        if (u32[(slot + SLOT.row) / 4]! > ROW_REMOVED) yield slot;
      }
    }
  }
}
