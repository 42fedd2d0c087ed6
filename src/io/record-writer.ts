/**
 * @file Writes TFRecord files: length, checksum of the length, payload, checksum of the payload.
 *
 * Payloads are encoded straight into the writer's buffer (`begin`, `end`) so that a table of millions of rows makes no
 * garbage; `add` copies a ready payload. Both are synchronous: the caller awaits `flush` when `full` says so.
 */
import { crc32c, maskCrc, maskedCrc32c } from '../base/crc32c.js';

export const RECORD_HEADER_BYTES = 12;
export const RECORD_FOOTER_BYTES = 4;

export interface ByteSink {
  /** The bytes may be reused once the promise resolves. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Puts a frame around the payload that begins at `at + RECORD_HEADER_BYTES`; returns the size of the record. */
export function frameRecord(bytes: Uint8Array, view: DataView, at: number, payloadBytes: number): number {
  const payloadAt = at + RECORD_HEADER_BYTES;
  view.setUint32(at, payloadBytes % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(payloadBytes / 2 ** 32), true);
  view.setUint32(at + 8, maskedCrc32c(bytes.subarray(at, at + 8)), true);
  const payload = bytes.subarray(payloadAt, payloadAt + payloadBytes);
  view.setUint32(payloadAt + payloadBytes, maskedCrc32c(payload), true);
  return RECORD_HEADER_BYTES + payloadBytes + RECORD_FOOTER_BYTES;
}

export class RecordWriter {
  readonly #sink: ByteSink;
  readonly #flushBytes: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;
  #count = 0;
  // Rows of one table mostly have one size, so the checksum of the length is nearly always the last one.
  #lastSize = -1;
  #lastSizeCrc = 0;

  constructor(sink: ByteSink, flushBytes = 1 << 20) {
    this.#sink = sink;
    this.#flushBytes = flushBytes;
    this.#bytes = new Uint8Array(flushBytes + 4096);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Records written so far. */
  get count(): number {
    return this.#count;
  }

  /** The buffer that `begin` speaks of; it changes when a payload does not fit, so read it after `begin`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  get view(): DataView {
    return this.#view;
  }

  get full(): boolean {
    return this.#length >= this.#flushBytes;
  }

  /** Makes room for a payload of up to `maxBytes` and returns where in `bytes` it begins. */
  begin(maxBytes: number): number {
    const needed = this.#length + RECORD_HEADER_BYTES + maxBytes + RECORD_FOOTER_BYTES;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return this.#length + RECORD_HEADER_BYTES;
  }

  /** Closes the record that `begin` opened. */
  end(payloadBytes: number): void {
    const at = this.#length;
    const payloadAt = at + RECORD_HEADER_BYTES;
    this.#view.setUint32(at, payloadBytes % 2 ** 32, true);
    this.#view.setUint32(at + 4, Math.floor(payloadBytes / 2 ** 32), true);
    if (payloadBytes !== this.#lastSize) {
      this.#lastSize = payloadBytes;
      this.#lastSizeCrc = maskCrc(crc32c(this.#bytes.subarray(at, at + 8)));
    }
    this.#view.setUint32(at + 8, this.#lastSizeCrc, true);
    const payload = this.#bytes.subarray(payloadAt, payloadAt + payloadBytes);
    this.#view.setUint32(payloadAt + payloadBytes, maskCrc(crc32c(payload)), true);
    this.#length = payloadAt + payloadBytes + RECORD_FOOTER_BYTES;
    this.#count++;
  }

  add(payload: Uint8Array): void {
    const at = this.begin(payload.length);
    this.#bytes.set(payload, at);
    this.end(payload.length);
  }

  /** `add`, then `flush` when the buffer is full. */
  async write(payload: Uint8Array): Promise<void> {
    this.add(payload);
    if (this.full) await this.flush();
  }

  /** Hands everything to the sink. The file is complete only after the last flush. */
  async flush(): Promise<void> {
    if (this.#length === 0) return;
    await this.#sink.write(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
  }
}
