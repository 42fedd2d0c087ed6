/**
 * @file Adamom and Rmsprop: the optimizers of dense variables of native_training/optimizers.
 *
 * Slots start at zero and are named `<variable>/<name>/m` and so on. `h = weightDecay * variable + gradient`.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import type { Tensor } from '../tensor/tensor.js';
import { RangeOptimizer, rangeStep } from './range-optimizer.js';

/** A number, or a tensor of rank 0 that holds one. */
export type Scalar = number | Tensor;

const slot = (name: string, of: string) => ({ slot: of, suffix: `${name}/${of}` });

export interface AdamomOptions {
  readonly learningRate?: Rate;
  readonly adaDecay?: Scalar;
  readonly momDecay?: Scalar;
  readonly epsilon?: Scalar;
  readonly weightDecay?: Scalar;
  /** Epsilon outside of the root. */
  readonly useV2?: boolean;
  /** False moves the variable and keeps the slots. */
  readonly updateSlots?: boolean;
  readonly name?: string;
}

/** m' = mom * m + (1 - mom) * h; v' = ada * v + h^2; c' = ada * c + 1; w -= m' * lr / sqrt(v' / c' + epsilon). */
export class AdamomOptimizer extends RangeOptimizer {
  constructor(options: AdamomOptions = {}) {
    checkOptions('optim.adamom', options, [
      'learningRate',
      'adaDecay',
      'momDecay',
      'epsilon',
      'weightDecay',
      'useV2',
      'updateSlots',
      'name',
    ]);
    const { learningRate = 5e-6, useV2 = false, updateSlots = true, name = 'Adamom' } = options;
    const { adaDecay = 0.9999, momDecay = 0.99, epsilon = 1e-6, weightDecay = 0 } = options;
    const step = rangeStep('applyAdamomF32', {
      slots: { m: slot(name, 'm'), v: slot(name, 'v'), c: slot(name, 'c') },
      parameters: {
        ada: scalarOf('ada_decay', adaDecay),
        mom: scalarOf('mom_decay', momDecay),
        epsilon: scalarOf('epsilon', epsilon),
        decay: scalarOf('weight_decay', weightDecay),
      },
      flags: { second: useV2, updates: updateSlots },
    });
    super(name, learningRate, step);
  }
}

export interface RmspropOptions {
  readonly learningRate?: Rate;
  readonly beta1?: Scalar;
  readonly beta2?: Scalar;
  readonly epsilon?: Scalar;
  readonly weightDecay?: Scalar;
  readonly useV2?: boolean;
  /** False makes a step do nothing, as upstream. */
  readonly updateSlots?: boolean;
  readonly name?: string;
}

/**
 * v' = v + (h^2 - v) * (1 - beta2); m' = beta1 * m + h * lr / sqrt(v' + epsilon); w -= m'. With `useV2` v' = beta2 * v
 * + h^2 and epsilon stands outside of the root.
 */
export class RmspropOptimizer extends RangeOptimizer {
  constructor(options: RmspropOptions = {}) {
    checkOptions('optim.rmsprop', options, [
      'learningRate',
      'beta1',
      'beta2',
      'epsilon',
      'weightDecay',
      'useV2',
      'updateSlots',
      'name',
    ]);
    const { learningRate = 5e-6, useV2 = false, updateSlots = true, name = 'Rmsprop' } = options;
    const { beta1 = 0.99, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
    const step = rangeStep('applyDenseRmspropF32', {
      slots: { m: slot(name, 'm'), v: slot(name, 'v') },
      parameters: {
        beta1: scalarOf('beta1', beta1),
        beta2: scalarOf('beta2', beta2),
        epsilon: scalarOf('epsilon', epsilon),
        decay: scalarOf('weight_decay', weightDecay),
      },
      flags: { second: useV2 },
      isIdle: !updateSlots,
    });
    super(name, learningRate, step);
  }
}

/** ML_DENSE_SCALAR for a tensor that is not one number. */
function scalarOf(name: string, value: Scalar): number {
  if (typeof value === 'number') return value;
  if (value.shape.length !== 0) {
    throw new MonolithError('ML_DENSE_SCALAR', { name, shape: `[${value.shape.join(',')}]` });
  }
  return Number(value.data[0]);
}

/** The apply of graphs without resource variables, which upstream refuses in these words. */
export function applyDenseLegacy(): never {
  throw new MonolithError('ML_DENSE_LEGACY');
}
