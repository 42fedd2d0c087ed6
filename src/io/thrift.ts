/**
 * @file Goes over structures in Thrift's compact protocol, which the footer of Parquet and the headers of its pages are
 * in.
 *
 * By hand because it is tiny: what these claim to hold is held to the bytes that are there, before a reader that trusts
 * them takes memory for it.
 */

/** The bytes end in the middle: more of them may be elsewhere. */
export class CutOff extends RangeError {}

const [TRUE, BYTE, I64, DOUBLE, BINARY, LIST, STRUCT] = [1, 3, 6, 7, 8, 9, 12];
const FALSE = 2;
const DEPTH_MAX = 32;
/** A number of 64 bits has so many groups of seven. */
const GROUPS_MAX = 10;

export class CompactReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /**
   * Goes over the fields of a structure: `visit` reads the one it is told of and says so, or it is passed over. The
   * type of a boolean is its value.
   */
  struct(visit: (field: number, type: number) => boolean = () => false, depth = 0): void {
    if (depth > DEPTH_MAX) throw new RangeError(`structures in more than ${DEPTH_MAX} others`);
    for (let field = 0; ; ) {
      const head = this.#byte();
      const type = head & 0x0f;
      if (type === 0) return;
      field = head >> 4 === 0 ? this.int() : field + (head >> 4);
      if (!visit(field, type)) this.#skip(type, depth);
    }
  }

  /** A whole number; those beyond 2^53 are not exact. */
  int(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #skip(type: number, depth: number): void {
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#pass(1);
    else if (type > BYTE && type <= I64) this.#varint();
    else if (type === DOUBLE) this.#pass(8);
    else if (type === BINARY) this.#pass(this.#varint());
    else if (type === LIST) this.#list(depth + 1);
    else if (type === STRUCT) this.struct(undefined, depth + 1);
    else throw new RangeError(`a field of the unknown type ${type}`);
  }

  #list(depth: number): void {
    if (depth > DEPTH_MAX) throw new RangeError(`lists in more than ${DEPTH_MAX} others`);
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#varint() : head >> 4;
    // Whatever is in it takes a byte at least.
    if (size > this.#bytes.length - this.at) throw new CutOff(`a list of ${size} values is cut off`);
    const type = head & 0x0f;
    for (let n = 0; n < size; n++) this.#skip(type === TRUE || type === FALSE ? BYTE : type, depth);
  }

  #varint(): number {
    let value = 0;
    for (let group = 0, scale = 1; group < GROUPS_MAX; group++, scale *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number of more than 64 bits');
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new CutOff('the bytes end early');
    return byte;
  }

  #pass(bytes: number): void {
    if (bytes > this.#bytes.length - this.at) throw new CutOff(`${bytes} bytes are cut off`);
    this.at += bytes;
  }
}
