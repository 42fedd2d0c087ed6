/**
 * @file Learning-rate schedules: rates as functions of the steps done, as tf.train has them.
 *
 * One kind of object serves dense optimizers and the segments of tables. A rate is asked for once before each step;
 * `call` computes and makes nothing. Those along a cosine are in cosine-decay.ts.
 */
import { checkOptions } from '../check-options.js';
import { MonolithError } from '../errors.js';
import { checkRate, LearningRateFunction, positive, printRate, type Rate, rateAt } from './rate.js';

/** The same rate at every step: what a number means, as an object. */
export class ConstantRate extends LearningRateFunction {
  readonly learningRate: number;

  constructor(learningRate: number) {
    super();
    this.learningRate = learningRate;
  }

  override get parameters() {
    return { learning_rate: this.learningRate };
  }

  override call(_globalStep: number): number {
    return this.learningRate;
  }
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
    checkOptions('schedules.polynomialDecay', options, [
      'initialLearningRate',
      'decaySteps',
      'endLearningRate',
      'power',
      'cycle',
    ]);
    const { initialLearningRate, decaySteps, endLearningRate = 0.0001, power = 1, cycle = false } = options;
    this.initialLearningRate = initialLearningRate;
    this.decaySteps = positive('decaySteps', decaySteps);
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

export interface DecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  /** Decays once every `decaySteps` in place of a little every step. */
  readonly staircase?: boolean;
}

abstract class Decay extends LearningRateFunction {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  readonly staircase: boolean;

  constructor(options: DecayOptions) {
    super();
    checkOptions(new.target.name, options, ['initialLearningRate', 'decaySteps', 'decayRate', 'staircase']);
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = positive('decaySteps', options.decaySteps);
    this.decayRate = options.decayRate;
    this.staircase = options.staircase ?? false;
  }

  override get parameters() {
    return {
      initial_learning_rate: this.initialLearningRate,
      decay_steps: this.decaySteps,
      decay_rate: this.decayRate,
      staircase: this.staircase,
    };
  }

  /** Decays done so far, whole ones with `staircase`. */
  protected decays(globalStep: number): number {
    const decays = globalStep / this.decaySteps;
    return this.staircase ? Math.floor(decays) : decays;
  }
}

/**
 * initial * decayRate ^ (step / decaySteps).
 *
 * ```ts
 * new ExponentialDecay({ initialLearningRate: 0.1, decaySteps: 100, decayRate: 0.5 }).call(200); // 0.025
 * ```
 */
export class ExponentialDecay extends Decay {
  override call(globalStep: number): number {
    return this.initialLearningRate * this.decayRate ** this.decays(globalStep);
  }
}

/** initial / (1 + decayRate * step / decaySteps). */
export class InverseTimeDecay extends Decay {
  override call(globalStep: number): number {
    return this.initialLearningRate / (1 + this.decayRate * this.decays(globalStep));
  }
}

/** `values[i]` up to and with step `boundaries[i]`, the last value from there on: one value more than boundaries. */
export class PiecewiseConstantDecay extends LearningRateFunction {
  readonly boundaries: readonly number[];
  readonly values: readonly number[];

  constructor(boundaries: readonly number[], values: readonly number[]) {
    super();
    if (boundaries.length !== values.length - 1) {
      const reason = 'the length of boundaries should be 1 less than the length of values';
      throw new MonolithError('ML_RATE', { reason });
    }
    if (boundaries.some((boundary, i) => i > 0 && !(boundary > boundaries[i - 1]!))) {
      throw new MonolithError('ML_RATE', { reason: 'boundaries must rise' });
    }
    this.boundaries = [...boundaries];
    this.values = [...values];
  }

  override get parameters() {
    return { boundaries: `[${this.boundaries.join(', ')}]`, values: `[${this.values.map(printRate).join(', ')}]` };
  }

  override call(globalStep: number): number {
    let piece = 0;
    while (piece < this.boundaries.length && globalStep > this.boundaries[piece]!) piece++;
    return this.values[piece]!;
  }
}

export interface WarmupOptions {
  readonly warmupSteps: number;
  /** The rate after the warm-up; its schedule counts from the first step of all. */
  readonly after: Rate;
  /** Default: 0. */
  readonly initialLearningRate?: number;
}

/** A straight rise from the initial rate to what `after` says at the end of the warm-up; then `after`. */
export class Warmup extends LearningRateFunction {
  readonly warmupSteps: number;
  readonly after: Rate;
  readonly initialLearningRate: number;

  constructor(options: WarmupOptions) {
    super();
    checkOptions('schedules.warmup', options, ['warmupSteps', 'after', 'initialLearningRate']);
    this.warmupSteps = positive('warmupSteps', options.warmupSteps);
    this.after = checkRate(options.after);
    this.initialLearningRate = options.initialLearningRate ?? 0;
  }

  override get parameters() {
    return {
      initial_learning_rate: this.initialLearningRate,
      warmup_steps: this.warmupSteps,
      after: printRate(this.after),
    };
  }

  override call(globalStep: number): number {
    if (globalStep >= this.warmupSteps) return rateAt(this.after, globalStep);
    const end = rateAt(this.after, this.warmupSteps);
    return this.initialLearningRate + (end - this.initialLearningRate) * (globalStep / this.warmupSteps);
  }
}
