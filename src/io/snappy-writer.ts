/**
 * @file Compresses raw snappy blocks, and writes TensorFlow's stream of them.
 *
 * By hand because it is hot and the libraries are native addons. Matches are found as the format's own compressor does:
 * a table of the last place of every four bytes, and steps that grow while nothing is found, so that rows of floats,
 * which hardly compress, cost little.
 */
import type { ByteSink } from './record-writer.js';

/** Largest block that readers of the stream have room for. */
export const SNAPPY_BLOCK_BYTES = 262144;
/** Copies reach back at most this far, so that each is worth its two bytes of distance. */
const FRAGMENT_BYTES = 65536;
const TABLE_BITS = 14;
/** The last bytes of a fragment are literals: matching reads four bytes ahead. */
const MARGIN_BYTES = 15;

export function snappyMaxBytes(inputBytes: number): number {
  return 32 + inputBytes + Math.floor(inputBytes / 6);
}

/** Writes `input` as one raw block from `out[at]`, where `snappyMaxBytes` must be free; returns where it ends. */
export function snappyCompressInto(input: Uint8Array, out: Uint8Array, at = 0): number {
  let end = at;
  let size = input.length;
  for (; size >= 0x80; size = Math.floor(size / 0x80)) out[end++] = (size & 0x7f) | 0x80;
  out[end++] = size;
  for (let begin = 0; begin < input.length; begin += FRAGMENT_BYTES) {
    end = compressFragment(input, begin, Math.min(input.length, begin + FRAGMENT_BYTES), out, end);
  }
  return end;
}

export function snappyCompress(input: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(snappyMaxBytes(input.length));
  return out.slice(0, snappyCompressInto(input, out));
}

const table = new Uint16Array(1 << TABLE_BITS);

function compressFragment(input: Uint8Array, begin: number, end: number, out: Uint8Array, outAt: number): number {
  table.fill(0);
  const word = (at: number): number =>
    input[at]! | (input[at + 1]! << 8) | (input[at + 2]! << 16) | (input[at + 3]! << 24);
  const limit = end - MARGIN_BYTES;
  let at = outAt;
  let literalFrom = begin;
  let next = begin + 1;
  for (let skip = 32; next < limit; ) {
    const bytes = word(next);
    const cell = Math.imul(bytes, 0x1e35a7bd) >>> (32 - TABLE_BITS);
    const candidate = begin + table[cell]!;
    table[cell] = next - begin;
    if (candidate >= next || word(candidate) !== bytes) {
      next += skip++ >> 5;
      continue;
    }
    at = putLiteral(input, literalFrom, next, out, at);
    let length = 4;
    while (next + length < end && input[candidate + length] === input[next + length]) length++;
    at = putCopy(next - candidate, length, out, at);
    next += length;
    literalFrom = next;
    skip = 32;
  }
  return literalFrom < end ? putLiteral(input, literalFrom, end, out, at) : at;
}

function putLiteral(input: Uint8Array, from: number, to: number, out: Uint8Array, outAt: number): number {
  let at = outAt;
  const count = to - from - 1;
  if (count < 0) return at;
  if (count < 60) out[at++] = count << 2;
  else if (count < 256) {
    out[at++] = 60 << 2;
    out[at++] = count;
  } else {
    out[at++] = 61 << 2;
    out[at++] = count & 0xff;
    out[at++] = count >> 8;
  }
  out.set(input.subarray(from, to), at);
  return at + count + 1;
}

/** One or more copies; the first ones leave at least four bytes, the least that a short copy can say. */
function putCopy(distance: number, length: number, out: Uint8Array, outAt: number): number {
  let at = outAt;
  let left = length;
  const long = (count: number): void => {
    out[at++] = ((count - 1) << 2) | 2;
    out[at++] = distance & 0xff;
    out[at++] = distance >> 8;
    left -= count;
  };
  while (left >= 68) long(64);
  if (left > 64) long(60);
  if (left >= 12 || distance >= 2048) long(left);
  else {
    out[at++] = ((distance >> 8) << 5) | ((left - 4) << 2) | 1;
    out[at++] = distance & 0xff;
  }
  return at;
}

/**
 * Gathers bytes into blocks, compresses each and writes it behind its compressed size as a big-endian u32. What is
 * written in one call and larger than a block becomes several.
 */
export class SnappyStream implements ByteSink {
  readonly #sink: ByteSink;
  readonly #block = new Uint8Array(SNAPPY_BLOCK_BYTES);
  readonly #out = new Uint8Array(4 + snappyMaxBytes(SNAPPY_BLOCK_BYTES));
  #filled = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + SNAPPY_BLOCK_BYTES - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === SNAPPY_BLOCK_BYTES) await this.flush();
    }
  }

  /** Writes what is gathered as a block of its own; the stream is complete only after the last flush. */
  async flush(): Promise<void> {
    if (this.#filled === 0) return;
    const end = snappyCompressInto(this.#block.subarray(0, this.#filled), this.#out, 4);
    new DataView(this.#out.buffer).setUint32(0, end - 4);
    this.#filled = 0;
    await this.#sink.write(this.#out.subarray(0, end));
  }
}
