/**
 * @file A TFRecord file of tf.Example as blocks of columns: whole records go through the kernel that decodes them,
 * those that it leaves go through the functions that make rows as objects of them, so that both ways give the same.
 * Features that no column asks for are skipped here, whatever they hold.
 */
import { MonolithError } from '../../base/errors.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { DECODE, DECODE_SLACK_BYTES, DECODED } from '../../memory/decode-layout.js';
import { checkPayload, cutPayload, payloadSize, recordRow } from '../files/example-records.js';
import { exampleRow } from '../files/example-row.js';
import type { Block, BlockMaker } from './block.js';
import { type ByteSource, fill } from './byte-source.js';
import { checkColumns } from './check-columns.js';
import { SlowRows } from './slow-rows.js';

const INPUT_BYTES = 1 << 20;
const FRAME_BYTES = RECORD_HEADER_BYTES + RECORD_FOOTER_BYTES;

export class ExampleBlocks {
  readonly #file: string;
  readonly #maker: BlockMaker;
  readonly #slow: SlowRows;
  #record = 0;
  #byte = 0;

  constructor(file: string, maker: BlockMaker) {
    this.#file = file;
    this.#maker = maker;
    this.#slow = new SlowRows(maker);
  }

  /** Blocks of all records; one is good until the next is asked for. */
  async *blocks(source: ByteSource): AsyncGenerator<Block> {
    const { decoder } = this.#maker;
    decoder.describeNames();
    let bytes = decoder.input(INPUT_BYTES);
    let filled = 0;
    for (;;) {
      const count = await fill(source, bytes.subarray(filled, bytes.length - DECODE_SLACK_BYTES));
      if (count === 0) break;
      filled += count;
      if (this.#record === 0) this.#checkColumns(bytes.subarray(0, filled));
      const used = yield* this.#records(bytes, filled);
      bytes.copyWithin(0, used, filled);
      filled -= used;
      if (filled < RECORD_HEADER_BYTES) continue;
      const needed = payloadSize(bytes, filled, this.#place) + FRAME_BYTES + DECODE_SLACK_BYTES;
      if (needed > bytes.length) bytes = decoder.input(Math.max(needed, 2 * bytes.length));
    }
    if (filled > 0) {
      const size = payloadSize(bytes, filled, this.#place);
      throw cutPayload(this.#place, filled - RECORD_HEADER_BYTES, size);
    }
    if (this.#record === 0) throw new MonolithError('ML_DATASET', { reason: `${this.#file} is empty` });
    yield* this.#slow.rest();
  }

  get #place() {
    return { file: this.#file, record: this.#record, byte: this.#byte };
  }

  /** Blocks of the whole records up to `end`; returns how many bytes they have. */
  *#records(bytes: Uint8Array, end: number): Generator<Block, number> {
    const { decoder } = this.#maker;
    const { kernels, plan, from, blockRows } = decoder;
    for (let at = 0; ; ) {
      const status = kernels.decodeExamples(plan, from + at, from + end, 0, blockRows);
      const next = decoder.word(DECODE.next) - from;
      const rows = decoder.word(DECODE.rows);
      this.#record += rows;
      this.#byte += next - at;
      at = next;
      if (rows > 0) {
        yield* this.#slow.rest();
        yield this.#maker.block(rows);
      }
      if (status === DECODED.end) return at;
      if (status !== DECODED.odd) continue;
      at += this.#slowRecord(bytes.subarray(at, end));
      yield* this.#slow.enough();
    }
  }

  /** Reads the record at the beginning of `bytes` as an object; how many bytes it has. */
  #slowRecord(bytes: Uint8Array): number {
    const place = this.#place;
    const size = payloadSize(bytes, bytes.length, place);
    const stop = RECORD_HEADER_BYTES + size;
    // What rows hold of the bytes must outlive them.
    const payload = bytes.slice(RECORD_HEADER_BYTES, stop);
    checkPayload(payload, bytes.subarray(stop, stop + RECORD_FOOTER_BYTES), place);
    const row = recordRow(() => exampleRow(payload), place, this.#maker.onBadRow);
    if (row !== undefined) this.#slow.add(row);
    this.#record++;
    this.#byte += size + FRAME_BYTES;
    return size + FRAME_BYTES;
  }

  /** ML_COLUMN for a column that none of the first records has. */
  #checkColumns(bytes: Uint8Array): void {
    const rows = function* () {
      for (let at = 0; at + RECORD_HEADER_BYTES <= bytes.length; ) {
        const size = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
        const end = at + FRAME_BYTES + size;
        if (end > bytes.length) return;
        yield exampleRow(bytes.slice(at + RECORD_HEADER_BYTES, end - RECORD_FOOTER_BYTES));
        at = end;
      }
    };
    checkColumns(this.#file, this.#maker.cells, rows());
  }
}
