/**
 * @file Protobuf messages from a table of their fields: encode and decode without generated code.
 *
 * For messages met once per batch or file. By hand and not by a library because ids must stay in typed 64-bit arrays and
 * bytes must come out in ascending field order, which golden files compare. Repeated numbers are typed arrays or lists.
 */
import { MonolithError } from '../base/errors.js';
import { ProtoReader } from './proto-reader.js';
import { ProtoWriter, WIRE_BYTES, WIRE_FIXED64 } from './proto-writer.js';

export type Scalar = 'int32' | 'uint32' | 'int64' | 'fixed64' | 'float' | 'double' | 'bool' | 'string' | 'bytes';
type AnyMessage = Record<string, unknown>;

/** How often a field occurs. `implicit` is proto3's: the zero value is not written and is what an absent field reads as. */
export type Label = 'implicit' | 'optional' | 'oneof' | 'packed' | 'repeated' | 'map';

export interface Field {
  readonly number: number;
  readonly kind: Scalar | MessageType<object>;
  readonly label: Label;
}

type Plain = string | number | bigint | boolean | ArrayBufferView;
/** A message to write: every field may be left out, at every depth. */
export type MessageInput<T> = T extends Plain
  ? T
  : T extends ReadonlyMap<string, infer V>
    ? ReadonlyMap<string, MessageInput<V>>
    : T extends readonly (infer V)[]
      ? readonly MessageInput<V>[]
      : { readonly [K in keyof T]?: MessageInput<T[K]> };

export interface MessageOptions {
  /** Fields outside the table are kept, in `unknownFields`, and written again at the end. */
  readonly keepUnknown?: boolean;
}

const ZEROS: Readonly<Record<Scalar, unknown>> = {
  int32: 0,
  uint32: 0,
  int64: 0n,
  fixed64: 0n,
  float: 0,
  double: 0,
  bool: false,
  string: '',
  bytes: new Uint8Array(0),
};

type NumberArray = BigInt64Array | Float32Array | Float64Array;
interface NumberArrayType {
  new (source: number | ArrayBuffer): NumberArray;
  from(values: Iterable<unknown>): NumberArray;
  readonly BYTES_PER_ELEMENT: number;
}

const ARRAYS: Partial<Record<Scalar, NumberArrayType>> = {
  int64: BigInt64Array as NumberArrayType,
  fixed64: BigInt64Array as NumberArrayType,
  float: Float32Array as NumberArrayType,
  double: Float64Array as NumberArrayType,
};

/** A field of the table: `field(3, 'float', 'packed')`. */
export function field<M extends object>(
  number: number,
  kind: Scalar | MessageType<M>,
  label: Label = 'implicit',
): Field {
  return { number, kind: kind as unknown as Field['kind'], label };
}

/**
 * ```ts
 * const POINT = new MessageType<{ x: number }>('Point', { x: field(1, 'int32') });
 * POINT.decode(POINT.encode({ x: 5 })).x; // 5
 * ```
 */
export class MessageType<T extends object> {
  readonly name: string;
  readonly #fields: readonly (readonly [string, Field])[];
  readonly #byNumber: ReadonlyMap<number, readonly [string, Field]>;
  readonly #keepUnknown: boolean;

  constructor(
    name: string,
    fields: { readonly [K in Exclude<keyof T, 'unknownFields'>]-?: Field },
    options: MessageOptions = {},
  ) {
    this.name = name;
    this.#fields = Object.entries<Field>(fields).sort(([, a], [, b]) => a.number - b.number);
    this.#byNumber = new Map(this.#fields.map((entry) => [entry[1].number, entry]));
    this.#keepUnknown = options.keepUnknown ?? false;
  }

  encode(message: MessageInput<T>): Uint8Array<ArrayBuffer> {
    const writer = new ProtoWriter();
    this.write(writer, message);
    return writer.finish();
  }

