/** @file Whole numbers in variables of the environment. */
import { MonolithError } from './errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable as a whole number; null when it is not set. ML_OPTION for any other text. */
export function environmentInt(env: Environment, name: string): number | null {
  const text = env[name];
  if (text === undefined || text.trim() === '') return null;
  const value = Number(text);
  if (/^\s*[+-]?\d+\s*$/.test(text) && Number.isSafeInteger(value)) return value;
  const reason = `${name} is a whole number, not '${text}'`;
  throw new MonolithError('ML_OPTION', { where: 'the environment', option: name, reason });
}
