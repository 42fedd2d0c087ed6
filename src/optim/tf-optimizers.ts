/**
 * @file TensorFlow's optimizers of dense variables, with its names, defaults, rules and slots (tf.compat.v1.train).
 *
 * ```ts
 * const train = new AdamOptimizer({ learningRate: 0.01 }).minimize(loss, { globalStep: globalStep(graph) });
 * ```
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import type { Graph, Op, Tensor } from '../graph/graph.js';
import { scale } from '../graph/ops/elementwise.js';
import { variable } from '../graph/ops/state.js';
import { multiplyVariable } from './multiply-variable.js';
import { RangeOptimizer, rangeStep } from './range-optimizer.js';

export interface GradientDescentOptions {
  readonly learningRate: Rate;
  readonly name?: string;
}

/** w -= lr * g. */
export class GradientDescentOptimizer extends RangeOptimizer {
  constructor(options: GradientDescentOptions) {
    checkOptions('optim.sgd', options, ['learningRate', 'name']);
    const { learningRate, name = 'GradientDescent' } = options;
    super(name, learningRate, rangeStep('applySgdF32', { slots: {}, parameters: {}, flags: {} }));
  }
}

export interface MomentumOptions {
  readonly learningRate: Rate;
  readonly momentum: number;
  readonly useNesterov?: boolean;
  readonly name?: string;
}

/**
 * accum = momentum * accum + g; w -= lr * accum, or with Nesterov lr * (g + momentum * accum). Slot
 * `<variable>/Momentum`.
 */
export class MomentumOptimizer extends RangeOptimizer {
  constructor(options: MomentumOptions) {
    checkOptions('optim.momentum', options, ['learningRate', 'momentum', 'useNesterov', 'name']);
    const { learningRate, momentum, useNesterov = false, name = 'Momentum' } = options;
    const step = rangeStep('applyDenseMomentumF32', {
      slots: { accum: { slot: 'momentum', suffix: name } },
      parameters: { mu: momentum },
      flags: { nesterov: useNesterov },
    });
    super(name, learningRate, step);
  }
}

export interface AdagradOptions {
  readonly learningRate: Rate;
  readonly initialAccumulatorValue?: number;
  readonly name?: string;
}

/** accum += g^2; w -= lr * g / sqrt(accum). Slot `<variable>/Adagrad`. */
export class AdagradOptimizer extends RangeOptimizer {
  constructor(options: AdagradOptions) {
    checkOptions('optim.adagrad', options, ['learningRate', 'initialAccumulatorValue', 'name']);
    const { learningRate, initialAccumulatorValue = 0.1, name = 'Adagrad' } = options;
    if (!(initialAccumulatorValue > 0)) {
      throw bad('initialAccumulatorValue', `initial_accumulator_value must be positive: ${initialAccumulatorValue}`);
    }
    const step = rangeStep('applyAdagradF32', {
      slots: { norm: { slot: 'accumulator', suffix: name, initial: initialAccumulatorValue } },
      parameters: { decay: 0 },
      flags: {},
    });
    super(name, learningRate, step);
  }
}

export interface FtrlOptions {
  readonly learningRate: Rate;
  readonly initialAccumulatorValue?: number;
  readonly l1RegularizationStrength?: number;
  readonly l2RegularizationStrength?: number;
  readonly beta?: number;
  readonly name?: string;
}

/**
 * FTRL-proximal of the literature, learning_rate_power -0.5: both signs shrink by l1, and l2 counts twice, as
 * TensorFlow has it. Tables have another (see docs/tables.md). Slots `<variable>/Ftrl` and `<variable>/Ftrl_1`.
 */
export class FtrlOptimizer extends RangeOptimizer {
  constructor(options: FtrlOptions) {
    checkOptions('optim.ftrl', options, [
      'learningRate',
      'initialAccumulatorValue',
      'l1RegularizationStrength',
      'l2RegularizationStrength',
      'beta',
      'name',
    ]);
    const { learningRate, name = 'Ftrl', initialAccumulatorValue = 0.1, beta = 0 } = options;
    const { l1RegularizationStrength: l1 = 0, l2RegularizationStrength: l2 = 0 } = options;
    for (const [key, value] of Object.entries({ initialAccumulatorValue, l1, l2, beta })) {
      if (!(value >= 0)) throw bad(key, `${value} needs to be positive or zero`);
    }
    const step = rangeStep('applyStandardFtrlF32', {
      slots: {
        norm: { slot: 'accum', suffix: name, initial: initialAccumulatorValue },
        zero: { slot: 'linear', suffix: name },
      },
      parameters: { beta, l1, l2: 2 * l2 },
      flags: {},
    });
    super(name, learningRate, step);
  }
}

export interface AdamOptions {
  readonly learningRate?: Rate;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly useNesterov?: boolean;
  readonly name?: string;
}

interface Powers {
  readonly beta1: Tensor;
  readonly beta2: Tensor;
}

/**
 * Adam with TensorFlow's correction of the bias: the powers of the betas are variables `beta1_power` and `beta2_power`
 * that all variables share. Slots `<variable>/Adam` (m) and `<variable>/Adam_1` (v).
 */
export class AdamOptimizer extends RangeOptimizer {
  readonly #beta1: number;
  readonly #beta2: number;
  readonly #powers = new Map<Graph, Powers>();

  constructor(options: AdamOptions & { readonly weightDecay?: number } = {}) {
    checkOptions('optim.adam', options, [
      'learningRate',
      'beta1',
      'beta2',
      'epsilon',
      'useNesterov',
      'weightDecay',
      'name',
    ]);
    const { learningRate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, name = 'Adam' } = options;
    const { useNesterov = false, weightDecay = 0 } = options;
    const step = rangeStep('applyDenseAdamF32', {
      slots: { m: { slot: 'm', suffix: name }, v: { slot: 'v', suffix: name } },
      parameters: { beta1, beta2, decay: weightDecay, epsilon },
      flags: { nesterov: useNesterov },
    });
    super(name, learningRate, step);
    this.#beta1 = beta1;
    this.#beta2 = beta2;
  }

  /** What the powers were when the step began: slices copy them before any thread moves them on. */
  override sharedInputs(variables: readonly Tensor[]): readonly Tensor[] {
    const { beta1, beta2 } = this.#powersIn(variables[0]!.graph);
    return [
      scale(beta1, 1, { name: `${this.name}/beta1_power` }),
      scale(beta2, 1, { name: `${this.name}/beta2_power` }),
    ];
  }

  override finish(variables: readonly Tensor[]): readonly Op[] {
    const { beta1, beta2 } = this.#powersIn(variables[0]!.graph);
    return [multiplyVariable(beta1, this.#beta1), multiplyVariable(beta2, this.#beta2)];
  }

  /** `{ beta1, beta2 }`: the variables of the powers, `undefined` before the first step was made in the graph. */
  getPowers(graph: Graph): Powers | undefined {
    return this.#powers.get(graph);
  }

  #powersIn(graph: Graph): Powers {
    let powers = this.#powers.get(graph);
    if (powers === undefined) {
      const make = (name: string, beta: number) =>
        graph.rootScope(() =>
          variable(graph, { name, shape: [], initial: () => Float32Array.of(beta), trainable: false }),
        );
      powers = { beta1: make('beta1_power', this.#beta1), beta2: make('beta2_power', this.#beta2) };
      this.#powers.set(graph, powers);
    }
    return powers;
  }
}

function bad(flag: string, reason: string): MonolithError {
  return new MonolithError('ML_FLAG', { flag, reason });
}
