/** @file Learning rates by step, for variables and for rows alike. `schedules` of the package. */

import {
  CosineDecay,
  type CosineDecayOptions,
  CosineDecayRestarts,
  type CosineDecayRestartsOptions,
} from '../base/rates/cosine-decay.js';
import type { LearningRateFunction } from '../base/rates/rate.js';
import {
  ConstantRate,
  type DecayOptions,
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  type PolynomialDecayOptions,
  Warmup,
  type WarmupOptions,
} from '../base/rates/schedules.js';

export { LearningRateFunction, type Rate } from '../base/rates/rate.js';
export type { CosineDecayOptions, CosineDecayRestartsOptions, DecayOptions, PolynomialDecayOptions, WarmupOptions };

/** The same rate at every step. */
export const constant = (rate: number): LearningRateFunction => new ConstantRate(rate);

/** From the initial rate to the end rate over `decaySteps`, up or down. */
export const polynomialDecay = (options: PolynomialDecayOptions): LearningRateFunction => new PolynomialDecay(options);

/** initial · decayRate^(step / decaySteps). */
export const exponentialDecay = (options: DecayOptions): LearningRateFunction => new ExponentialDecay(options);

/** initial / (1 + decayRate · step / decaySteps). */
export const inverseTimeDecay = (options: DecayOptions): LearningRateFunction => new InverseTimeDecay(options);

/** `values[i]` up to and with step `boundaries[i]`, then the last. */
export const piecewiseConstantDecay = (
  boundaries: readonly number[],
  values: readonly number[],
): LearningRateFunction => new PiecewiseConstantDecay(boundaries, values);

/** Half a cosine, down to `alpha` of the initial rate. */
export const cosineDecay = (options: CosineDecayOptions): LearningRateFunction => new CosineDecay(options);

/** Cosines one after the other, each longer by `tMul` and lower by `mMul`. */
export const cosineDecayRestarts = (options: CosineDecayRestartsOptions): LearningRateFunction =>
  new CosineDecayRestarts(options);

/** A straight rise to what `after` says at its end, then `after`. */
export const warmup = (options: WarmupOptions): LearningRateFunction => new Warmup(options);
