/**
 * @file Reads protobuf wire format field by field, without building objects.
 *
 * ```ts
 * for (let field = reader.next(); field !== 0; field = reader.next()) {
 *   if (field === 1) name = reader.string();
 *   else reader.skip();
 * }
 * ```
 *
 * Every read checks the wire type and the bounds, so that damaged bytes end in ML_PROTO and never in made-up values.
 */
import { MonolithError } from '../base/errors.js';
import { WIRE_BYTES, WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT } from './proto-writer.js';

const decoder = new TextDecoder('utf-8', { fatal: true });

export class ProtoReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;
  #end: number;
  #field = 0;
  #wire = 0;

  constructor(bytes: Uint8Array, begin = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = begin;
    this.#end = end;
  }

  /** Number of the next field, 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    const key = this.#varint();
    this.#wire = key % 8;
    this.#field = Math.floor(key / 8);
    if (this.#field === 0 || key > 0xffffffff) throw this.#error('field number is out of range');
    return this.#field;
  }

  /** Where the next read begins, in `bytes`. */
  get position(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  get wire(): number {
    return this.#wire;
  }

  /** A varint that must fit a safe integer, such as a size or a count. */
  uint(): number {
    this.#expect(WIRE_VARINT);
    return this.#varint();
  }

  bool(): boolean {
    return this.int64() !== 0n;
  }

  int64(): bigint {
    this.#expect(WIRE_VARINT);
    return this.varint64();
  }

  /** A signed 64-bit varint without a tag, as packed fields hold. */
  varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw this.#error('varint is longer than ten bytes');
  }

  /** A signed varint that must be a safe integer. */
  int(): number {
    const value = Number(this.int64());
    if (!Number.isSafeInteger(value)) throw this.#error(`${value} is beyond the safe integers`);
    return value;
  }

  int32(): number {
    return Number(BigInt.asIntN(32, this.int64()));
  }

  fixed32(): number {
    this.#expect(WIRE_FIXED32);
    return this.#view.getUint32(this.#take(4), true);
  }

  float(): number {
    this.#expect(WIRE_FIXED32);
    return this.#view.getFloat32(this.#take(4), true);
  }

  sfixed64(): bigint {
    this.#expect(WIRE_FIXED64);
    return this.#view.getBigInt64(this.#take(8), true);
  }

  /**
   * The floats of one occurrence of a repeated field, packed or not, stored from `out[at]`. Returns the position after
   * the last; ML_PROTO when there are more than `out` holds.
   */
  floats(out: Float32Array, at: number, limit = out.length): number {
    if (this.#wire === WIRE_FIXED32) {
      if (at >= limit) throw this.#error(`holds more than ${limit} values`);
      out[at] = this.float();
      return at + 1;
    }
    const size = this.#length();
    if (size % 4 !== 0) throw this.#error('packed floats are not a multiple of four bytes');
    if (at + size / 4 > limit) throw this.#error(`holds more than ${limit} values`);
    const begin = this.#take(size);
    for (let i = 0; i < size / 4; i++) out[at + i] = this.#view.getFloat32(begin + 4 * i, true);
    return at + size / 4;
  }

  /** The values of one occurrence of a repeated int32 field, packed or not. */
  int32s(): number[] {
    if (this.#wire === WIRE_VARINT) return [this.int32()];
    const packed = this.packed(WIRE_VARINT);
    const values: number[] = [];
    while (!packed.done) values.push(packed.int32());
    return values;
  }

  /** A view of the bytes of a length-delimited field. */
  payload(): Uint8Array {
    const size = this.#length();
    const begin = this.#take(size);
    return this.bytes.subarray(begin, begin + size);
  }

  message(): ProtoReader {
    const size = this.#length();
    const begin = this.#take(size);
    return new ProtoReader(this.bytes, begin, begin + size);
  }

  /** Reads the values of a packed field, each as if it had a tag with `wire`, until `done`. */
  packed(wire: number): ProtoReader {
    const values = this.message();
    values.#field = this.#field;
    values.#wire = wire;
    return values;
  }

  string(): string {
    const payload = this.payload();
    try {
      return decoder.decode(payload);
    } catch (cause) {
      throw this.#error('is not UTF-8', cause);
    }
  }

  skip(): void {
    switch (this.#wire) {
      case WIRE_VARINT:
        this.int64();
        return;
      case WIRE_FIXED64:
        this.#take(8);
        return;
      case WIRE_BYTES:
        this.#take(this.#length());
        return;
      case WIRE_FIXED32:
        this.#take(4);
        return;
      default:
        throw this.#error(`wire type ${this.#wire} is not supported`);
    }
  }

  #length(): number {
    this.#expect(WIRE_BYTES);
    return this.#varint();
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break;
        return value;
      }
      scale *= 0x80;
    }
    throw this.#error('varint is too large');
  }

  #byte(): number {
    return this.bytes[this.#take(1)]!;
  }

  #take(count: number): number {
    const at = this.#at;
    if (count > this.#end - at) throw this.#error(`needs ${count} bytes, ${this.#end - at} are left`);
    this.#at = at + count;
    return at;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw this.#error(`has wire type ${this.#wire}, expected ${wire}`);
  }

  #error(reason: string, cause?: unknown): MonolithError {
    const fields = { field: `field ${this.#field}`, offset: this.#at, reason };
    return new MonolithError('ML_PROTO', fields, { cause });
  }
}
