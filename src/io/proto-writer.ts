/**
 * @file Writes protobuf wire format into one growing buffer.
 *
 * By hand because the table dump writes millions of small messages and a general library allocates an object per field.
 * Callers write fields in ascending order and leave out zero values where the message is proto3.
 */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_FIXED32 = 5;

const encoder = new TextEncoder();

/** Bytes a varint of the non-negative safe integer `value` takes. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Stores a varint at `at` and returns the position after it. `value` is a non-negative safe integer. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  let position = at;
  while (rest >= 0x80) {
    bytes[position++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[position++] = rest;
  return position;
}

export class ProtoWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;

  constructor(capacityBytes = 256) {
    this.#bytes = new Uint8Array(capacityBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  tag(field: number, wire: number): this {
    return this.varint(field * 8 + wire);
  }

  varint(value: number): this {
    this.#reserve(10);
    this.#length = putVarint(this.#bytes, this.#length, value);
    return this;
  }

  /** A signed 64-bit value; negative values take ten bytes, as int32, int64 and enum do. */
  varint64(value: bigint): this {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
    return this;
  }

  int64Field(field: number, value: bigint | number): this {
    return this.tag(field, WIRE_VARINT).varint64(BigInt(value));
  }

  fixed32Field(field: number, value: number): this {
    this.tag(field, WIRE_FIXED32).#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
    return this;
  }

  floatField(field: number, value: number): this {
    this.tag(field, WIRE_FIXED32).#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
    return this;
  }

  sfixed64Field(field: number, value: bigint): this {
    this.tag(field, WIRE_FIXED64).#reserve(8);
    this.#view.setBigInt64(this.#length, value, true);
    this.#length += 8;
    return this;
  }

  /** A string, bytes or an already encoded sub-message. */
  bytesField(field: number, value: Uint8Array | string): this {
    const bytes = typeof value === 'string' ? encoder.encode(value) : value;
    return this.tag(field, WIRE_BYTES).varint(bytes.length).raw(bytes);
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
