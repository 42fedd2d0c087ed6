/**
 * @file Turns records in the memory of a bank into rows of a table, or only checks that they are such rows.
 *
 * Rows are gathered in columns and go into the table a few hundred at a time. The kernel decodes what looks as this
 * package and the reference write it; any other record is decoded by the TypeScript codec into the same columns.
 */

import { crc32c, crcHex, maskCrc } from '../../base/crc32c.js';
import { MonolithError } from '../../base/errors.js';
import { EntryDumpCodec, type EntryRow } from '../../io/entry-dump.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { DECODE_END, DECODE_PROGRESS, DECODE_PROGRESS_BYTES } from '../../memory/dump-layout.js';
import { BankScratch } from './bank-scratch.js';
import { type DumpPlan, writeDumpPlan } from './dump-plan.js';
import { corruptRecord, type RecordPlace, rowError } from './row-errors.js';
import { RowSink } from './row-sink.js';
import type { TableImage } from './stored-table.js';

/** Rows that go into the table together: few enough that they stay near the processor. */
const COLUMN_ROWS_MAX = 512;
const COLUMN_BYTES = 1 << 18;
const FRAME_BYTES = RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES;

export class RowDecoder {
  /** Memory the records must be in. */
  readonly scratch: BankScratch;
  /** Bytes of the largest record that a row of this table can need, with much room for fields of other writers. */
  readonly recordBytesMax: number;
  /** CRC-32C of all records taken since `begin`. */
  crc = 0;
  /** Newest time of the rows seen. */
  maxUpdateSec = 0;
  readonly #image: TableImage;
  #plan: DumpPlan | null | undefined;
  readonly #codec: EntryDumpCodec;
  readonly #row: EntryRow;
  readonly #sink: RowSink;
  readonly #progress: number;
  readonly #columnRows: number;
  #filled = 0;

  /** With `load` false, rows are decoded and dropped. */
  constructor(image: TableImage, load: boolean) {
    this.#image = image;
    this.scratch = new BankScratch(image.banks[0]!);
    try {
      this.#codec = new EntryDumpCodec(image.table.dumpSegments);
      this.#row = this.#codec.makeRow();
      this.recordBytesMax = Math.max(1 << 12, 4 * this.#codec.maxBytes);
      this.#progress = this.alloc(DECODE_PROGRESS_BYTES);
      this.#columnRows = Math.max(
        8,
        Math.min(COLUMN_ROWS_MAX, Math.floor(Math.min(COLUMN_BYTES, this.scratch.heapBytes / 64) / image.rowBytes)),
      );
      this.#sink = new RowSink(image, this.scratch, { rows: this.#columnRows, load });
    } catch (cause) {
      this.scratch.free();
      throw cause;
    }
  }

  /** Memory of the bank the records must be in; ML_MEMORY when there is none. */
  alloc(bytes: number): number {
    const at = this.scratch.alloc(bytes);
    if (at === 0) throw this.#memoryError(bytes);
    return at;
  }

  /** Starts a file. Rows that a failed one left in the columns are dropped. */
  begin(): void {
    this.crc = 0;
    this.maxUpdateSec = 0;
    this.#filled = 0;
  }

