/**
 * @file One field of a configuration: its type, default, meaning and flag, stated once.
 *
 * The records of this folder, the flags of a command line, the keys of a config file, the page docs/config.md and a
 * schema of zod are all made from lists of these. They are plain data, so that importing them costs nothing.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';

export const FIELD_KINDS = ['int', 'float', 'bool', 'string', 'enum', 'list', 'map', 'function'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

export interface Field<T = unknown> {
  readonly kind: FieldKind;
  /** Whether null, which stands for "not set", is a value of it. */
  readonly nullable: boolean;
  readonly default: T;
  readonly help: string;
  /** Whether a flag of its name is made; a text is the flag it is linked to. */
  readonly flag: boolean | string;
  /** What an enum may be. */
  readonly choices?: readonly string[];
  /** The least that a number may be. */
  readonly min?: number;
}

export type FieldTable = Readonly<Record<string, Field>>;
/** The record of a table: one property for each field, which the user may change. */
export type ValuesOf<F extends FieldTable> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

type Extra = Partial<Pick<Field, 'flag' | 'min'>>;

const field = <T>(kind: FieldKind, value: T, help: string, extra: Partial<Field> = {}): Field<T> => ({
  kind,
  nullable: value === null,
  help,
  flag: true,
  ...extra,
  default: value,
});

export const int = (value: number, help: string, extra?: Extra) => field<number>('int', value, help, extra);
export const maybeInt = (help: string, extra?: Extra) => field<number | null>('int', null, help, extra);
export const float = (value: number, help: string, extra?: Extra) => field<number>('float', value, help, extra);
export const maybeFloat = (help: string, extra?: Extra) => field<number | null>('float', null, help, extra);
export const bool = (value: boolean, help: string, extra?: Extra) => field<boolean>('bool', value, help, extra);
export const maybeBool = (help: string, extra?: Extra) => field<boolean | null>('bool', null, help, extra);
export const text = (value: string, help: string, extra?: Extra) => field<string>('string', value, help, extra);
export const maybeText = (help: string, extra?: Extra) => field<string | null>('string', null, help, extra);
export const choice = <const C extends readonly string[]>(choices: C, value: C[number], help: string) =>
  field<C[number]>('enum', value, help, { choices });
/** Words, which may be given as one text with commas. */
export const maybeList = (help: string) => field<readonly string[] | null>('list', null, help);
export const maybeMap = (help: string) =>
  field<Readonly<Record<string, string>> | null>('map', null, help, { flag: false });
/** Kept out of JSON. `T` is the function's type. */
export const maybeFunction = <T>(help: string) => field<T | null>('function', null, help, { flag: false });

/** The name of the field that `key` means: `num_ps` is `numPs`, and so is `num-ps`. */
export function fieldName(key: string): string {
  return key.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The error for a key that is no field, with the nearest one. */
export function unknownField(where: string, key: string, names: readonly string[]): MonolithError {
  const hint = didYouMean(fieldName(key), names) ?? `see docs/config.md for its ${names.length} fields`;
  return new MonolithError('ML_OPTION', { where, option: key, reason: `there is no field ${key}` }, { hint });
}

const TYPE_TEXT: Readonly<Record<FieldKind, string>> = {
  int: 'a whole number',
  float: 'a number',
  bool: 'true or false',
  string: 'a text',
  enum: 'one of',
  list: 'a list of texts',
  map: 'an object of texts',
  function: 'a function',
};

/** What a field takes, in words. */
export function typeText({ kind, nullable, choices, min }: Field): string {
  const least = min === undefined ? '' : ` from ${min} on`;
  const words = kind === 'enum' ? `one of ${choices!.join(', ')}` : `${TYPE_TEXT[kind]}${least}`;
  return nullable ? `${words}, or null` : words;
}

/** `value` as the field keeps it; ML_OPTION when it is of another type. */
export function checkedValue(where: string, name: string, field: Field, value: unknown): unknown {
  const found = fieldValue(field, value);
  if (found !== undefined) return found;
  const near = field.kind === 'enum' && typeof value === 'string' ? didYouMean(value, field.choices!) : undefined;
  throw new MonolithError(
    'ML_OPTION',
    { where, option: name, reason: `${name} is ${typeText(field)}, not ${shown(value)}` },
    near === undefined ? {} : { hint: near },
  );
}

/** `value` as the field keeps it, or undefined when it is of another type. */
function fieldValue({ kind, nullable, choices, min }: Field, value: unknown): unknown {
  if (value === null) return nullable ? null : undefined;
  const enough = typeof value === 'number' && (min === undefined || value >= min);
  switch (kind) {
    case 'int':
      return enough && Number.isSafeInteger(value) ? value : undefined;
    case 'float':
      return enough && Number.isFinite(value) ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'enum':
      return typeof value === 'string' ? choices!.find((one) => one === value.toLowerCase()) : undefined;
    case 'list':
      return typeof value === 'string' ? value.split(',') : isTexts(value) ? [...value] : undefined;
    case 'map':
      return isTextMap(value) ? { ...value } : undefined;
    case 'function':
      return typeof value === 'function' ? value : undefined;
    default:
      kind satisfies never;
      return undefined;
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isTextMap = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isTexts(Object.values(value));

/** Whether two values of a field are the same. */
export function sameFieldValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [own, others] = [Object.entries(a), Object.entries(b)];
  return own.length === others.length && own.every(([key, value]) => (b as Record<string, unknown>)[key] === value);
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
