/**
 * @file Learning rates that follow the global step, with upstream's printed form, by which equal ones are found.
 *
 * Mirrors native_training/learning_rate_functions. A printed form names the class and its parameters in sorted order.
 */
import { MonolithError } from '../errors.js';

/**
 * Base of rates by step. The class itself computes nothing. One of your own overrides `call`, and `parameters` when it
 * has any: segments whose rates print equally may be merged.
 */
export class LearningRateFunction {
  /** The rate when `globalStep` steps are done. */
  call(_globalStep: number): number {
    throw new MonolithError('ML_RATE_BASE');
  }

  /** Parameters by upstream's names. */
  get parameters(): Readonly<Record<string, number | boolean | string>> {
    return {};
  }

  toString(): string {
    const parameters = Object.entries(this.parameters).sort(([a], [b]) => (a < b ? -1 : 1));
    const text = parameters.map(([name, value]) => `${name}=${pythonText(name, value)}`).join(',');
    return `LearningRateFunction("${this.constructor.name}",Params:${text})`;
  }
}

/** Counts print as they are; rates are floats and keep their point; booleans are capitalised. */
function pythonText(name: string, value: number | boolean | string): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string' || name.endsWith('steps')) return String(value);
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** A rate: a number, or a function of the global step. */
export type Rate = number | LearningRateFunction;

/** ML_RATE for a number that no step is to be scaled by: one below 0 climbs away from what is sought. */
export function checkConstantRate(rate: number): number {
  if (rate >= 0 && rate < Number.POSITIVE_INFINITY) return rate;
  const reason = `a rate is a finite number that is not below 0, not ${rate}`;
  throw new MonolithError('ML_RATE', { reason }, { hint: 'to go up, negate the loss' });
}

/** ML_RATE for what only looks like a rate: a plain function has a `call` too, which would take the step for `this`. */
export function checkRate(given: Rate): Rate {
  if (typeof given === 'number') return checkConstantRate(given);
  if (given instanceof LearningRateFunction) return given;
  const found = `a ${typeof given}`;
  throw new MonolithError(
    'ML_RATE',
    { reason: `a rate is a number or a LearningRateFunction, not ${found}` },
    { hint: 'class Mine extends LearningRateFunction { call(globalStep) { … } }' },
  );
}

export function rateAt(rate: Rate, globalStep: number): number {
  return typeof rate === 'number' ? rate : rate.call(globalStep);
}

/** Text by which two rates are equal. */
export function printRate(rate: Rate): string {
  return typeof rate === 'number' ? pythonText('', rate) : rate.toString();
}

/** A number that must be above 0. */
export function positive(name: string, value: number): number {
  if (!(value > 0)) throw new MonolithError('ML_RATE', { reason: `${name} is ${value}, not above 0` });
  return value;
}
