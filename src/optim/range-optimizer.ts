/** @file Optimizers whose step is one kernel over any range of a variable: weights, slots, gradient, count, rate, constants. */
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import type { Kernel } from '../runtime/kernels/kernels.js';
import type { LoweredStep } from './apply-gradient-op.js';
import { Optimizer, type SlotSpec } from './optimizer.js';

export interface RangeRule {
  readonly kernel: Kernel;
  readonly slots: readonly SlotSpec[];
  /** What the kernel takes after the rate: addresses of the shared values, floats, whole numbers. */
  readonly parameters: readonly number[];
  readonly flags?: readonly number[];
  /** A step that changes nothing is not run at all. */
  readonly isIdle?: boolean;
}

export class RangeOptimizer extends Optimizer {
  readonly #rule: RangeRule;

  constructor(name: string, learningRate: Rate, rule: RangeRule) {
    super(name, learningRate);
    // One that is left out, as momentum can be in JavaScript, would make every weight NaN.
    for (const value of rule.parameters) {
      if (Number.isFinite(value)) continue;
      throw new MonolithError('ML_FLAG', { flag: name, reason: `it cannot step with an option that is ${value}` });
    }
    this.#rule = rule;
  }

  override slotsOf(): readonly SlotSpec[] {
    return this.#rule.slots;
  }

  override lowerStep({ context, target, slots, shared, gradient, rate, range }: LoweredStep): void {
    const { kernel, parameters, flags = [], isIdle = false } = this.#rule;
    if (isIdle) return;
    const { thread, environment } = context;
    context.emitThread(kernel, [
      range.at(environment.variable(target)),
      ...slots.map((slot) => range.at(environment.variable(slot))),
      range.at(gradient),
      range.floats,
      rate,
      ...shared.map((tensor) => context.threadPointer(tensor)),
      ...parameters.map((value) => thread.constantF32(value)),
      ...flags.map((value) => thread.constant(value)),
    ]);
  }
}
