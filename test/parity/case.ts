/**
 * @file The shape of a parity file and what a module's handler sees of it.
 *
 * A file is a list of cases: numbers of the reference, or numbers that follow from a formula (`source_test` says
 * which). A handler gets one case of its module, runs the code here on the input, and either returns what it got under
 * the names of `expected`, which the runner then compares, or checks for itself and throws.
 *
 * Names of fields are read by their meaning (meanings.ts): a handler states its own names and gets the fields under
 * them.
 */
import { knownName } from './meanings.js';

export interface Tolerance {
  readonly exact?: boolean;
  readonly abs?: number;
  readonly rel?: number;
  /** Units in the last place of a float32. */
  readonly ulp?: number;
  /** For keys of optimizer state. */
  readonly abs_state?: number;
  /** One absolute tolerance per entry of the outermost list. */
  readonly abs_per_case?: readonly number[];
  /** Bounds of what was found as a share of what is expected. */
  readonly ratio_between?: readonly [number, number];
  readonly note?: string;
}

export interface ParityCase {
  readonly module: string;
  readonly case: string;
  readonly input: unknown;
  readonly expected: unknown;
  readonly tolerance?: Tolerance;
  readonly source_test?: string;
}

export type ParityHandler = (parity: ParityCase) => unknown;
/** What each file of test/parity/modules exports as `handlers`, by module name. */
export type ParityHandlers = Readonly<Record<string, ParityHandler>>;

/** Thrown by a handler for a case that says nothing about this product; the message is the reason. */
export class NotApplicable extends Error {}

/** Thrown when a case does not have the form its handler knows. It counts as a failure. */
export class UnknownForm extends Error {}

/** Thrown for names that mean nothing to a handler. */
export class UnknownKeys extends UnknownForm {
  readonly keys: readonly string[];

  constructor(keys: readonly string[], where = 'the case') {
    super(`${where} has unknown ${keys.join(', ')}`);
    this.keys = keys;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const EACH_STEP = /_?(?:each|per|every)_?(?:step|call|run)s?$/i;

/** `value` under the names of `known` that its own names mean; those that mean none of them stay as they are. */
export function renamed(value: Fields, known: readonly string[], rows?: readonly (readonly string[])[]): Fields {
  const taken = Object.keys(value).filter((name) => known.includes(name));
  const fields: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const options = { taken, ...(rows === undefined ? {} : { rows }) };
    // A value for each step: whether it is one for all or a list of them, its depth says.
    const meant = knownName(name, known, options) ?? knownName(name.replace(EACH_STEP, ''), known, options);
    if (meant !== undefined && meant !== name) taken.push(meant);
    fields[meant ?? name] = item;
  }
  return fields;
}

/** `value` as a record that has all of `required` and nothing beyond `required` and `optional`, under those names. */
export function fieldsOf(
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
  { where = 'the case', rows }: { where?: string; rows?: readonly (readonly string[])[] } = {},
): Fields {
  if (!isRecord(value)) throw new UnknownForm(`${where} is not a record`);
  const known = [...required, ...optional];
  const fields = renamed(value, known, rows);
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new UnknownKeys(unknown, where);
  const missing = required.filter((name) => !(name in fields));
  if (missing.length > 0) throw new UnknownForm(`${where} has no ${missing.join(', ')}`);
  return fields;
}

/** A form of the cases of a module: the field it is known by, and its handler. */
export type ParityForm = readonly [field: string, handler: ParityHandler];

/**
 * Runs a case in the form that its fields say, by their own names or by what they mean; `around` are fields of any
 * form.
 */
export function runForm(forms: readonly ParityForm[], parity: ParityCase, around: readonly string[]): unknown {
  const known = [...around, ...forms.map(([field]) => field)];
  for (const input of [parity.input as Fields, renamed(parity.input as Fields, known)]) {
    const form = forms.find(([field]) => field in input);
    if (form !== undefined) return form[1]({ ...parity, input });
  }
  throw new UnknownKeys(Object.keys(parity.input as Fields));
}

/** A list of such records, or one record alone. */
export function recordsOf<T = Fields>(
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): T[] {
  const items = Array.isArray(value) ? value : [value];
  return items.map((item) => fieldsOf(item, required, optional) as T);
}

export const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');

/** The list that `value` is, or the list of it alone. */
export const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? value : [value]) as T[];

/** What `body` gives, or `{ error }` with the message it threw. */
export function orError<T>(body: () => T): T | { error: string } {
  try {
    return body();
  } catch (error) {
    if (error instanceof UnknownForm || error instanceof NotApplicable) throw error;
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
