/**
 * @file One block of a sorted table: keys with shared prefixes, values, restart points.
 *
 * ```
 * | varint shared | varint unshared | varint value size | key rest | value | ... | u32 restart offsets | u32 count |
 * ```
 */
import { checkLimit } from '../base/limits.js';
import { putVarint } from './proto-writer.js';

export interface TableEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class BlockBuilder {
  readonly #restartInterval: number;
  #bytes = new Uint8Array(1024);
  #length = 0;
  #restarts: number[] = [0];
  #sinceRestart = 0;
  #lastKey: Uint8Array = new Uint8Array(0);
  #count = 0;

  constructor(restartInterval: number) {
    this.#restartInterval = restartInterval;
  }

  get count(): number {
    return this.#count;
  }

  get lastKey(): Uint8Array {
    return this.#lastKey;
  }

  /** Size of the block if it were finished now. */
  get sizeBytes(): number {
    return this.#length + 4 * this.#restarts.length + 4;
  }

  add(key: Uint8Array, value: Uint8Array): void {
    let shared = 0;
    if (this.#sinceRestart < this.#restartInterval) shared = commonPrefix(this.#lastKey, key);
    else {
      this.#restarts.push(this.#length);
      this.#sinceRestart = 0;
    }
    this.#reserve(30 + key.length + value.length);
    let at = putVarint(this.#bytes, this.#length, shared);
    at = putVarint(this.#bytes, at, key.length - shared);
    at = putVarint(this.#bytes, at, value.length);
    this.#bytes.set(key.subarray(shared), at);
    at += key.length - shared;
    this.#bytes.set(value, at);
    this.#length = at + value.length;
    this.#lastKey = new Uint8Array(key);
    this.#sinceRestart++;
    this.#count++;
  }

  finish(): Uint8Array {
    this.#reserve(4 * this.#restarts.length + 4);
    const view = new DataView(this.#bytes.buffer);
    let at = this.#length;
    for (const word of [...this.#restarts, this.#restarts.length]) {
      view.setUint32(at, word, true);
      at += 4;
    }
    return this.#bytes.slice(0, at);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length);
  let count = 0;
  while (count < limit && a[count] === b[count]) count++;
  return count;
}

/** Entries of a block in order. `refuse` throws the error of the caller's file. */
export function* readBlock(block: Uint8Array, refuse: (reason: string) => never): Generator<TableEntry> {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  if (block.length < 8) refuse('a block is too short');
  const restartCount = view.getUint32(block.length - 4, true);
  const end = block.length - 4 - 4 * restartCount;
  if (restartCount === 0 || end < 0) refuse('a block has an impossible restart count');
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 28; scale *= 0x80) {
      if (at >= end) refuse('a block entry is cut off');
      const byte = block[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return refuse('a block entry has an oversized length');
  };
  let key: Uint8Array = new Uint8Array(0);
  while (at < end) {
    const shared = varint();
    const unshared = varint();
    const valueBytes = varint();
    if (shared > key.length || unshared + valueBytes > end - at) refuse('a block entry is out of range');
    // A key may share all of the one before it: three bytes of the file then make a copy of it.
    checkLimit('indexKeyBytes', shared + unshared, (reason) => refuse(`the size of a key: ${reason}`));
    const next = new Uint8Array(shared + unshared);
    next.set(key.subarray(0, shared));
    next.set(block.subarray(at, at + unshared), shared);
    at += unshared;
    key = next;
    yield { key, value: block.subarray(at, at + valueBytes) };
    at += valueBytes;
  }
}
