/**
 * @file Optimizers whose step is one kernel over any range of a variable: weights, slots, gradient, count, rate,
 * constants.
 */
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import type { FloatRegister, Register } from '../runtime/compile/code.js';
import type { KERNEL, Kernel, KernelName, Operands } from '../runtime/kernels/kernels.js';
import type { Access, Operand, OperandType } from '../runtime/kernels/operand.js';
import type { LoweredStep } from './apply-gradient-op.js';
import { Optimizer, type SlotSpec } from './optimizer.js';

/** Names of the operands of a type, beyond those that every step has. */
type Own<O extends Operands, T extends OperandType, A extends Access> = Exclude<
  { [K in keyof O]: O[K] extends Operand<T, A> ? K : never }[keyof O],
  'w' | 'g' | 'n' | 'lr'
>;

/** What a step needs beyond weights, gradient and rate, by the names of the kernel's operands. */
export interface RangeRule<O extends Operands> {
  readonly slots: Readonly<Record<Own<O, 'address', 'update'>, SlotSpec>>;
  readonly parameters: Readonly<Record<Own<O, 'float', 'none'>, number>>;
  readonly flags: Readonly<Record<Own<O, 'flag', 'none'>, boolean>>;
  /** A step that changes nothing is not run at all. */
  readonly isIdle?: boolean;
}

/** A rule and its kernel, by name: kernels are loaded when something is compiled. */
export interface RangeStep extends RangeRule<Operands> {
  readonly kernel: KernelName;
}

type OperandsOf<N extends KernelName> = (typeof KERNEL)[N] extends Kernel<infer O> ? O : never;

export function rangeStep<N extends KernelName>(kernel: N, rule: RangeRule<OperandsOf<N>>): RangeStep {
  return { ...(rule as RangeRule<Operands>), kernel };
}

export class RangeOptimizer extends Optimizer {
  readonly #step: RangeStep;

  constructor(name: string, learningRate: Rate, step: RangeStep) {
    super(name, learningRate);
    // One that is left out, as momentum can be in JavaScript, would make every weight NaN.
    for (const value of Object.values<number>(step.parameters)) {
      if (Number.isFinite(value)) continue;
      throw new MonolithError('ML_FLAG', { flag: name, reason: `it cannot step with an option that is ${value}` });
    }
    this.#step = step;
  }

  override slotsOf(): readonly SlotSpec[] {
    return Object.values(this.#step.slots);
  }

  override lowerStep({ context, kernels, target, slots, shared, gradient, rate, range }: LoweredStep): void {
    const step = this.#step;
    if (step.isIdle) return;
    const { thread, environment } = context;
    const operands: Record<string, Register | FloatRegister> = {
      w: range.at(environment.variable(target)),
      g: range.at(gradient),
      n: range.floats,
      lr: rate,
    };
    Object.keys(step.slots).forEach((name, index) => {
      operands[name] = range.at(environment.variable(slots[index]!));
    });
    const kernel: Kernel = kernels[step.kernel];
    // What all variables share is what the kernel reads besides the gradient, in its order.
    const read = kernel.words.filter(({ access, name }) => access === 'read' && name !== 'g');
    read.forEach(({ name }, index) => {
      operands[name] = context.threadPointer(shared[index]!);
    });
    for (const [name, value] of Object.entries<number>(step.parameters)) operands[name] = thread.constantF32(value);
    for (const [name, on] of Object.entries<boolean>(step.flags)) operands[name] = thread.constant(on ? 1 : 0);
    context.emitThread(kernel, operands as never);
  }
}
