/**
 * @file Steps of variables as a function: any dense optimizer, or the config of one of a table.
 *
 * A config steps a variable as it steps the rows of a table, with the slots TensorFlow's optimizer of that name has.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import { resolveRate } from '../base/rates/segment-rates.js';
import type { Op, Tensor } from '../graph/graph.js';
import type { OptimizerMessage } from '../sparse/config/config-messages.js';
import { type OptimizerPlan, planOptimizer } from '../sparse/config/optimizer-plan.js';
import { type ApplyOptions, Optimizer } from './optimizer.js';
import { RangeOptimizer, rangeStep } from './range-optimizer.js';
import { AdamOptimizer } from './tf-optimizers.js';

/** An optimizer of tables, or one that only dense variables have. */
export type VariableOptimizer = OptimizerMessage | Optimizer;
export type ApplyGradientsOptions = Omit<ApplyOptions, 'globalStep' | 'name'>;

/**
 * One op per variable that takes an optimizer step from its gradient.
 *
 * ```ts
 * const [gradient] = gradients([loss], [weights]);
 * const trainOp = group(graph, applyGradients([[gradient, weights]], AdagradOptimizer({ learningRate: 0.1 })));
 * ```
 */
export function applyGradients(
  gradsAndVars: readonly (readonly [Tensor, Tensor])[],
  optimizer: VariableOptimizer,
  options: ApplyGradientsOptions = {},
): Op[] {
  checkOptions('applyGradients', options, ['weightDecay', 'learningRate']);
  const dense = optimizer instanceof Optimizer ? optimizer : optimizerOf(optimizer, gradsAndVars[0]?.[1].op.name);
  return dense.applyAll(gradsAndVars, options);
}

/** The dense optimizer of a table's config: sgd, adagrad, ftrl or adam. */
export function optimizerOf(config: OptimizerMessage, target = ''): Optimizer {
  const plan = planOptimizer(config, 1);
  const rate = resolveRate(plan);
  switch (plan.name) {
    case 'sgd':
      return new RangeOptimizer('GradientDescent', rate, sgdStep());
    case 'adagrad':
      return new RangeOptimizer('Adagrad', rate, adagradStep(plan));
    case 'ftrl':
      return new RangeOptimizer('Ftrl', rate, ftrlStep(plan));
    case 'adam':
      return adamOf(plan, rate);
    default:
      throw new MonolithError(
        'ML_UNSUPPORTED',
        { what: `${plan.name} for the dense variable ${target}`, reason: 'it steps rows of tables only' },
        { hint: 'use sgd, adagrad, ftrl or adam, or one of `optimizers`, such as optimizers.MomentumOptimizer' },
      );
  }
}

const sgdStep = () => rangeStep('applySgdF32', { slots: {}, parameters: {}, flags: {} });

function adagradStep({ initial, values }: OptimizerPlan) {
  const [decay] = values as [number];
  return rangeStep('applyAdagradF32', {
    slots: { norm: { slot: 'accumulator', suffix: 'Adagrad', initial } },
    parameters: { decay },
    flags: {},
  });
}

function ftrlStep({ initial, values }: OptimizerPlan) {
  const [beta, l1, l2] = values as [number, number, number];
  return rangeStep('applyFtrlF32', {
    slots: { norm: { slot: 'accum', suffix: 'Ftrl', initial }, zero: { slot: 'linear', suffix: 'Ftrl' } },
    parameters: { beta, l1, l2 },
    flags: {},
  });
}

function adamOf(plan: OptimizerPlan, learningRate: Rate): Optimizer {
  const [beta1, beta2, weightDecay, epsilon] = plan.values as [number, number, number, number];
  const useNesterov = plan.flags !== 0;
  return new AdamOptimizer({ learningRate, beta1, beta2, weightDecay, epsilon, useNesterov });
}
