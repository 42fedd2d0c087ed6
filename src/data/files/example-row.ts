/**
 * @file A `tensorflow.Example` as a row, straight from its bytes: messages of this one form are read by hand because
 * they are what files of training data have by the million. `src/io/tf-example.ts` is for few.
 */
import { type DataRow, NO_COLUMN, noColumn } from './place.js';

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const text = new TextDecoder();

/** Bytes of a message that are gone over. */
class Cursor {
  readonly bytes: Buffer;
  at: number;
  end: number;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
    this.end = bytes.length;
  }

  /** A number below 2^53. */
  size(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 49) throw new RangeError('a length is too large');
    }
  }

  byte(): number {
    if (this.at >= this.end) throw new RangeError('the message ends early');
    return this.bytes[this.at++]!;
  }

  /** Where the next so many bytes end. */
  reach(count: number): number {
    if (!(count <= this.end - this.at)) throw new RangeError('a length reaches beyond the message');
    return this.at + count;
  }

  skip(wire: number): void {
    if (wire === WIRE.varint) while (this.byte() >= 0x80);
    else if (wire === WIRE.fixed64) this.at = this.reach(8);
    else if (wire === WIRE.fixed32) this.at = this.reach(4);
    else if (wire === WIRE.bytes) this.at = this.reach(this.size());
    else throw new RangeError(`${wire} is no wire type`);
  }

  /** Calls `visit` with the number of each field that has bytes, while the cursor stands at them and ends with them. */
  messages(end: number, visit: (field: number, end: number, wire: number) => void): void {
    const outer = this.end;
    this.end = end;
    while (this.at < end) {
      const tag = this.size();
      const wire = tag & 7;
      const field = tag >>> 3;
      if (wire === WIRE.bytes) {
        const inner = this.reach(this.size());
        visit(field, inner, wire);
        this.at = inner;
      } else visit(field, this.at, wire);
    }
    this.end = outer;
  }
}

/** Cells by the name of their feature; RangeError for bytes that are no example. */
export function exampleRow(payload: Uint8Array): DataRow {
  const row: Record<string, unknown> = {};
  const cursor = new Cursor(payload);
  cursor.messages(cursor.end, (field, features, wire) => {
    if (field !== 1 || wire !== WIRE.bytes) return passOver(cursor, wire);
    cursor.messages(features, (entryField, entry, entryWire) => {
      if (entryField !== 1 || entryWire !== WIRE.bytes) return passOver(cursor, entryWire);
      let name = '';
      let cell: unknown;
      cursor.messages(entry, (part, end, partWire) => {
        if (part === 1 && partWire === WIRE.bytes) name = text.decode(cursor.bytes.subarray(cursor.at, end));
        else if (part === 2 && partWire === WIRE.bytes) cell = featureCell(cursor, end);
        else passOver(cursor, partWire);
      });
      if (name === NO_COLUMN) throw noColumn();
      row[name] = cell;
    });
  });
  return row;
}

function passOver(cursor: Cursor, wire: number): void {
  if (wire !== WIRE.bytes) cursor.skip(wire);
}

/** The values of a feature: a list, or the one there is; undefined where there is none. */
function featureCell(cursor: Cursor, feature: number): unknown {
  let cell: unknown;
  cursor.messages(feature, (kind, end, wire) => {
    if (wire !== WIRE.bytes) return passOver(cursor, wire);
    if (kind < 1 || kind > 3) return;
    const values: unknown = kind === 1 ? texts(cursor, end) : kind === 2 ? floats(cursor, end) : integers(cursor, end);
    const list = values as ArrayLike<unknown>;
    cell = list.length > 1 ? list : list[0];
  });
  return cell;
}

function texts(cursor: Cursor, end: number): string[] {
  const found: string[] = [];
  cursor.messages(end, (field, value, wire) => {
    if (field === 1 && wire === WIRE.bytes) found.push(cursor.bytes.toString('utf8', cursor.at, value));
    else passOver(cursor, wire);
  });
  return found;
}

function floats(cursor: Cursor, end: number): Float32Array {
  const found: number[] = [];
  cursor.messages(end, (field, value, wire) => {
    if (field !== 1) return passOver(cursor, wire);
    const to = wire === WIRE.bytes ? value : cursor.reach(4);
    if ((to - cursor.at) % 4 !== 0) throw new RangeError('floats have 4 bytes');
    for (; cursor.at < to; cursor.at += 4) found.push(cursor.bytes.readFloatLE(cursor.at));
  });
  return Float32Array.from(found);
}

function integers(cursor: Cursor, end: number): BigInt64Array {
  const found: bigint[] = [];
  cursor.messages(end, (field, value, wire) => {
    if (field !== 1) return passOver(cursor, wire);
    if (wire === WIRE.varint) found.push(integer(cursor));
    else while (cursor.at < value) found.push(integer(cursor));
  });
  return BigInt64Array.from(found);
}

