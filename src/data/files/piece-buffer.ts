/** @file Bytes that come in pieces, taken so many at a time. */
import { MonolithError } from '../../base/errors.js';

export class PieceBuffer {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #bytes: Uint8Array = new Uint8Array(0);
  /** Bytes that were taken so far. */
  offset = 0;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** How many bytes are there, once there are `count` of them or the end was reached. */
  async fill(count: number): Promise<number> {
    if (this.#bytes.length >= count) return this.#bytes.length;
    const found = [this.#bytes];
    let { length } = this.#bytes;
    while (length < count) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      found.push(next.value);
      length += next.value.length;
    }
    this.#bytes = found.length === 1 ? this.#bytes : Buffer.concat(found);
    return length;
  }

  /** The next `count` bytes, which `fill` found. */
  take(count: number): Uint8Array {
    if (count > this.#bytes.length) throw new MonolithError('ML_INTERNAL', { reason: 'bytes were not waited for' });
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    this.offset += count;
    return taken;
  }

  /** Leaves the source of the pieces where it is. */
  async close(): Promise<void> {
    await this.#pieces.return?.(undefined);
  }
}

/** A little-endian number of 64 bits at the beginning of `bytes`. */
export function u64(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}
