/**
 * @file The last argument of every op: an object with its options, `name` among them.
 *
 * One rule for all ops: `(operands…, options?)`. What is not an option of the op is refused when the graph is built.
 */
import { checkOptions } from '../../base/check-options.js';

export interface OpOptions {
  /** Of the op in the graph, in traces and in errors; made unique with `_1`, `_2`. */
  readonly name?: string | undefined;
}

/** The name that was asked for, or `otherwise`, of an op that has no other options. */
export function nameOf(op: string, options: OpOptions, otherwise: string): string;
export function nameOf(op: string, options: OpOptions, otherwise?: string): string | undefined;
export function nameOf(op: string, options: OpOptions, otherwise?: string): string | undefined {
  return checkOptions(op, options, ['name']).name ?? otherwise;
}