/** A varint of 64 bits, in two halves while it is short. */
function integer(cursor: Cursor): bigint {
  let low = 0;
  let scale = 1;
  for (let count = 0; count < 7; count++, scale *= 128) {
    const byte = cursor.byte();
    low += (byte & 0x7f) * scale;
    if (byte < 0x80) return BigInt(low);
  }
  let value = BigInt(low);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = cursor.byte();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw new RangeError('an int64 has more than ten bytes');
}

const TAG = { entry: 0x0a, name: 0x0a, feature: 0x12, bytesList: 0x0a, floatList: 0x12, int64List: 0x1a, values: 0x0a };

/**
 * Makes rows of examples as writers write them: names before values, packed values, lengths of one or two bytes. Most
 * records of a file have the same features in the same order, so their names are compared and not decoded again. What
 * is written in another way goes through `exampleRow`.
 */
export class ExampleRows {
  /** Names by their place in the record before. */
  readonly #names: { readonly bytes: Uint8Array; readonly text: string }[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  row(payload: Uint8Array): DataRow {
    this.#bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
    this.#at = 0;
    return this.#plainRow(payload.length) ?? exampleRow(payload);
  }

  #plainRow(end: number): DataRow | undefined {
    const row: Record<string, unknown> = {};
    if (this.#open(TAG.entry, end) !== end) return undefined;
    for (let place = 0; this.#at < end; place++) {
      const entry = this.#open(TAG.entry, end);
      const named = this.#open(TAG.name, entry);
      if (named < 0) return undefined;
      const name = this.#name(place, named);
      if (name === NO_COLUMN) return undefined;
      this.#at = named;
      if (this.#open(TAG.feature, entry) !== entry) return undefined;
      const cell = this.#cell(entry);
      if (cell === undefined || this.#at !== entry) return undefined;
      row[name] = cell;
    }
    return row;
  }

  /** Where the bytes behind this tag end, with the cursor at them; -1 where another tag is, or they reach too far. */
  #open(tag: number, end: number): number {
    const bytes = this.#bytes;
    let at = this.#at;
    if (at + 1 >= end || bytes[at] !== tag) return -1;
    let size = bytes[at + 1]!;
    at += 2;
    if (size >= 0x80) {
      const high = bytes[at++]!;
      if (high >= 0x80) return -1;
      size = (size & 0x7f) | (high << 7);
    }
    this.#at = at;
    return at + size <= end ? at + size : -1;
  }

  #name(place: number, end: number): string {
    const known = this.#names[place];
    const length = end - this.#at;
    if (known !== undefined && known.bytes.length === length) {
      let n = 0;
      while (n < length && known.bytes[n] === this.#bytes[this.#at + n]) n++;
      if (n === length) return known.text;
    }
    const bytes = Uint8Array.from(this.#bytes.subarray(this.#at, end));
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#names[place] = { bytes, text };
    return text;
  }

  /** The values of a feature that ends at `end`; undefined where they are not plain. */
  #cell(end: number): unknown {
    const kind = this.#bytes[this.#at];
    if (kind === undefined || this.#open(kind, end) !== end) return undefined;
    const values = this.#open(TAG.values, end);
    if (values !== end) return undefined;
    const from = this.#at;
    this.#at = end;
    if (kind === TAG.bytesList) return this.#bytes.toString('utf8', from, end);
    // A list without values is a missing one.
    if (from === end) return undefined;
    if (kind === TAG.floatList) return this.#floats(from, end);
    if (kind !== TAG.int64List) return undefined;
    return this.#integers(from, end);
  }

  #integers(from: number, end: number): unknown {
    const bytes = this.#bytes;
    const found: bigint[] = [];
    for (let at = from; at < end; ) {
      let [low, scale, byte] = [0, 1, 0x80];
      const stop = Math.min(end, at + 7);
      while (at < stop && byte >= 0x80) {
        byte = bytes[at++]!;
        low += (byte & 0x7f) * scale;
        scale *= 128;
      }
      let value = BigInt(low);
      for (let shift = 49n; byte >= 0x80; shift += 7n) {
        if (at >= end || shift > 63n) return undefined;
        byte = bytes[at++]!;
        value |= BigInt(byte & 0x7f) << shift;
      }
      found.push(BigInt.asIntN(64, value));
    }
    return found.length === 1 ? found[0] : BigInt64Array.from(found);
  }

  #floats(from: number, end: number): unknown {
    if (end - from === 4) return this.#bytes.readFloatLE(from);
    if ((end - from) % 4 !== 0) return undefined;
    const found = new Float32Array((end - from) / 4);
    for (let n = 0; n < found.length; n++) found[n] = this.#bytes.readFloatLE(from + 4 * n);
    return found;
  }
}
