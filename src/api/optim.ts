/**
 * @file Optimizers of variables, and what applies them. `optim` of the package; rows of tables have their own in
 * `sparse`.
 *
 * ```ts
 * const train = optim.adam({ learningRate: 0.01 }).minimize(loss, { globalStep: ops.globalStep(graph) });
 * ```
 */
import {
  AdamomOptimizer,
  type AdamomOptions,
  RmspropOptimizer,
  type RmspropOptions,
} from '../optim/monolith-optimizers.js';
import type { Optimizer } from '../optim/optimizer.js';
import { ShampooOptimizer, type ShampooOptions } from '../optim/shampoo.js';
import {
  AdagradOptimizer,
  type AdagradOptions,
  AdamOptimizer,
  type AdamOptions,
  FtrlOptimizer,
  type FtrlOptions,
  GradientDescentOptimizer,
  type GradientDescentOptions,
  MomentumOptimizer,
  type MomentumOptions,
} from '../optim/tf-optimizers.js';

export {
  applyGradientsWithVarOptimizer,
  type VarOptimizerOptions,
} from '../feature/model/apply-gradients-with-var-optimizer.js';
export type { ClipOptions, ClipType } from '../feature/model/clip-gradients.js';
export { type ApplyGradientsOptions, applyGradients, type VariableOptimizer } from '../optim/apply-gradients.js';
export type { ApplyOptions, GradientAndVariable, MinimizeOptions } from '../optim/optimizer.js';
export { Optimizer } from '../optim/optimizer.js';
export { setVarOptimizer } from '../optim/var-optimizers.js';
export type {
  AdagradOptions,
  AdamOptions,
  AdamomOptions,
  FtrlOptions,
  GradientDescentOptions,
  MomentumOptions,
  RmspropOptions,
  ShampooOptions,
};

/** Plain gradient descent, w -= lr * g. */
export const sgd = (options: GradientDescentOptions): Optimizer => new GradientDescentOptimizer(options);

/** Steps along a decaying sum of gradients, plain or Nesterov's. */
export const momentum = (options: MomentumOptions): Optimizer => new MomentumOptimizer(options);

/** Divides by the root of the sum of all squared gradients. */
export const adagrad = (options: AdagradOptions): Optimizer => new AdagradOptimizer(options);

/** Follow the regularized leader, as in the literature: l1 shrinks both signs. */
export const ftrl = (options: FtrlOptions): Optimizer => new FtrlOptimizer(options);

/** Adam, plain or Nesterov's. */
export const adam = (options: AdamOptions = {}): Optimizer => new AdamOptimizer(options);

/** Adam with the momentum and the squares of native_training/optimizers/adamom. */
export const adamom = (options: AdamomOptions = {}): Optimizer => new AdamomOptimizer(options);

/** Rmsprop of native_training/optimizers, with momentum; `useV2` is its second form. */
export const rmsprop = (options: RmspropOptions = {}): Optimizer => new RmspropOptimizer(options);

/** Shampoo, which preconditions each axis of a variable by the inverse root of its statistics. */
export const shampoo = (options: ShampooOptions = {}): Optimizer => new ShampooOptimizer(options);
