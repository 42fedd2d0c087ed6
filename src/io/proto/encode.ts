/** @file Bytes of a message, in ascending order of its fields. What is undefined is not written. */
import { ProtoWriter, WIRE_FIXED64 } from '../proto-writer.js';
import { type Field, type Fields, indexOf, type Message, type Value, type ValueOf } from './field.js';
import { arrayTypeOf } from './number-array.js';

export function encodeMessage<F extends Fields>(message: Message<F>, value: ValueOf<F>): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  const given = value as Value;
  for (const [key, field] of indexOf(message).ordered) {
    if (given[key] !== undefined) writeField(writer, field, given[key]);
  }
  if (message.keepUnknown === true && given.unknownFields instanceof Uint8Array) writer.raw(given.unknownFields);
  return writer.finish();
}

function writeField(writer: ProtoWriter, field: Field<unknown>, value: unknown): void {
  if (field.keyed === true) writeMap(writer, field, value as ReadonlyMap<string, Value>);
  else if (field.packed === true) writePacked(writer, field, value as ArrayLike<number | bigint>);
  else if (field.repeated) for (const one of value as Iterable<unknown>) writeOne(writer, field, one);
  else if (field.filled !== true || !isZero(value)) writeOne(writer, field, value);
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

function writeOne(writer: ProtoWriter, { number, kind, message }: Field<unknown>, value: unknown): void {
  switch (kind) {
    case 'int':
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
    case 'string':
    case 'bytes':
      writer.bytesField(number, value as Uint8Array | string);
      return;
    case 'message':
      writer.bytesField(number, encodeMessage(message!, value as Value));
      return;
    default:
      kind satisfies never;
  }
}

function writePacked(writer: ProtoWriter, field: Field<unknown>, values: ArrayLike<number | bigint>): void {
  if (values.length === 0) return;
  const type = arrayTypeOf(field);
  if (type !== undefined && field.kind !== 'int64') {
    const array = values instanceof type ? values : type.from(Array.from(values));
    writer.bytesField(field.number, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return;
  }
  const inner = new ProtoWriter();
  for (let i = 0; i < values.length; i++) inner.varint64(BigInt(values[i]!));
  writer.bytesField(field.number, inner.finish());
}

/** Entries go out by name, so that equal maps have equal bytes. */
function writeMap(writer: ProtoWriter, { number, message }: Field<unknown>, map: ReadonlyMap<string, Value>): void {
  for (const [key, value] of [...map].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const entry = new ProtoWriter();
    if (key !== '') entry.bytesField(1, key);
    writer.bytesField(number, entry.bytesField(2, encodeMessage(message!, value)).finish());
  }
}
