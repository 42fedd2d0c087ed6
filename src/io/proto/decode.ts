/**
 * @file The object of a message from its bytes; ML_PROTO when they are none. Sub-messages that come twice are merged.
 */
import { MonolithError } from '../../base/errors.js';
import { ProtoReader } from '../proto-reader.js';
import { WIRE_BYTES, WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT } from '../proto-writer.js';
import { type Field, type FieldIndex, type Fields, indexOf, type Message, type Scalar, type ValueOf } from './field.js';
import { arrayTypeOf, type NumberArray, type NumberArrayType } from './number-array.js';

type Filling = Record<string, unknown>;

export function decodeMessage<F extends Fields>(message: Message<F>, bytes: Uint8Array): ValueOf<F> {
  return read(message, new ProtoReader(bytes)) as ValueOf<F>;
}

/** Reads to the end of `reader`; with `into`, adds to a value that was begun. */
function read(message: Message<Fields>, reader: ProtoReader, into?: Filling): Filling {
  const index = indexOf(message);
  const value = into ?? emptyOf(index);
  const unknown: Uint8Array[] = [];
  const reading: Reading = { reader, index, value, parts: undefined };
  let begin = reader.position;
  for (let number = reader.next(); number !== 0; number = reader.next()) {
    const known = index.byNumber.get(number);
    if (known !== undefined) readField(reading, known[0], known[1]);
    else {
      reader.skip();
      if (message.keepUnknown === true) unknown.push(reader.bytes.subarray(begin, reader.position));
    }
    begin = reader.position;
  }
  for (const [key, arrays] of reading.parts ?? []) value[key] = joinedArrays(arrays);
  if (unknown.length > 0) value.unknownFields = joined(value.unknownFields as Uint8Array | undefined, unknown);
  return value;
}

function joined(before: Uint8Array | undefined, parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(before === undefined ? parts : [before, ...parts]));
}

function emptyOf({ ordered }: FieldIndex): Filling {
  const value: Filling = {};
  for (const [key, field] of ordered) if (field.filled === true) value[key] = unset(field);
  return value;
}

/** What an unset field reads as; lists and maps are new ones, for the reader to fill. */
function unset(field: Field<unknown>): unknown {
  if (field.keyed === true) return new Map();
  if (!field.repeated) return field.fallback;
  const array = arrayTypeOf(field);
  return array === undefined ? [] : new array(0);
}

interface Reading {
  readonly reader: ProtoReader;
  readonly index: FieldIndex;
  readonly value: Filling;
  /** Arrays that came in several parts, joined at the end: one by one, each would copy those before it. */
  parts: Map<string, NumberArray[]> | undefined;
}

function readField(reading: Reading, key: string, field: Field<unknown>): void {
  const { reader, index, value } = reading;
  if (field.keyed === true) readEntry(reader, value[key] as Map<string, unknown>, field.message!);
  else if (field.repeated) {
    const list = value[key] ?? unset(field);
    const added = readRepeated(reader, field, list);
    if (added === list || (list as NumberArray).length === 0) value[key] = added;
    else {
      reading.parts ??= new Map([[key, [list as NumberArray]]]);
      const known = reading.parts.get(key) ?? [list as NumberArray];
      known.push(added as NumberArray);
      reading.parts.set(key, known);
    }
  } else {
    if (field.oneof === true) for (const other of index.oneofs) if (other !== key) delete value[other];
    value[key] = readOne(reader, field, value[key] as Filling | undefined);
  }
}

function readOne(reader: ProtoReader, { kind, message }: Field<unknown>, into?: Filling): unknown {
  return kind === 'message' ? read(message!, reader.message(), into) : readScalar(reader, kind);
}

function readScalar(reader: ProtoReader, kind: Scalar): unknown {
  switch (kind) {
    case 'int':
      return reader.int();
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
      return new Uint8Array(reader.payload());
    default:
      kind satisfies never;
      throw new MonolithError('ML_PROTO', { field: kind, offset: reader.position, reason: 'unknown kind' });
  }
}

/**
 * `list`, with the values of one occurrence added, or an array of them where numbers have one. They may be packed or
 * not, whatever the description says.
 */
function readRepeated(reader: ProtoReader, field: Field<unknown>, list: unknown): unknown {
  const type = arrayTypeOf(field);
  if (type === undefined) {
    for (const one of readValues(reader, field)) (list as unknown[]).push(one);
    return list;
  }
  const isFixed = reader.wire === WIRE_BYTES && field.kind !== 'int64';
  return isFixed ? readArray(reader, type) : type.from(readValues(reader, field));
}

function joinedArrays(arrays: readonly NumberArray[]): NumberArray {
  const length = arrays.reduce((sum, array) => sum + array.length, 0);
  const all = new (arrays[0]!.constructor as NumberArrayType)(length);
  let at = 0;
  for (const array of arrays) {
    all.set(array as never, at);
    at += array.length;
  }
  return all;
}

function readArray(reader: ProtoReader, type: NumberArrayType): NumberArray {
  const payload = reader.payload();
  if (payload.length % type.BYTES_PER_ELEMENT !== 0) {
    const reason = `${payload.length} packed bytes are no multiple of ${type.BYTES_PER_ELEMENT}`;
    throw new MonolithError('ML_PROTO', { field: 'a packed field', offset: reader.position, reason });
  }
  // A copy: the payload may stand at any byte.
  return new type(new Uint8Array(payload).buffer);
}

function readValues(reader: ProtoReader, field: Field<unknown>): unknown[] {
  const wire = wireOf(field.kind);
  if (wire === WIRE_BYTES || reader.wire !== WIRE_BYTES) return [readOne(reader, field)];
  const packed = reader.packed(wire);
  const values: unknown[] = [];
  while (!packed.done) values.push(readOne(packed, field));
  return values;
}

function wireOf(kind: Field<unknown>['kind']): number {
  switch (kind) {
    case 'string':
    case 'bytes':
    case 'message':
      return WIRE_BYTES;
    case 'float':
      return WIRE_FIXED32;
    case 'double':
    case 'fixed64':
      return WIRE_FIXED64;
    default:
      return WIRE_VARINT;
  }
}

function readEntry(reader: ProtoReader, map: Map<string, unknown>, message: Message<Fields>): void {
  const entry = reader.message();
  let key = '';
  let value: Filling | undefined;
  for (let number = entry.next(); number !== 0; number = entry.next()) {
    if (number === 1) key = entry.string();
    else if (number === 2) value = read(message, entry.message(), value);
    else entry.skip();
  }
  map.set(key, value ?? emptyOf(indexOf(message)));
}
