/**
 * @file The last argument of every op: an object with its options, `name` among them.
 *
 * One rule for all ops: `(operands…, options?)`. What is not an option of the op is refused when the graph is built, with the
 * nearest name there is.
 */
import { didYouMean } from '../../base/suggest.js';
import { misfit } from '../graph.js';

export interface OpOptions {
  /** Of the op in the graph, in traces and in errors; made unique with `_1`, `_2`. */
  readonly name?: string | undefined;
}

type Keys<T> = readonly Exclude<keyof T & string, 'name'>[];

/** `options`, after a look at what is in them: `name` and `keys` are known. */
export function checkedOptions<T extends OpOptions>(op: string, options: T, keys: Keys<T> = []): T {
  if (typeof options !== 'object' || options === null) {
    throw misfit(op, `its options are an object, not ${JSON.stringify(options)}`, "a name is given as { name: '…' }");
  }
  const known: readonly string[] = [...keys, 'name'];
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return options;
  throw misfit(op, `it has no option ${unknown}`, didYouMean(unknown, known) ?? `it has ${known.join(', ')}`);
}

/** The name that was asked for, or `otherwise`, of an op that has no other options. */
export function nameOf(op: string, options: OpOptions, otherwise: string): string;
export function nameOf(op: string, options: OpOptions, otherwise?: string): string | undefined;
export function nameOf(op: string, options: OpOptions, otherwise?: string): string | undefined {
  return checkedOptions(op, options).name ?? otherwise;
}
