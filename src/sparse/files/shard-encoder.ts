/**
 * @file The records of one shard of a table, as buffers that can be written while the next one is filled.
 *
 * Rows are counted in the order of partitions and, within them, of the buckets that an index of just as many rows has;
 * a shard is a range of that count. So the bytes of a save depend on what a table holds, not on how it came to hold it,
 * and a restore fills indexes from their begin to their end instead of at random.
 */
import { MonolithError } from '../../base/errors.js';
import type { RowRange } from '../../io/shard-files.js';
import { idWordOf, PARTITIONS, SLOT } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import { type PartitionEncoder, partitionEncoder } from './partition-encoder.js';
import { bucketsLog2For, type TableImage } from './stored-table.js';

/** Large enough that a write is worth its call, small enough to stay near the processor. */
export const BUFFER_BYTES = 2 << 20;
const DEFAULT_EXPIRE_DAYS = 36500;
const DAY_SEC = 86400;

export interface ShardOptions {
  readonly bufferBytes?: number;
  /** Rows that expired are left out unless false. */
  readonly expire?: boolean;
}

/** The error of a save during which rows came or went. */
export function changedTable(file: string): MonolithError {
  const reason = 'the table was changed while it was saved';
  return new MonolithError('ML_CKPT_WRITE', { file, reason }, { hint: 'await the save first' });
}

export class ShardEncoder {
  /** Records made so far. */
  count = 0;
  readonly #image: TableImage;
  readonly #range: RowRange;
  readonly #bufferBytes: number;
  readonly #expire: boolean;
  readonly #encoders = new Map<number, PartitionEncoder>();
  /** Index and rows of each partition when the save began. */
  readonly #begun: readonly { readonly index: number; readonly rows: number }[];

  constructor(image: TableImage, range: RowRange, options: ShardOptions = {}) {
    if (image.isServing) throw new MonolithError('ML_TABLE_SERVING', { operation: 'Save' });
    this.#image = image;
    this.#range = range;
    this.#bufferBytes = options.bufferBytes ?? BUFFER_BYTES;
    this.#expire = options.expire ?? true;
    this.#begun = Array.from({ length: PARTITIONS }, (_, p) => ({ index: image.indexOf(p), rows: image.rowsOf(p) }));
  }

  /**
   * Buffers of whole records. Each is good until the one after the next is asked for: write one while the next is made.
   */
  *chunks(): Generator<Uint8Array> {
    let which = 0;
    let used = 0;
    let current: PartitionEncoder | null = null;
    for (const { partition, from, to } of this.#parts()) {
      const encoder = this.#encoderOf(partition);
      if (current !== null && current !== encoder && used > 0) {
        yield current.bytes(which, used);
        which ^= 1;
        used = 0;
      }
      current = encoder;
      this.#refuseChanged(partition);
      const slots = this.#selected(encoder, partition, from, to);
      for (let start = 0; start < slots.length; ) {
        const room = Math.floor((encoder.bufferBytes - used) / encoder.maxRecordBytes);
        if (room === 0) {
          yield encoder.bytes(which, used);
          this.#refuseChanged(partition);
          which ^= 1;
          used = 0;
          continue;
        }
        const count = Math.min(room, slots.length - start);
        used += encoder.encode(slots, start, count, which, used);
        start += count;
        this.count += count;
      }
    }
    if (current !== null && used > 0) yield current.bytes(which, used);
  }

  /** Gives the buffers back, once the last of them is written. */
  close(): void {
    for (const encoder of this.#encoders.values()) encoder.close();
    this.#encoders.clear();
  }

  /** Others ran while the last buffer was written: slots of an index that has moved since are no slots any more. */
  #refuseChanged(partition: number): void {
    const { index, rows } = this.#begun[partition]!;
    if (this.#image.indexOf(partition) === index && this.#image.rowsOf(partition) === rows) return;
    throw changedTable(this.#image.name);
  }

  /** Partitions that have rows of the range, and which of them. */
  *#parts(): Generator<{ partition: number; from: number; to: number }> {
    let begin = 0;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const rows = this.#image.rowsOf(partition);
      const from = Math.max(0, this.#range.begin - begin);
      const to = Math.min(rows, this.#range.end - begin);
      if (from < to) yield { partition, from, to };
      begin += rows;
    }
  }

  #encoderOf(partition: number): PartitionEncoder {
    const index = this.#image.bankOf(partition);
    let encoder = this.#encoders.get(index);
    if (encoder === undefined) {
      const bank: TableBank = this.#image.banks[index]!;
      let rowsMax = 1;
      for (let p = 0; p < PARTITIONS; p++) rowsMax = Math.max(rowsMax, this.#image.rowsOf(p));
      encoder = partitionEncoder(this.#image, bank, { bufferBytes: this.#bufferBytes, rowsMax });
      this.#encoders.set(index, encoder);
    }
    return encoder;
  }

  /**
   * The slots of a partition from the `from`-th row on to before the `to`-th, those of expired rows left out. The
   * others are in the order that they alone would have; a partition that lies in several shards is cut in proportion.
   */
  #selected(encoder: PartitionEncoder, partition: number, from: number, to: number): Uint32Array {
    const rows = this.#image.rowsOf(partition);
    let slots = this.#kept(encoder.select(partition, rows), partition);
    const { length } = slots;
    if (length === rows) return slots.subarray(from, to);
    if (bucketsLog2For(partition, length) !== bucketsLog2For(partition, rows))
      slots = this.#kept(encoder.select(partition, length), partition);
    const [begin, end] = [from, to].map((row) => Math.floor((row * length) / rows));
    return slots.subarray(begin, end);
  }

  /** The slots whose rows have not expired, moved to the front of the same array. */
  #kept(slots: Uint32Array, partition: number): Uint32Array {
    const days = this.#image.table.expireDays;
    const newest = this.#image.maxUpdateSec;
    // Rows may be as old as time 0; most tables have nothing that old and nothing to look at.
    if (!this.#expire || (days === null && newest < DEFAULT_EXPIRE_DAYS * DAY_SEC)) return slots;
    const { u32 } = this.#image.banks[this.#image.bankOf(partition)]!.views;
    let kept = 0;
    for (const slot of slots) {
      const featureSlot = (u32[idWordOf(slot) * 2 + 1]! >>> 16) & 0x7fff;
      const expireDays = days === null ? DEFAULT_EXPIRE_DAYS : days[featureSlot]!;
      if (newest - u32[(slot + SLOT.time) / 4]! < expireDays * DAY_SEC) slots[kept++] = slot;
    }
    return slots.subarray(0, kept);
  }
}

/** Hands every chunk to `write`, one behind the one being made. */
export async function writeChunks(
  chunks: Iterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let pending: Promise<void> = Promise.resolve();
  try {
    for (const chunk of chunks) {
      await pending;
      pending = write(chunk);
      // Whoever fails first is heard below; this keeps a failed write from going unheard while the next chunk is made.
      pending.catch(() => {});
    }
  } finally {
    await pending;
  }
}
