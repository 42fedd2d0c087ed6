/**
 * @file Writes a tensor bundle: raw tensor bytes to a sink, then the index that finds them.
 */

import { crc32c, maskCrc } from '../base/crc32c.js';
import {
  BUNDLE_DTYPES,
  type BundleTensor,
  bundleError,
  elementCount,
  encodeEntry,
  encodeHeader,
  type WrittenEntry,
} from './bundle-format.js';
import { putVarint, varintSize } from './proto-writer.js';
import type { ByteSink } from './record-writer.js';
import { compareBytes, SstableWriter } from './sstable.js';

const COPY_BYTES = 1 << 20;

export class BundleWriter {
  #sink: ByteSink;
  #shard = 0;
  readonly #entries = new Map<string, WrittenEntry>();
  readonly #copy = new Uint8Array(COPY_BYTES);
  #offset = 0;

  /** Data goes to `sink`, the first data file of the bundle. */
  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** What comes next goes to the next data file. */
  nextShard(sink: ByteSink): void {
    this.#sink = sink;
    this.#shard++;
    this.#offset = 0;
  }

  async add(tensor: BundleTensor): Promise<void> {
    const { name, dtype, shape, data } = tensor;
    if (name === '') throw bundleError(name, 'a tensor has no name');
    if (this.#entries.has(name)) throw bundleError(name, `two tensors have the same name: ${name}`);
    if (data.length !== elementCount(shape)) {
      throw bundleError(name, `tensor ${name} has ${data.length} values for shape [${shape.join(', ')}]`);
    }
    const offset = this.#offset;
    const crc = isStrings(data) ? await this.#writeStrings(data) : await this.#writeNumbers(data, dtype, name);
    this.#entries.set(name, {
      dtype,
      shape,
      shard: this.#shard,
      offset,
      size: this.#offset - offset,
      crc: maskCrc(crc),
    });
  }

  /** The bytes of the index file. */
  finish(): Uint8Array<ArrayBuffer> {
    const encoder = new TextEncoder();
    const keyed = [...this.#entries].map(([name, entry]) => ({ key: encoder.encode(name), entry }));
    keyed.sort((a, b) => compareBytes(a.key, b.key));
    const table = new SstableWriter();
    table.add(new Uint8Array(0), encodeHeader(this.#shard + 1));
    for (const { key, entry } of keyed) table.add(key, encodeEntry(entry));
    return table.finish();
  }

  async #writeNumbers(data: ArrayBufferView, dtype: BundleTensor['dtype'], name: string): Promise<number> {
    const width = 'BYTES_PER_ELEMENT' in data ? data.BYTES_PER_ELEMENT : 0;
    if (width !== BUNDLE_DTYPES[dtype].width) throw bundleError(name, `tensor ${name} does not hold ${dtype} values`);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let crc = 0;
    // Parameters live in shared memory: checksum and file must see the same copy, whatever other threads do.
    for (let at = 0; at < bytes.length; at += COPY_BYTES) {
      const source = bytes.subarray(at, at + COPY_BYTES);
      this.#copy.set(source);
      const part = this.#copy.subarray(0, source.length);
      crc = crc32c(part, crc);
      await this.#write(part);
    }
    return crc;
  }

  /**
   * Lengths, masked checksum of the lengths, then the strings; the checksums treat a length as a fixed-width number.
   */
  async #writeStrings(strings: readonly Uint8Array[]): Promise<number> {
    const lengths = new Uint8Array(strings.reduce((sum, s) => sum + varintSize(s.length), 0) + 4);
    const fixed = new Uint8Array(4 * strings.length);
    const fixedView = new DataView(fixed.buffer);
    let at = 0;
    strings.forEach((string, i) => {
      at = putVarint(lengths, at, string.length);
      fixedView.setUint32(4 * i, string.length, true);
    });
    let crc = crc32c(fixed);
    new DataView(lengths.buffer).setUint32(at, maskCrc(crc), true);
    crc = crc32c(lengths.subarray(at), crc);
    await this.#write(lengths);
    for (const string of strings) {
      crc = crc32c(string, crc);
      await this.#write(string);
    }
    return crc;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    await this.#sink.write(bytes);
    this.#offset += bytes.length;
  }
}

function isStrings(data: BundleTensor['data']): data is readonly Uint8Array[] {
  return Array.isArray(data);
}
