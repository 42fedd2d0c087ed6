/**
 * @file Descriptions of protobuf messages: a table of fields from which bytes and text are made and read.
 *
 * For messages met once per batch, config or file; the rows of tables have their own codec. By hand and not by a
 * library because ids must stay in typed 64-bit arrays and bytes must come out in ascending field order, which golden
 * files compare.
 */
/** `int` is a varint that must be a safe integer: a count or a size, where a number serves better than a bigint. */
export type Scalar =
  | 'int'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'fixed64'
  | 'float'
  | 'double'
  | 'bool'
  | 'string'
  | 'bytes';

export interface Field<T> {
  readonly number: number;
  readonly kind: Scalar | 'message';
  readonly repeated: boolean;
  readonly message?: Message<Fields>;
  /** Names of enum values, for printing. */
  readonly names?: Readonly<Record<number, string>>;
  /** What an unset field means. */
  readonly fallback: T;
  /** Reading fills in what an unset field means. A zero is then the same as unset, and not written: proto3's rule. */
  readonly filled?: boolean;
  /**
   * Numbers are written under one tag, and those of floats and 64 bits live in typed arrays. Both packings are read.
   */
  readonly packed?: boolean;
  /** Of these fields the last one read stays. */
  readonly oneof?: boolean;
  /** Messages by name, in a Map. */
  readonly keyed?: boolean;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
/** Keys in camelCase; the wire name is the same in snake_case. */
export interface Message<F extends Fields> {
  readonly name: string;
  readonly fields: F;
  /** Fields outside the table are kept, in `unknownFields`, and written again at the end. */
  readonly keepUnknown?: boolean;
}

export type ValueOf<F extends Fields> = { readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never };
export type MessageValue<M> = M extends Message<infer F> ? ValueOf<F> : never;
/** A value of any message. */
export type Value = Readonly<Record<string, unknown>>;

const ZEROS: Readonly<Record<Scalar, unknown>> = {
  int: 0,
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

/**
 * How often a field occurs. `implicit` is proto3's: the zero value is not written and is what an absent field reads as.
 */
export type Label = 'implicit' | 'optional' | 'oneof' | 'packed' | 'repeated' | 'map';

/** Any field: `field(3, 'float', 'packed')`. The functions below are short for fields that may be unset. */
export function field(number: number, kind: Scalar | Message<Fields>, label: Label = 'implicit'): Field<unknown> {
  const isScalar = typeof kind === 'string';
  const repeated = label === 'packed' || label === 'repeated';
  return {
    number,
    repeated,
    ...(isScalar ? { kind, fallback: ZEROS[kind] } : { kind: 'message', message: kind, fallback: {} }),
    filled: repeated || label === 'map' || (label === 'implicit' && isScalar),
    packed: label === 'packed',
    oneof: label === 'oneof',
    keyed: label === 'map',
  };
}

const scalar = <T>(kind: Scalar, number: number, fallback: T): Field<T> => ({
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

/** Field `key` of `value`, or what it means to leave it out. */
export function valueOr<F extends Fields, K extends keyof F & string>(
  message: Message<F>,
  value: ValueOf<F>,
  key: K,
): F[K] extends Field<infer T> ? T : never {
  return ((value as Value)[key] ?? message.fields[key]!.fallback) as F[K] extends Field<infer T> ? T : never;
}

export type NamedField = readonly [key: string, field: Field<unknown>];
export interface FieldIndex {
  readonly ordered: readonly NamedField[];
  readonly byNumber: ReadonlyMap<number, NamedField>;
  readonly oneofs: readonly string[];
}

const indexes = new WeakMap<object, FieldIndex>();

/** Fields of a message in ascending order and by number; sorted once per message. */
export function indexOf(message: Message<Fields>): FieldIndex {
  const known = indexes.get(message);
  if (known !== undefined) return known;
  const ordered = Object.entries(message.fields).sort(([, a], [, b]) => a.number - b.number);
  const byNumber = new Map(ordered.map((entry) => [entry[1].number, entry]));
  const oneofs = ordered.filter(([, { oneof }]) => oneof === true).map(([key]) => key);
  const index = { ordered, byNumber, oneofs };
  indexes.set(message, index);
  return index;
}
