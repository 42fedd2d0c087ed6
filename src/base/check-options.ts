/**
 * @file Options are looked at when they are given: one that nobody knows is an error that names the nearest one.
 *
 * Programs in JavaScript, and objects that were built up elsewhere, get no help from the compiler: without this `lr` in
 * place of `learningRate` trains with the default and says nothing. It costs a walk over the keys that were given.
 */
import { MonolithError } from './errors.js';
import { didYouMean } from './suggest.js';

/** Keys of the options, of each member where they are a union. */
type KeysOf<T> = T extends unknown ? keyof T & string : never;
/** The list itself when it names every option; otherwise a type that says which are missing. */
type Complete<T, Keys extends readonly string[]> = [Exclude<KeysOf<T>, Keys[number]>] extends [never]
  ? Keys
  : { readonly optionsLeftOut: Exclude<KeysOf<T>, Keys[number]> };

/**
 * `options`, after ML_OPTION for what is no object or has a key that is not `known`. The list has to name every option
 * of the type and nothing else, or it does not compile.
 *
 * ```ts
 * const { axis = 'all', name = 'Sum' } = checkOptions('reduceSum', options, ['axis', 'name']);
 * ```
 */
export function checkOptions<T extends object, const Keys extends readonly KeysOf<T>[]>(
  where: string,
  options: T,
  known: Keys & Complete<T, Keys>,
): T {
  checkKeys(where, options, known as readonly string[]);
  return options;
}

/** The same for options whose names come from elsewhere, such as the fields of a message. */
export function checkKeys(where: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const reason = `an object of options is needed, not ${kindOf(options)}`;
    throw new MonolithError('ML_OPTION', { where, reason }, { hint: `its options are ${known.join(', ')}` });
  }
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const hint = didYouMean(option, known) ?? `its options are ${known.join(', ')}`;
    throw new MonolithError('ML_OPTION', { where, option, reason: `there is no option ${option}` }, { hint });
  }
}

/** ML_OPTION for an argument that is no number, such as an object of options where the numbers stand by themselves. */
export function checkNumber<T>(where: string, option: string, value: T): T & number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw notA('number', where, option, value);
}

/** The error of an option whose value is of another type. */
export function notA(type: string, where: string, option: string, value: unknown): MonolithError {
  return new MonolithError('ML_OPTION', { where, option, reason: `${option} is a ${type}, not ${kindOf(value)}` });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return `{ ${Object.keys(value).join(', ')} }`;
  return typeof value === 'string' ? `'${value}'` : typeof value === 'function' ? 'a function' : String(value);
}
