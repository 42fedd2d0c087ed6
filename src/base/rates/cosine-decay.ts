/** @file Learning-rate schedules along half a cosine: once, or again and again (tf.train.cosine_decay). */
import { checkOptions } from '../check-options.js';
import { MonolithError } from '../errors.js';
import { LearningRateFunction, positive } from './rate.js';

export interface CosineDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  /** Where it ends, as a share of the initial rate. */
  readonly alpha?: number;
}

const halfCosine = (done: number): number => 0.5 * (1 + Math.cos(Math.PI * done));

/** From the initial rate to `alpha` of it along half a cosine, over `decaySteps`. */
export class CosineDecay extends LearningRateFunction {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly alpha: number;

  constructor(options: CosineDecayOptions) {
    super();
    checkOptions('schedules.cosineDecay', options, ['initialLearningRate', 'decaySteps', 'alpha']);
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = positive('decaySteps', options.decaySteps);
    this.alpha = options.alpha ?? 0;
  }

  override get parameters() {
    return { initial_learning_rate: this.initialLearningRate, decay_steps: this.decaySteps, alpha: this.alpha };
  }

  override call(globalStep: number): number {
    const share = halfCosine(Math.min(globalStep, this.decaySteps) / this.decaySteps);
    return this.initialLearningRate * ((1 - this.alpha) * share + this.alpha);
  }
}

export interface CosineDecayRestartsOptions {
  readonly initialLearningRate: number;
  readonly firstDecaySteps: number;
  /** Each period is this many times as long as the one before, and starts at this share of its rate. */
  readonly tMul?: number;
  readonly mMul?: number;
  readonly alpha?: number;
}

/** Cosine decays one after the other, each starting afresh. */
export class CosineDecayRestarts extends LearningRateFunction {
  readonly initialLearningRate: number;
  readonly firstDecaySteps: number;
  readonly tMul: number;
  readonly mMul: number;
  readonly alpha: number;

  constructor(options: CosineDecayRestartsOptions) {
    super();
    checkOptions('schedules.cosineDecayRestarts', options, [
      'initialLearningRate',
      'firstDecaySteps',
      'tMul',
      'mMul',
      'alpha',
    ]);
    this.initialLearningRate = options.initialLearningRate;
    this.firstDecaySteps = positive('firstDecaySteps', options.firstDecaySteps);
    this.tMul = options.tMul ?? 2;
    if (!(this.tMul >= 1)) throw new MonolithError('ML_RATE', { reason: `tMul is ${this.tMul}, below 1` });
    this.mMul = options.mMul ?? 1;
    this.alpha = options.alpha ?? 0;
  }

  override get parameters() {
    return {
      initial_learning_rate: this.initialLearningRate,
      first_decay_steps: this.firstDecaySteps,
      t_mul: this.tMul,
      m_mul: this.mMul,
      alpha: this.alpha,
    };
  }

  override call(globalStep: number): number {
    const { tMul } = this;
    let time = globalStep / this.firstDecaySteps;
    let length = 1;
    let share = 1;
    if (tMul === 1) {
      share = this.mMul ** Math.floor(time);
      time -= Math.floor(time);
    }
    // Lengths grow by tMul, so this takes as many rounds as periods are over: a few, whatever the step.
    for (; time >= length; length *= tMul) {
      time -= length;
      share *= this.mMul;
    }
    return this.initialLearningRate * ((1 - this.alpha) * share * halfCosine(time / length) + this.alpha);
  }
}
