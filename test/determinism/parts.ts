/** @file The parts of a model that a recipe names: optimizers, compressors, rates. */

import { CosineDecay, CosineDecayRestarts } from '../../src/base/rates/cosine-decay.js';
import type { Rate } from '../../src/base/rates/rate.js';
import {
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  Warmup,
} from '../../src/base/rates/schedules.js';
import * as dense from '../../src/compat/optimizers.js';
import type { Optimizer } from '../../src/optim/optimizer.js';
import type { FloatCompressorMessage, OptimizerMessage } from '../../src/sparse/config/config-messages.js';
import * as rows from '../../src/sparse/config/optimizers.js';
import { type Choice, chosen, has, type Recipe } from './recipe.js';

/** A rate of the schedule that the recipe names, around `rate`. */
export function rateOf(recipe: Recipe, rate: number): Rate | undefined {
  const schedule = chosen(recipe, 'schedule');
  switch (schedule) {
    case undefined:
      return undefined;
    case 'polynomial':
      return new PolynomialDecay({ initialLearningRate: rate, decaySteps: 7, endLearningRate: rate / 10 });
    case 'exponential':
      return new ExponentialDecay({ initialLearningRate: rate, decaySteps: 3, decayRate: 0.7 });
    case 'inverse-time':
      return new InverseTimeDecay({ initialLearningRate: rate, decaySteps: 2, decayRate: 0.5, staircase: true });
    case 'piecewise':
      return new PiecewiseConstantDecay([3, 6], [rate, rate / 2, rate / 4]);
    case 'cosine':
      return new CosineDecay({ initialLearningRate: rate, decaySteps: 8 });
    case 'cosine-restarts':
      return new CosineDecayRestarts({ initialLearningRate: rate, firstDecaySteps: 3 });
    case 'warm-up':
      return new Warmup({ warmupSteps: 4, after: rate });
    default:
      schedule satisfies never;
      throw new Error(`schedule ${schedule}`);
  }
}

export function rowOptimizerOf(recipe: Recipe, name: Choice<'row'>): OptimizerMessage {
  const optimizer = plainRowOptimizer(name, has(recipe, 'row-warm-up') ? 3 : 0);
  return has(recipe, 'stochastic-rounding') ? rows.withStochasticRounding(optimizer) : optimizer;
}

function plainRowOptimizer(name: Choice<'row'>, warmupSteps: number): OptimizerMessage {
  const rated = { learningRate: 0.05, warmupSteps };
  switch (name) {
    case 'adagrad':
      return rows.AdagradOptimizer(rated);
    case 'sgd':
      return rows.SgdOptimizer(rated);
    case 'ftrl':
      return rows.FtrlOptimizer({ ...rated, l1Regularization: 1e-4, l2Regularization: 1e-3 });
    case 'dynamic-wd-adagrad':
      return rows.DynamicWdAdagradOptimizer({ ...rated, enableDynamicWd: false, weightDecayFactor: 0.01 });
    case 'adadelta':
      return rows.AdadeltaOptimizer(rated);
    case 'adam':
      return rows.AdamOptimizer(rated);
    case 'amsgrad':
      return rows.AmsgradOptimizer(rated);
    case 'momentum':
      return rows.MomentumOptimizer(rated);
    case 'moving-average':
      return rows.MovingAverageOptimizer({ momentum: 0.8 });
    case 'rmsprop':
      return rows.RmspropOptimizer({ learningRate: 0.05 });
    case 'rmsprop-v2':
      return rows.RmspropV2Optimizer({ learningRate: 0.05 });
    case 'group-ftrl':
      return rows.FTRLWithGroupSparsityOptimizer({ ...rated, l1Regularization: 1e-4 });
    case 'batch-softmax':
      return rows.BatchSoftmaxOptimizer({ learningRate: 0.05 });
    case 'group-lasso':
      return rows.AdaGradWithGroupLassoOptimizer({ ...rated, l2Regularization: 1e-4 });
    default:
      name satisfies never;
      throw new Error(`optimizer ${name}`);
  }
}

/** The member of a segment's options. */
export function compressorOf(recipe: Recipe): { compressor?: FloatCompressorMessage } {
  const made: Record<Choice<'compressor'>, () => FloatCompressorMessage> = {
    fp16: rows.Fp16Compressor,
    'fixed-r8': () => rows.FixedR8Compressor(2),
    'one-bit': () => rows.OneBitCompressor(4, 0.1),
  };
  const name = chosen(recipe, 'compressor');
  return name === undefined ? {} : { compressor: made[name]() };
}

export function denseOptimizerOf(recipe: Recipe): Optimizer {
  const learningRate = rateOf(recipe, 0.02) ?? 0.02;
  const name = chosen(recipe, 'dense') ?? 'gradient-descent';
  switch (name) {
    case 'gradient-descent':
      return new dense.GradientDescentOptimizer({ learningRate });
    case 'adagrad':
      return new dense.AdagradOptimizer({ learningRate });
    case 'adam':
      return new dense.AdamOptimizer({ learningRate });
    case 'ftrl':
      return new dense.FtrlOptimizer({ learningRate, l1RegularizationStrength: 1e-4 });
    case 'momentum':
      return new dense.MomentumOptimizer({ learningRate, momentum: 0.9, useNesterov: true });
    case 'adamom':
      return new dense.AdamomOptimizer({ learningRate, weightDecay: 1e-3 });
    case 'rmsprop':
      return new dense.RmspropOptimizer({ learningRate });
    case 'shampoo':
      return new dense.ShampooOptimizer({ learningRate, warmup: 2, tau1: 3, tau2: 2, eigenHead: 3, eigenTail: 2 });
    default:
      name satisfies never;
      throw new Error(`optimizer ${name}`);
  }
}
