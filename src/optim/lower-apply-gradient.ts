/**
 * @file How a step of a variable becomes kernel calls, after all slices are done.
 *
 * Each thread owns a range of the variable, adds the slices' parts of the gradient up in slice order, and steps its
 * range, so the result does not depend on the number of threads. A gradient that is complete already, such as a clipped
 * one, is taken as it is. Optimizers that need a variable whole give it to one thread.
 */

import { type Rate, rateAt } from '../base/rates/rate.js';
import type { Tensor } from '../graph/graph.js';
import type { FloatRegister } from '../runtime/compile/code.js';
import { type LoweringContext, registerLowering, type ThreadRange } from '../runtime/compile/lowering.js';
import { ownRange, rangeOf } from '../runtime/compile/own-range.js';
import { KERNEL } from '../runtime/kernels/kernels.js';
import { ApplyGradient } from './apply-gradient-op.js';
import { MultiplyVariable } from './multiply-variable.js';

registerLowering(
  ApplyGradient,
  (op, context) => {
    const { optimizer, weightDecay, sharedCount } = op.attrs;
    const [gradient, target, ...rest] = op.inputs as [Tensor, Tensor, ...Tensor[]];
    const slotCount = rest.length - sharedCount;
    const count = gradient.columns;
    const owner = optimizer.isRanged ? 0 : nextOwner(context);
    const range = optimizer.isRanged ? rangeOf(context, gradient) : wholeRange(context, owner, count);
    optimizer.lowerStep({
      context,
      kernels: KERNEL,
      target,
      slots: rest.slice(0, slotCount),
      shared: rest.slice(slotCount),
      gradient: lowerGradient(context, { gradient, target, range, weightDecay }),
      count,
      rate: rateRegister(context, op.attrs.rate),
      range,
      owner,
    });
  },
  // Who steps a variable whole reads what other threads added up.
  {
    learns: true,
    phase: ({ attrs }) => (attrs.optimizer.isRanged ? { runs: 'update', reads: 'range' } : { runs: 'update' }),
  },
);

registerLowering(
  MultiplyVariable,
  (op, context) => {
    const { thread, environment } = context;
    const [target, count] = [environment.variable(op.inputs[0]!), op.inputs[0]!.columns];
    // Thread 0 multiplies all of it; the others have no rows.
    const rows = thread.each((index) => (index === 0 ? 1 : 0));
    const cols = thread.constant(count);
    const matrix = { pointer: thread.constant(target), stride: cols };
    const [factor, acc] = [thread.constantF32(op.attrs.factor), thread.constant(0)];
    context.emitThread(KERNEL.scaleF32, { src: matrix, dst: matrix, rows, cols, factor, acc });
  },
  { learns: true, phase: { runs: 'update' } },
);

const OWNERS = {};

/** Variables that are stepped whole go to the threads in turn. */
function nextOwner(context: LoweringContext): number {
  const owners = context.shared(OWNERS, () => ({ next: 0 }));
  return owners.next++ % context.plan.threads;
}

function wholeRange({ thread }: LoweringContext, owner: number, count: number): ThreadRange {
  return { at: (base) => thread.constant(base), floats: thread.each((index) => (index === owner ? count : 0)) };
}

interface Gradient {
  readonly gradient: Tensor;
  readonly target: Tensor;
  readonly range: ThreadRange;
  readonly weightDecay: number;
}

/** Address of a gradient of which this thread's range is complete: summed over slices, with the decay. */
function lowerGradient(context: LoweringContext, { gradient, target, range, weightDecay }: Gradient): number {
  const { thread, environment } = context;
  const own = ownRange(context, gradient, { range, writable: weightDecay !== 0 });
  if (weightDecay !== 0) {
    const one = thread.constant(1);
    context.emitThread(KERNEL.scaleF32, {
      src: { pointer: range.at(environment.variable(target)), stride: range.floats },
      dst: { pointer: own.values, stride: range.floats },
      rows: one,
      cols: range.floats,
      factor: thread.constantF32(weightDecay),
      acc: one,
    });
  }
  return own.base;
}

/** The rate of a step; one by step is asked for once, whatever the number of variables. */
function rateRegister(context: LoweringContext, rate: Rate): FloatRegister {
  const { thread, environment } = context;
  if (typeof rate === 'number') return thread.constantF32(rate);
  return context.shared(rate, () => {
    const { f32 } = environment.views;
    return thread.cellF32(rateAt(rate, 0), (addresses) =>
      environment.onStep(
        (globalStep) => {
          const value = rate.call(globalStep);
          for (const address of addresses) f32[address / 4] = value;
        },
        () => addresses.map((address) => ({ views: environment.views, address })),
      ),
    );
  });
}