  /**
   * Takes whole records of [begin, end), at most `limit`. Returns where it stopped and how many there were;
   * `place.record` is the number of the first.
   */
  take(begin: number, end: number, place: RecordPlace, limit = Number.POSITIVE_INFINITY) {
    const { kernels, views } = this.scratch.bank;
    const { ids, times, rows, stride } = this.#sink;
    const plan = this.#planned();
    let at = begin;
    let count = 0;
    while (count < limit) {
      const room = Math.min(this.#columnRows - this.#filled, limit - count);
      let why: number = DECODE_END.unusual;
      if (plan !== null) {
        const filled = this.#filled;
        const [idsAt, timesAt, rowsAt] = [ids + 8 * filled, times + 4 * filled, rows + stride * filled];
        const from = at;
        const progress = views.u32.subarray(this.#progress / 4, this.#progress / 4 + 3);
        progress[DECODE_PROGRESS.crc] = this.crc;
        const found = kernels.decodeEntries(
          plan.address,
          at,
          end,
          room,
          idsAt,
          timesAt,
          rowsAt,
          stride,
          this.#progress,
        );
        at = progress[DECODE_PROGRESS.next]!;
        why = progress[DECODE_PROGRESS.why]!;
        this.crc = crc32c(views.u8.subarray(from, at), this.crc);
        if (!this.#image.isServing && this.crc !== progress[DECODE_PROGRESS.crc]) {
          throw firstDamage(views.u8.subarray(from, at), { file: place.file, record: place.record + count });
        }
        count += found;
        this.#filled += found;
      }
      if (why === DECODE_END.needsBytes) break;
      if (why === DECODE_END.unusual && this.#filled < this.#columnRows) {
        const bytes = this.#takeUnusual(at, end, { file: place.file, record: place.record + count });
        if (bytes === 0) break;
        at += bytes;
        count++;
      }
      if (this.#filled === this.#columnRows) this.flush();
    }
    return { at, count };
  }

  /** Puts the rows gathered so far into the table. */
  flush(): void {
    const { u32 } = this.scratch.bank.views;
    const timesAt = this.#sink.times / 4;
    for (let i = 0; i < this.#filled; i++) this.maxUpdateSec = Math.max(this.maxUpdateSec, u32[timesAt + i]!);
    this.#sink.put(this.#filled);
    this.#filled = 0;
  }

  close(): void {
    this.#sink.close();
    this.scratch.free();
  }

  /**
   * The plan for the kernel, out of what all that cannot be done without has left. Without room for it all records
   * count as unusual: slower, but a full table can be replaced.
   */
  #planned(): DumpPlan | null {
    if (this.#plan === undefined) {
      const plan = writeDumpPlan(this.#image, this.scratch);
      this.#plan = plan?.address === 0 ? null : plan;
    }
    return this.#plan;
  }

  /** Decodes the record at `at` into the columns; returns its bytes, 0 when more of them are needed. */
  #takeUnusual(at: number, end: number, place: RecordPlace): number {
    const { u8 } = this.scratch.bank.views;
    const payload = framedPayload(u8.subarray(at, end), place, this.recordBytesMax);
    if (payload === null) return 0;
    try {
      // A copy: the decoder reads through views that must not be of shared memory.
      const weights = this.#codec.decodeSome(payload.slice(), this.#row, { weightsOnly: this.#image.isServing });
      this.#sink.set(this.#filled, this.#row, weights);
      this.#filled++;
    } catch (cause) {
      throw rowError(this.#image.name, place, cause);
    }
    const bytes = payload.length + FRAME_BYTES;
    this.crc = crc32c(u8.subarray(at, at + bytes), this.crc);
    return bytes;
  }

  #memoryError(bytes: number): MonolithError {
    return new MonolithError('ML_MEMORY', { name: `restore of table ${this.#image.name}`, bytes, free: 'too few' });
  }
}

/** The error of the first record of `bytes` whose checksum does not fit. */
function firstDamage(bytes: Uint8Array, { file, record: first }: RecordPlace): MonolithError {
  let record = first;
  try {
    for (let at = 0; at < bytes.length; record++) {
      at += framedPayload(bytes.subarray(at), { file, record }, Number.POSITIVE_INFINITY)!.length + FRAME_BYTES;
    }
  } catch (cause) {
    if (cause instanceof MonolithError) return cause;
    throw cause;
  }
  return corruptRecord({ file, record: first }, 'payload checksum', 'one of the records from here on does not fit');
}

/**
 * The payload of the record that `bytes` begins with; null when it ends later. ML_CKPT_CORRUPT for checksums that do
 * not fit, and for a size beyond `maxBytes`, which no record of these files has.
 */
function framedPayload(bytes: Uint8Array, place: RecordPlace, maxBytes: number): Uint8Array | null {
  if (bytes.length < RECORD_HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  check(view.getUint32(8, true), bytes.subarray(0, 8), 'length', place);
  const size = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (size + FRAME_BYTES > maxBytes) throw corruptRecord(place, 'length', `${size} bytes are too many for a row`);
  if (bytes.length < size + FRAME_BYTES) return null;
  const payload = bytes.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + size);
  check(view.getUint32(RECORD_HEADER_BYTES + size, true), payload, 'payload', place);
  return payload;
}

function check(stored: number, bytes: Uint8Array, field: string, place: RecordPlace): void {
  const found = maskCrc(crc32c(bytes));
  if (stored === found) return;
  throw corruptRecord(place, `${field} checksum`, `stored ${crcHex(stored)}, calculated ${crcHex(found)}`);
}

/** The error of a file that ends within a record of which `left` bytes are there. */
export function cutRecord(left: number, header: Uint8Array, place: RecordPlace): MonolithError {
  if (left < RECORD_HEADER_BYTES) {
    return corruptRecord(place, 'length', `file ends after ${left} of ${RECORD_HEADER_BYTES} header bytes`);
  }
  const size = new DataView(header.buffer, header.byteOffset).getUint32(0, true) + RECORD_FOOTER_BYTES;
  return corruptRecord(place, 'payload', `file ends after ${left - RECORD_HEADER_BYTES} of ${size} bytes`);
}
