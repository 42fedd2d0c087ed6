/**
 * @file Rows of one bank as records, partition by partition, in the order of the buckets of their ids.
 *
 * The kernels do it in the bank's memory. Where they cannot, because a message has no fixed shape or the heap has no
 * room left for buffers, the TypeScript codec does the same more slowly: a table that fills its memory can still be
 * saved.
 */
import { EntryDumpCodec } from '../../io/entry-dump.js';
import { frameRecord, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { DUMP_SCRATCH_BYTES, DUMP_SLACK_BYTES } from '../../memory/dump-layout.js';
import { placeInBuckets } from '../../memory/hash.js';
import { idWordOf, SLOT } from '../../memory/table-layout.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import { BankScratch } from './bank-scratch.js';
import { writeDumpPlan } from './dump-plan.js';
import { bucketsLog2For, type TableImage } from './stored-table.js';

export interface PartitionEncoder {
  readonly maxRecordBytes: number;
  /** Bytes of each of the two buffers that can be filled. */
  readonly bufferBytes: number;
  /** Slots of a partition of this bank in the order that files of `ordered` rows have; good until the next call. */
  select(partition: number, ordered: number): Uint32Array;
  /**
   * Records of slots[start, start + count) of the last selection into buffer `which` from `at` on; returns their bytes.
   */
  encode(slots: Uint32Array, start: number, count: number, which: number, at: number): number;
  bytes(which: number, end: number): Uint8Array;
  close(): void;
}

export interface EncoderOptions {
  readonly bufferBytes: number;
  /** Rows of the largest partition that will be selected. */
  readonly rowsMax: number;
}

export function partitionEncoder(image: TableImage, bank: TableBank, options: EncoderOptions): PartitionEncoder {
  return KernelEncoder.create(image, bank, options) ?? new PlainEncoder(image, bank, options);
}

class KernelEncoder implements PartitionEncoder {
  readonly maxRecordBytes: number;
  readonly bufferBytes: number;
  readonly #image: TableImage;
  readonly #scratch: BankScratch;
  readonly #at: { plan: number; slots: number; places: number; work: number; buffers: readonly number[] };

  private constructor(image: TableImage, scratch: BankScratch, maxRecordBytes: number, at: number[], bytes: number) {
    this.#image = image;
    this.#scratch = scratch;
    this.maxRecordBytes = maxRecordBytes;
    this.bufferBytes = bytes;
    const [plan, slots, places, work, first, second] = at as [number, number, number, number, number, number];
    this.#at = { plan, slots, places, work, buffers: [first, second] };
  }

  /** Null when the messages have no fixed shape or the heap is full. */
  static create(image: TableImage, bank: TableBank, { bufferBytes, rowsMax }: EncoderOptions): KernelEncoder | null {
    const scratch = new BankScratch(bank);
    const plan = writeDumpPlan(image, scratch);
    if (plan === null) return null;
    const bytes = Math.max(bufferBytes, 2 * plan.maxRecordBytes);
    const at = [
      plan.address,
      scratch.alloc(rowsMax * 4),
      scratch.alloc(rowsMax * 8),
      scratch.alloc(DUMP_SCRATCH_BYTES),
      // The heap hands out powers of two: what kernels write beyond the last record is taken from the buffer.
      scratch.alloc(bytes),
      scratch.alloc(bytes),
    ];
    if (at.includes(0)) {
      scratch.free();
      return null;
    }
    return new KernelEncoder(image, scratch, plan.maxRecordBytes, at, bytes - DUMP_SLACK_BYTES);
  }

  select(partition: number, ordered: number): Uint32Array {
    const { views, kernels } = this.#scratch.bank;
    const { slots, places } = this.#at;
    const rows = this.#image.rowsOf(partition);
    const table = this.#image.table.addresses[this.#image.bankOf(partition)]!;
    const found = kernels.slotsInOrder(table, partition, bucketsLog2For(partition, ordered), rows, slots, places);
    return views.u32.subarray(slots / 4, slots / 4 + found);
  }

  encode(slots: Uint32Array, start: number, count: number, which: number, at: number): number {
    const { plan, work, buffers } = this.#at;
    const from = slots.byteOffset + 4 * start;
    return this.#scratch.bank.kernels.encodeEntries(plan, from, count, buffers[which]! + at, work) >>> 0;
  }

  bytes(which: number, end: number): Uint8Array {
    const at = this.#at.buffers[which]!;
    return this.#scratch.bank.views.u8.subarray(at, at + end);
  }

  close(): void {
    this.#scratch.free();
  }
}

class PlainEncoder implements PartitionEncoder {
  readonly maxRecordBytes: number;
  readonly bufferBytes: number;
  readonly #image: TableImage;
  readonly #bank: TableBank;
  readonly #codec: EntryDumpCodec;
  readonly #buffers: readonly { readonly bytes: Uint8Array; readonly view: DataView }[];

  constructor(image: TableImage, bank: TableBank, { bufferBytes }: EncoderOptions) {
    this.#image = image;
    this.#bank = bank;
    this.#codec = new EntryDumpCodec(image.table.dumpSegments);
    this.maxRecordBytes = this.#codec.maxBytes + 16;
    this.bufferBytes = Math.max(bufferBytes, 2 * this.maxRecordBytes);
    this.#buffers = [0, 1].map(() => {
      const bytes = new Uint8Array(this.bufferBytes);
      return { bytes, view: new DataView(bytes.buffer) };
    });
  }

  select(partition: number, ordered: number): Uint32Array {
    const { i64 } = this.#bank.views;
    const slots = new Uint32Array(this.#image.rowsOf(partition));
    this.#image.scan(partition, slots);
    const bucketsLog2 = bucketsLog2For(partition, ordered);
    const places = new Map(Array.from(slots, (slot) => [slot, placeInBuckets(i64[idWordOf(slot)]!, bucketsLog2)]));
    return slots.sort((a, b) => (places.get(a)! < places.get(b)! ? -1 : 1));
  }

  encode(slots: Uint32Array, start: number, count: number, which: number, at: number): number {
    const { u32, f32, i64 } = this.#bank.views;
    const { dim, stateFloats } = this.#image;
    const { bytes, view } = this.#buffers[which]!;
    let end = at;
    for (const slot of slots.subarray(start, start + count)) {
      const row = u32[(slot + SLOT.row) / 4]! / 4;
      const entry = {
        id: i64[idWordOf(slot)]!,
        lastUpdateSec: u32[(slot + SLOT.time) / 4]!,
        weights: f32.subarray(row, row + dim),
        state: f32.subarray(row + dim, row + dim + stateFloats),
      };
      end += frameRecord(bytes, view, end, this.#codec.encode(entry, bytes, view, end + RECORD_HEADER_BYTES));
    }
    return end - at;
  }

  bytes(which: number, end: number): Uint8Array {
    return this.#buffers[which]!.bytes.subarray(0, end);
  }

  close(): void {}
}
