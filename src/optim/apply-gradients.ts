/**
 * @file Dense optimizers as graph ops: one step of a variable from its gradient, with the optimizer's state in slots.
 *
 * Mirrors Optimizer.apply_gradients. Slots are variables named after the one they belong to, as TensorFlow names them, so
 * checkpoints carry them. Formulas and configs are those of the table optimizers. The update runs after the barrier: each
 * thread owns a range of the variable, adds the slices' parts of the gradient up in slice order, and steps its range, so
 * the result does not depend on the number of threads.
 */
import { MonolithError } from '../base/errors.js';
import { elementCount, misfit, type Op, type OpDef, sameShape, shapeText, type Tensor } from '../graph/graph.js';
import { Variable, type VariableAttrs, variable } from '../graph/ops/state.js';
import type { Register } from '../runtime/code.js';
import { KERNEL } from '../runtime/kernels.js';
import { type LoweringContext, registerLowering } from '../runtime/lowering.js';
import { ownRange } from '../runtime/own-range.js';
import type { OptimizerMessage } from '../sparse/config-messages.js';
import { type Rate, rateAt, resolveRate } from '../sparse/learning-rate.js';
import { type OptimizerPlan, planOptimizer } from '../sparse/optimizer-plan.js';
import type { DenseOptimizer } from './dense-optimizers.js';

/** An optimizer of tables, or one that only dense variables have. */
export type VariableOptimizer = OptimizerMessage | DenseOptimizer;
type StepPlan = OptimizerPlan | DenseOptimizer;

export interface ApplyGradientAttrs {
  readonly optimizer: StepPlan;
  readonly rate: Rate;
}

/** Inputs: gradient, variable, slots of the optimizer in order. */
export const ApplyGradient: OpDef<ApplyGradientAttrs> = {
  type: 'ApplyGradient',
  takesVariable: (index) => index > 0,
  infer: ([gradient, target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'float32') {
      throw misfit('ApplyGradient', `${target?.name} is no float variable`);
    }
    if (!(target.op.attrs as VariableAttrs).trainable) throw misfit(target.op.name, 'it is not trainable');
    if (!sameShape(gradient!.spec.shape, target.spec.shape)) {
      const [found, wanted] = [gradient!, target].map((tensor) => shapeText(tensor.spec.shape));
      throw misfit(target.op.name, `its gradient has shape ${found}, not ${wanted}`);
    }
    return [];
  },
};

export interface ApplyGradientsOptions {
  /** Replaces the optimizer's own rate; one by step is asked before every step with the steps done so far. */
  readonly learningRate?: Rate;
}

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
  const attrs = stepAttrs(optimizer, options.learningRate);
  const seen = new Set<Tensor>();
  return gradsAndVars.map(([gradient, target]) => {
    if (seen.has(target)) throw misfit(target.op.name, 'it is listed twice: add its gradients up first');
    seen.add(target);
    const inputs = [gradient, target, ...createSlots(target, attrs.optimizer)];
    return target.graph.add(ApplyGradient, inputs, attrs, `update_${target.op.name}`) as Op;
  });
}

function stepAttrs(optimizer: VariableOptimizer, given: Rate | undefined): ApplyGradientAttrs {
  if (isDense(optimizer)) return { optimizer, rate: given ?? optimizer.learningRate };
  const plan = planOptimizer(optimizer, 1);
  return { optimizer: plan, rate: resolveRate(plan, given) };
}

function isDense(optimizer: VariableOptimizer | StepPlan): optimizer is DenseOptimizer {
  return 'kind' in optimizer;
}

function createSlots(target: Tensor, optimizer: StepPlan): Tensor[] {
  if (isDense(optimizer)) return optimizer.slotNames.map((slot) => createSlot(target, `${optimizer.name}/${slot}`, 0));
  switch (optimizer.name) {
    case 'sgd':
      return [];
    case 'adagrad':
      return [createSlot(target, 'Adagrad', optimizer.initial)];
    case 'ftrl':
      return [createSlot(target, 'Ftrl', optimizer.initial), createSlot(target, 'Ftrl_1', 0)];
    default:
      throw new MonolithError(
        'ML_UNSUPPORTED',
        { what: `${optimizer.name} for the dense variable ${target.op.name}`, reason: 'it steps rows of tables only' },
        { hint: 'use sgd, adagrad, ftrl, Adamom or Rmsprop' },
      );
  }
}

function createSlot(target: Tensor, suffix: string, initial: number): Tensor {
  const { graph } = target;
  const shape = target.spec.shape as readonly number[];
  const fill = () => new Float32Array(elementCount(shape)).fill(initial);
  return graph.rootScope(() => variable(graph, `${target.op.name}/${suffix}`, shape, fill, false));
}

registerLowering(
  ApplyGradient,
  (op, context) => {
    const [gradient, target, ...slots] = op.inputs as [Tensor, Tensor, ...Tensor[]];
    const { environment } = context;
    const range = ownRange(context, gradient);
    const weights = range.at(environment.variable(target));
    const states = slots.map((slot) => range.at(environment.variable(slot)));
    emitStep(context, op.attrs.optimizer, [
      weights,
      ...states,
      range.values,
      range.floats,
      rateRegister(context, op.attrs),
    ]);
  },
  { phase: { runs: 'update', reads: 'range' } },
);

/** Operands: weights, slots, gradient, count, rate; the optimizer's own parameters follow. */
function emitStep(context: LoweringContext, optimizer: StepPlan, operands: readonly Register[]): void {
  const { thread } = context;
  if (isDense(optimizer)) {
    if (optimizer.isIdle) return;
    const floats = optimizer.parameters.map((value) => thread.constantF32(value));
    const flags = optimizer.flags.map((value) => thread.constant(value));
    context.emitThread(KERNEL[optimizer.kernel], [...operands, ...floats, ...flags]);
    return;
  }
  // Others were refused when their slots were asked for.
  const kernel = { sgd: KERNEL.applySgdF32, adagrad: KERNEL.applyAdagradF32, ftrl: KERNEL.applyFtrlF32 };
  const parameters = optimizer.values.map((value) => thread.constantF32(value));
  context.emitThread(kernel[optimizer.name as keyof typeof kernel], [...operands, ...parameters]);
}

function rateRegister(context: LoweringContext, { rate }: ApplyGradientAttrs): Register {
  const { thread, environment } = context;
  if (typeof rate === 'number') return thread.constantF32(rate);
  const { f32 } = environment.views;
  return thread.cellF32(rateAt(rate, 0), (addresses) =>
    environment.onStep((globalStep) => {
      const value = rate.call(globalStep);
      for (const address of addresses) f32[address / 4] = value;
    }),
  );
}
