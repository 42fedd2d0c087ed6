/**
 * @file Proto2 messages by description: encode, decode and print plain objects whose absent keys are unset fields.
 *
 * For configs and file headers, where a description per message is clearer than code per message; rows have their own
 * codec. Fields are written in ascending order, repeated numbers unpacked; both packings are read. Unknown fields are
 * skipped. Whole numbers of 64 bits must be safe integers here.
 */
import { MonolithError } from '../base/errors.js';
import { formatPbtxtDouble, quotePbtxt } from './pbtxt.js';
import { ProtoReader } from './proto-reader.js';
import { ProtoWriter, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from './proto-writer.js';

type ScalarKind = 'int' | 'float' | 'double' | 'bool' | 'string';

export interface Field<T> {
  readonly number: number;
  readonly kind: ScalarKind | 'message';
  readonly repeated: boolean;
  readonly message?: Message<Fields>;
  /** Names of enum values, for printing. */
  readonly names?: Readonly<Record<number, string>>;
  /** What an unset field means. */
  readonly fallback: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
/** Keys in camelCase; the wire name is the same in snake_case. */
export interface Message<F extends Fields> {
  readonly name: string;
  readonly fields: F;
}

export type ValueOf<F extends Fields> = { readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never };
export type MessageValue<M> = M extends Message<infer F> ? ValueOf<F> : never;

const scalar = <T>(kind: ScalarKind, number: number, fallback: T): Field<T> => ({
  number,
  kind,
  repeated: false,
  fallback,
});

export const int = (number: number, fallback = 0): Field<number> => scalar('int', number, fallback);
export const float = (number: number, fallback = 0): Field<number> => scalar('float', number, fallback);
export const double = (number: number, fallback = 0): Field<number> => scalar('double', number, fallback);
export const bool = (number: number, fallback = false): Field<boolean> => scalar('bool', number, fallback);
export const string = (number: number): Field<string> => scalar('string', number, '');

export function enumeration(number: number, names: Readonly<Record<number, string>>, fallback: number): Field<number> {
  return { ...int(number, fallback), names };
}

export function sub<F extends Fields>(number: number, message: Message<F>): Field<ValueOf<F>> {
  return { number, kind: 'message', repeated: false, message, fallback: {} };
}

export function many<T>(field: Field<T>): Field<readonly T[]> {
  return { ...field, repeated: true, fallback: [] };
}

export function message<F extends Fields>(name: string, fields: F): Message<F> {
  return { name, fields };
}

type Value = Readonly<Record<string, unknown>>;

function fieldsInOrder(message: Message<Fields>): readonly (readonly [string, Field<unknown>])[] {
  return Object.entries(message.fields).sort(([, a], [, b]) => a.number - b.number);
}

/** Field `key` of `value`, or what it means to leave it out. */
export function valueOr<F extends Fields, K extends keyof F & string>(
  message: Message<F>,
  value: ValueOf<F>,
  key: K,
): F[K] extends Field<infer T> ? T : never {
  return ((value as Value)[key] ?? message.fields[key]!.fallback) as F[K] extends Field<infer T> ? T : never;
}

export function encodeMessage<F extends Fields>(message: Message<F>, value: ValueOf<F>): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  for (const [key, field] of fieldsInOrder(message)) {
    const given = (value as Value)[key];
    if (given === undefined) continue;
    for (const one of field.repeated ? (given as readonly unknown[]) : [given]) writeField(writer, field, one);
  }
  return writer.finish();
}

function writeField(writer: ProtoWriter, field: Field<unknown>, value: unknown): void {
  switch (field.kind) {
    case 'int':
      writer.int64Field(field.number, value as number);
      return;
    case 'bool':
      writer.int64Field(field.number, value === true ? 1 : 0);
      return;
    case 'float':
      writer.floatField(field.number, value as number);
      return;
    case 'double': {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, value as number, true);
      writer.tag(field.number, WIRE_FIXED64).raw(bytes);
      return;
    }
    case 'string':
      writer.bytesField(field.number, value as string);
      return;
    case 'message':
      writer.bytesField(field.number, encodeMessage(field.message!, value as ValueOf<Fields>));
      return;
    default:
      field.kind satisfies never;
  }
}

/** The object of a message; ML_PROTO when the bytes are none. Sub-messages that come twice are merged. */
export function decodeMessage<F extends Fields>(message: Message<F>, bytes: Uint8Array): ValueOf<F> {
  return decodeInto(message, new ProtoReader(bytes), {}) as ValueOf<F>;
}