  write(writer: ProtoWriter, message: MessageInput<T>): void {
    const given = message as AnyMessage;
    for (const [name, one] of this.#fields) if (given[name] !== undefined) writeField(writer, one, given[name]);
    if (this.#keepUnknown && given.unknownFields instanceof Uint8Array) writer.raw(given.unknownFields);
  }

  decode(bytes: Uint8Array): T {
    return this.read(new ProtoReader(bytes));
  }

  /** Reads to the end of `reader`; with `into`, adds to a message that was begun. */
  read(reader: ProtoReader, into?: T): T {
    const message = (into ?? this.#empty()) as AnyMessage;
    const unknown: Uint8Array[] = [];
    let begin = reader.position;
    for (let number = reader.next(); number !== 0; number = reader.next()) {
      const known = this.#byNumber.get(number);
      if (known !== undefined) this.#readField(reader, message, ...known);
      else {
        reader.skip();
        if (this.#keepUnknown) unknown.push(reader.bytes.subarray(begin, reader.position));
      }
      begin = reader.position;
    }
    if (unknown.length > 0) message.unknownFields = Uint8Array.from(unknown.flatMap((bytes) => [...bytes]));
    return message as T;
  }

  #empty(): AnyMessage {
    const message: AnyMessage = {};
    for (const [name, { kind, label }] of this.#fields) {
      if (label === 'implicit' && typeof kind === 'string') message[name] = ZEROS[kind];
      else if (label === 'map') message[name] = new Map();
      else if (label === 'packed' || label === 'repeated') message[name] = emptyList(kind);
    }
    return message;
  }

  #readField(reader: ProtoReader, message: AnyMessage, name: string, { kind, label }: Field): void {
    if (label === 'map') readEntry(reader, message[name] as Map<string, unknown>, kind as MessageType<object>);
    else if (label === 'packed' || label === 'repeated') message[name] = readRepeated(reader, kind, message[name]);
    else {
      if (label === 'oneof') {
        for (const [other, { label: of }] of this.#fields) if (of === 'oneof' && other !== name) delete message[other];
      }
      message[name] =
        typeof kind === 'string' ? readScalar(reader, kind) : kind.read(reader.message(), message[name] as object);
    }
  }
}

function emptyList(kind: Field['kind']): unknown {
  const array = typeof kind === 'string' ? ARRAYS[kind] : undefined;
  return array === undefined ? [] : new array(0);
}

function writeField(writer: ProtoWriter, { number, kind, label }: Field, value: unknown): void {
  switch (label) {
    case 'implicit':
    case 'optional':
    case 'oneof':
      if (typeof kind !== 'string') writeMessage(writer, number, kind, value as object);
      else if (label !== 'implicit' || !isZero(value)) writeScalar(writer, number, kind, value);
      return;
    case 'packed':
      writePacked(writer, number, kind as Scalar, value as ArrayLike<number | bigint>);
      return;
    case 'repeated':
      for (const item of value as Iterable<unknown>) {
        if (typeof kind === 'string') writeScalar(writer, number, kind, item);
        else writeMessage(writer, number, kind, item as object);
      }
      return;
    case 'map':
      for (const [key, item] of [...(value as ReadonlyMap<string, object>)].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const entry = new ProtoWriter();
        if (key !== '') entry.bytesField(1, key);
        writeMessage(entry, 2, kind as MessageType<object>, item);
        writer.bytesField(number, entry.finish());
      }
      return;
    default:
      label satisfies never;
      throw new MonolithError('ML_PROTO', { field: `field ${number}`, offset: writer.length, reason: 'unknown label' });
  }
}

function writeMessage(writer: ProtoWriter, number: number, type: MessageType<object>, value: object): void {
  writer.bytesField(number, type.encode(value));
}

function isZero(value: unknown): boolean {
  // Negative zero has bits, so proto3 writes it.
  return (
    Object.is(value, 0) ||
    value === 0n ||
    value === false ||
    value === '' ||
    (value instanceof Uint8Array && value.length === 0)
  );
}

function writeScalar(writer: ProtoWriter, number: number, kind: Scalar, value: unknown): void {
  switch (kind) {
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'bool':
      writer.int64Field(number, BigInt(value as number));
      return;
    case 'fixed64':
      writer.sfixed64Field(number, BigInt.asIntN(64, value as bigint));
      return;
    case 'float':
      writer.floatField(number, value as number);
      return;
    case 'double':
      writer.tag(number, WIRE_FIXED64).raw(new Uint8Array(Float64Array.of(value as number).buffer));
      return;
    default:
      writer.bytesField(number, value as Uint8Array | string);
  }
}

function writePacked(writer: ProtoWriter, number: number, kind: Scalar, values: ArrayLike<number | bigint>): void {
  if (values.length === 0) return;
  if (kind === 'fixed64' || kind === 'float' || kind === 'double') {
    const make = ARRAYS[kind]!;
    const array = values instanceof make ? values : make.from(Array.from(values));
    writer.bytesField(number, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return;
  }
  const inner = new ProtoWriter();
  for (let i = 0; i < values.length; i++) inner.varint64(BigInt(values[i]!));
  writer.bytesField(number, inner.finish());
}

function readScalar(reader: ProtoReader, kind: Scalar): unknown {
  switch (kind) {
    case 'int32':
      return reader.int32();
    case 'uint32':
      return Number(BigInt.asUintN(32, reader.int64()));
    case 'int64':
      return reader.int64();
    case 'bool':
      return reader.bool();
    case 'fixed64':
      return reader.sfixed64();
    case 'float':
      return reader.float();
    case 'double':
      return new Float64Array(BigInt64Array.of(reader.sfixed64()).buffer)[0];
    case 'string':
      return reader.string();
    case 'bytes':
      return reader.payload().slice();
    default:
      kind satisfies never;
      throw new MonolithError('ML_PROTO', { field: kind, offset: reader.position, reason: 'unknown kind' });
  }
}

/** `list` and the values of one occurrence. Numbers may be packed or not, whatever the table says. */
function readRepeated(reader: ProtoReader, kind: Field['kind'], list: unknown): unknown {
  if (typeof kind !== 'string') {
    (list as object[]).push(kind.read(reader.message()));
    return list;
  }
  const array = ARRAYS[kind];
  if (array === undefined) {
    (list as unknown[]).push(...(packs(kind) ? reader.int32s() : [readScalar(reader, kind)]));
    return list;
  }
  const added = reader.wire === WIRE_BYTES ? readPacked(reader, kind, array) : [readScalar(reader, kind)];
  if ((list as ArrayLike<unknown>).length === 0 && added instanceof array) return added;
  return array.from([...(list as Iterable<unknown>), ...added]);
}

const packs = (kind: Scalar): boolean => kind === 'int32' || kind === 'uint32' || kind === 'bool';

function readPacked(reader: ProtoReader, kind: Scalar, array: NumberArrayType): NumberArray {
  const payload = reader.payload();
  if (kind === 'int64') {
    const inner = new ProtoReader(payload);
    const values: bigint[] = [];
    while (inner.position < payload.length) values.push(inner.varint64());
    return BigInt64Array.from(values);
  }
  if (payload.length % array.BYTES_PER_ELEMENT !== 0) {
    const reason = `${payload.length} packed bytes are no multiple of ${array.BYTES_PER_ELEMENT}`;
    throw new MonolithError('ML_PROTO', { field: 'a packed field', offset: reader.position, reason });
  }
  // A copy: the payload may stand at any byte.
  return new array(payload.slice().buffer);
}

function readEntry(reader: ProtoReader, map: Map<string, unknown>, type: MessageType<object>): void {
  const entry = reader.message();
  let key = '';
  let value: object | undefined;
  for (let number = entry.next(); number !== 0; number = entry.next()) {
    if (number === 1) key = entry.string();
    else if (number === 2) value = type.read(entry.message(), value);
    else entry.skip();
  }
  map.set(key, value ?? type.decode(new Uint8Array(0)));
}
