import { MonolithError } from './errors.js';

/** ML_FLAG unless `value` is one of `choices`: callers in JavaScript may have misspelt it. */
export function checkChoice(flag: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new MonolithError('ML_FLAG', { flag, reason: `${value} is none of ${choices.join(', ')}` });
}