function decodeInto(message: Message<Fields>, reader: ProtoReader, value: Record<string, unknown>): Value {
  const byNumber = new Map(Object.entries(message.fields).map(([key, field]) => [field.number, [key, field] as const]));
  for (let number = reader.next(); number !== 0; number = reader.next()) {
    const known = byNumber.get(number);
    if (known === undefined) {
      reader.skip();
      continue;
    }
    const [key, field] = known;
    if (field.repeated) value[key] = [...((value[key] as unknown[] | undefined) ?? []), ...readMany(reader, field)];
    else if (field.kind === 'message') {
      value[key] = decodeInto(field.message!, reader.message(), { ...(value[key] as Value | undefined) });
    } else value[key] = readScalar(reader, field.kind);
  }
  return value;
}

function readMany(reader: ProtoReader, field: Field<unknown>): unknown[] {
  if (field.kind === 'message') return [decodeInto(field.message!, reader.message(), {})];
  if (field.kind !== 'string' && reader.wire === WIRE_BYTES) return readPacked(reader.payload(), field.kind);
  return [readScalar(reader, field.kind)];
}

/** Packed values, read as if each had its own tag. */
function readPacked(payload: Uint8Array, kind: Exclude<ScalarKind, 'string'>): unknown[] {
  const size = { float: 4, double: 8, int: 0, bool: 0 }[kind];
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  if (size > 0) {
    if (payload.length % size !== 0) throw malformed(`packed values are not a multiple of ${size} bytes`);
    return Array.from({ length: payload.length / size }, (_, i) =>
      kind === 'float' ? view.getFloat32(i * 4, true) : view.getFloat64(i * 8, true),
    );
  }
  const values: unknown[] = [];
  for (let at = 0; at < payload.length; ) {
    let end = at;
    while (end < payload.length && payload[end]! >= 0x80) end++;
    if (end === payload.length) throw malformed('packed values are cut off');
    const reader = new ProtoReader(
      new ProtoWriter()
        .tag(1, WIRE_VARINT)
        .raw(payload.subarray(at, end + 1))
        .finish(),
    );
    reader.next();
    values.push(readScalar(reader, kind));
    at = end + 1;
  }
  return values;
}

function readScalar(reader: ProtoReader, kind: ScalarKind | 'message'): unknown {
  switch (kind) {
    case 'bool':
      return reader.bool();
    case 'float':
      return reader.float();
    case 'double': {
      const bits = new DataView(new ArrayBuffer(8));
      bits.setBigInt64(0, reader.sfixed64());
      return bits.getFloat64(0);
    }
    case 'string':
      return reader.string();
    default: {
      const number = Number(reader.int64());
      if (!Number.isSafeInteger(number)) throw malformed(`${number} is beyond the safe integers`);
      return number;
    }
  }
}

function malformed(reason: string): MonolithError {
  return new MonolithError('ML_PROTO', { field: 'message', offset: 0, reason });
}

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The message in text form on one line, as errors and merging of tables show it; equal messages print equally. */
export function printMessage<F extends Fields>(message: Message<F>, value: ValueOf<F>): string {
  const parts: string[] = [];
  for (const [key, field] of fieldsInOrder(message)) {
    const given = (value as Value)[key];
    if (given === undefined) continue;
    for (const one of field.repeated ? (given as readonly unknown[]) : [given]) {
      parts.push(field.kind === 'message' ? printSub(snake(key), field, one) : `${snake(key)}: ${printed(field, one)}`);
    }
  }
  return parts.join(' ');
}

function printSub(name: string, field: Field<unknown>, value: unknown): string {
  const inner = printMessage(field.message!, value as ValueOf<Fields>);
  return inner === '' ? `${name} { }` : `${name} { ${inner} }`;
}

function printed(field: Field<unknown>, value: unknown): string {
  if (typeof value === 'string') return quotePbtxt(value);
  if (typeof value === 'boolean') return String(value);
  if (field.kind === 'int') return field.names?.[value as number] ?? String(value);
  if (field.kind === 'double') return formatPbtxtDouble(value as number);
  return shortFloat(value as number);
}

/** The shortest decimal that reads back as the same float32. */
function shortFloat(value: number): string {
  const single = Math.fround(value);
  for (let digits = 6; digits <= 9; digits++) {
    const text = String(Number(single.toPrecision(digits)));
    if (Math.fround(Number(text)) === single) return text;
  }
  return formatPbtxtDouble(single);
}
