/**
 * @file The shape of a parity file and what a module's handler sees of it.
 *
 * A file is a list of cases: numbers of the reference, or numbers that follow from a formula (`source_test` says which).
 * A handler gets one case of its module, runs the code here on the input, and either returns what it got under the
 * names of `expected`, which the runner then compares, or checks for itself and throws.
 */
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

export type Fields = Readonly<Record<string, unknown>>;

/** `value` as a record that has all of `required` and nothing beyond `required` and `optional`. */
export function fieldsOf(value: unknown, required: readonly string[], optional: readonly string[] = []): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnknownForm('not a record');
  const names = Object.keys(value);
  const missing = required.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => !required.includes(name) && !optional.includes(name));
  if (missing.length > 0) throw new UnknownForm(`the case has no ${missing.join(', ')}`);
  if (unknown.length > 0) throw new UnknownForm(`the case has unknown ${unknown.join(', ')}`);
  return value as Fields;
}

/** What `body` gives, or `{ error }` with the message it threw. */
export function orError<T>(body: () => T): T | { error: string } {
  try {
    return body();
  } catch (error) {
    if (error instanceof UnknownForm || error instanceof NotApplicable) throw error;
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
