/** @file The graph op that steps one variable: what it takes, and what it refuses in the words of upstream. */
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import { misfit, type OpDef, sameShape, type Tensor } from '../graph/graph.js';
import { Variable, type VariableAttrs } from '../graph/ops/state.js';
import type { FloatRegister } from '../runtime/compile/code.js';
import type { LoweringContext, ThreadRange } from '../runtime/compile/lowering.js';
import type { KERNEL } from '../runtime/kernels/kernels.js';

/** What a step is made of when it is lowered. The gradient is complete. */
export interface LoweredStep {
  readonly context: LoweringContext;
  readonly kernels: typeof KERNEL;
  readonly target: Tensor;
  /** In the order of `slotsOf`. */
  readonly slots: readonly Tensor[];
  /** Values all variables share, in the order of `sharedInputs`. */
  readonly shared: readonly Tensor[];
  /** Address of it. */
  readonly gradient: number;
  readonly count: number;
  readonly rate: FloatRegister;
  /** What this thread steps. */
  readonly range: ThreadRange;
  /** The thread that steps the variable whole, unless the optimizer `isRanged`. */
  readonly owner: number;
}

/** What the op knows of an optimizer: how its step of one variable becomes kernel calls. */
export interface StepLowering {
  /** Whether threads step ranges of a variable; else one thread steps all of it. */
  readonly isRanged: boolean;
  /** Emits the step of one variable. */
  lowerStep(step: LoweredStep): void;
}

export interface ApplyGradientAttrs {
  readonly optimizer: StepLowering;
  readonly rate: Rate;
  readonly weightDecay: number;
  /** How many of the last inputs are values that all variables share. */
  readonly sharedCount: number;
}

/** Inputs: gradient, variable, slots of the optimizer in order, values that all variables share. */
export const ApplyGradient: OpDef<ApplyGradientAttrs> = {
  type: 'ApplyGradient',
  takesVariable: (index) => index > 0,
  infer: ([gradient, target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'float32') {
      throw misfit('ApplyGradient', `${target?.name} is no float variable`);
    }
    if (!(target.op.attrs as VariableAttrs).trainable) throw misfit(target.op.name, 'it is not trainable');
    checkShape(target, gradient!);
    return [];
  },
};

function checkShape(target: Tensor, gradient: Tensor): void {
  if (sameShape(gradient.spec.shape, target.spec.shape)) return;
  const [variable, found] = [target, gradient].map(({ spec }) => `[${spec.shape.join(',')}]`);
  throw new MonolithError('ML_DENSE_SHAPE', { name: 'grad', variable, found }, { hint: `of ${target.op.name}` });
}
