/** @file The rates of what an optimizer steps with rates of its own: segments of a table, feature slices, variables. */
import { MonolithError } from '../errors.js';
import { checkRate, type Rate, rateAt } from './rate.js';
import { PolynomialDecay } from './schedules.js';

/** What an optimizer's config says of its rate. */
export interface ConfiguredRate {
  readonly learningRate: number;
  /** Steps over which the rate rises from 0; none when it is 0. */
  readonly warmupSteps: number;
}

/** The rate of a segment: what the user gave, else a warm-up to the configured rate, else the configured rate. */
export function resolveRate(plan: ConfiguredRate, given?: Rate): Rate {
  if (given !== undefined) return checkRate(given);
  if (plan.warmupSteps <= 0) return plan.learningRate;
  return new PolynomialDecay({
    initialLearningRate: 0,
    decaySteps: plan.warmupSteps,
    endLearningRate: plan.learningRate,
  });
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
