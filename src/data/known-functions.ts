/**
 * @file Functions of schemas that have a name, so that a file can say them: those that tables of data are read by.
 */
import type { Cell } from './field.js';

/** A logarithm that numbers below 0 have too: a column of counts may hold one later. */
export const signedLog = (value: number): number => Math.sign(value) * Math.log1p(Math.abs(value));

/** Words of a text are the same in capitals. */
export const lowerCase = (cell: Cell): string => String(cell).toLowerCase();

const KNOWN = { signedLog, lowerCase } as const;
export const KNOWN_FUNCTIONS = ['signedLog', 'lowerCase'] as const satisfies readonly (keyof typeof KNOWN)[];
export type KnownFunction = (typeof KNOWN_FUNCTIONS)[number];

/** The name of a function; undefined of one that only its program has. */
export const nameOfFunction = (given: unknown): KnownFunction | undefined =>
  KNOWN_FUNCTIONS.find((name) => KNOWN[name] === given);

export const functionOf = (name: KnownFunction): (typeof KNOWN)[KnownFunction] => KNOWN[name];
