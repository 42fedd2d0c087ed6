/**
 * @file Learning rates that follow the global step, with upstream's printed form, by which equal ones are found.
 *
 * Mirrors native_training/learning_rate_functions. A printed form names the class and its parameters in sorted order.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { OptimizerPlan } from './optimizer-plan.js';

/**
 * Base of rates by step. The class itself computes nothing. One of your own overrides `call`, and `parameters` when it has
 * any: segments whose rates print equally may be merged.
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

export interface PolynomialDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly endLearningRate?: number;
  readonly power?: number;
  /** Starts again whenever the steps are used up, over a multiple of them. */
  readonly cycle?: boolean;
}

/**
 * From the initial rate to the end rate, up or down, over `decaySteps`.
 *
 * ```ts
 * new PolynomialDecay({ initialLearningRate: 0.01, decaySteps: 10, endLearningRate: 0.11 }).call(1); // 0.02
 * ```
 */
export class PolynomialDecay extends LearningRateFunction {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly endLearningRate: number;
  readonly power: number;
  readonly cycle: boolean;

  constructor(options: PolynomialDecayOptions) {
    super();
    checkOptions('PolynomialDecay', options, [
      'initialLearningRate',
      'decaySteps',
      'endLearningRate',
      'power',
      'cycle',
    ]);
    const { initialLearningRate, decaySteps, endLearningRate = 0.0001, power = 1, cycle = false } = options;
    if (!(decaySteps > 0)) throw new MonolithError('ML_RATE', { reason: `decaySteps is ${decaySteps}, not above 0` });
    this.initialLearningRate = initialLearningRate;
    this.decaySteps = decaySteps;
    this.endLearningRate = endLearningRate;
    this.power = power;
    this.cycle = cycle;
  }

  override get parameters() {
    return {
      initial_learning_rate: this.initialLearningRate,
      decay_steps: this.decaySteps,
      end_learning_rate: this.endLearningRate,
      power: this.power,
      cycle: this.cycle,
    };
  }

  override call(globalStep: number): number {
    const steps = this.cycle ? this.decaySteps * Math.max(1, Math.ceil(globalStep / this.decaySteps)) : this.decaySteps;
    const done = Math.min(globalStep, steps) / steps;
    return (this.initialLearningRate - this.endLearningRate) * (1 - done) ** this.power + this.endLearningRate;
  }
}

/** A segment's rate: a number, or a function of the global step. */
export type Rate = number | LearningRateFunction;

/** The rate of a segment: what the user gave, else a warm-up to the configured rate, else the configured rate. */
export function resolveRate(plan: Pick<OptimizerPlan, 'learningRate' | 'warmupSteps'>, given?: Rate): Rate {
  if (given !== undefined) return checkRate(given);
  if (plan.warmupSteps <= 0) return plan.learningRate;
  return new PolynomialDecay({
    initialLearningRate: 0,
    decaySteps: plan.warmupSteps,
    endLearningRate: plan.learningRate,
  });
}

/** ML_RATE for what only looks like a rate: a plain function has a `call` too, which would take the step for `this`. */
export function checkRate(given: Rate): Rate {
  if ((typeof given === 'number' && !Number.isNaN(given)) || given instanceof LearningRateFunction) return given;
  const found = typeof given === 'number' ? 'NaN' : `a ${typeof given}`;
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

/** The rates of all segments at a step. ML_RATE_EMPTY for an empty list, as upstream. */
export function ratesAt(rates: readonly Rate[], globalStep: number): Float32Array {
  if (rates.length === 0) throw new MonolithError('ML_RATE_EMPTY');
  return Float32Array.from(rates, (rate) => rateAt(rate, globalStep));
}

/** ML_RATE_COUNT unless each segment has its rate. */
export function checkRateCount(rates: readonly Rate[], segmentCount: number): void {
  if (rates.length !== segmentCount) throw new MonolithError('ML_RATE_COUNT');
}
