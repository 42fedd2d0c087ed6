/**
 * @file How a step of a variable becomes kernel calls, after all slices are done.
 *
 * Each thread owns a range of the variable, adds the slices' parts of the gradient up in slice order, and steps its range, so
 * the result does not depend on the number of threads. A gradient that is complete already, such as a clipped one, is taken
 * as it is. Optimizers that need a variable whole give it to one thread.
 */
import { misfit, type Tensor } from '../graph/graph.js';
import type { Register } from '../runtime/code.js';
import { KERNEL } from '../runtime/kernels.js';
import { type LoweringContext, registerLowering, type ThreadRange } from '../runtime/lowering.js';
import { type Rate, rateAt } from '../sparse/learning-rate.js';
import { ApplyGradient } from './apply-gradient-op.js';

/** Ranges of threads are whole cache lines: no two threads write the same one. */
const RANGE_FLOATS = 16;

registerLowering(
  ApplyGradient,
  (op, context) => {
    const { optimizer, weightDecay, sharedCount } = op.attrs;
    const [gradient, target, ...rest] = op.inputs as [Tensor, Tensor, ...Tensor[]];
    const slotCount = rest.length - sharedCount;
    const count = gradient.columns;
    const grain = gradient.spec.partial ? RANGE_FLOATS : undefined;
    const owner = optimizer.isRanged ? 0 : nextOwner(context);
    const range = optimizer.isRanged ? context.threadRange(count, grain) : wholeRange(context, owner, count);
    optimizer.lowerStep({
      context,
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
  { phase: ({ attrs }) => (attrs.optimizer.isRanged ? { runs: 'update', reads: 'range' } : { runs: 'update' }) },
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

interface OwnGradient {
  readonly gradient: Tensor;
  readonly target: Tensor;
  readonly range: ThreadRange;
  readonly weightDecay: number;
}

/** Address of a gradient of which this thread's range is complete: summed over slices, with the decay. */
function lowerGradient(context: LoweringContext, { gradient, target, range, weightDecay }: OwnGradient): number {
  const { thread, plan, environment } = context;
  const storage = context.storage(gradient);
  if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
    throw misfit(gradient.name, 'a gradient has no row per example');
  }
  // Of equal copies any will do, and those of the first slice or thread begin at the base.
  if (storage.kind !== 'partial' && weightDecay === 0) return storage.base;
  const sum = context.alloc(gradient.columns * 4, 'gradient');
  const [from, to, one] = [range.at(storage.base), range.at(sum), thread.constant(1)];
  if (storage.kind === 'partial') {
    const slices = [thread.constant(storage.sliceBytes / 4), thread.constant(plan.slices)];
    context.emitThread(KERNEL.reduceSlicesF32, [from, ...slices, to, range.floats]);
  } else {
    const operands = [from, range.floats, to, range.floats, one, range.floats, thread.constant(0)];
    context.emitThread(KERNEL.copyRowsF32, operands);
  }
  if (weightDecay !== 0) {
    const weights = range.at(environment.variable(target));
    const operands = [weights, range.floats, to, range.floats, one, range.floats];
    context.emitThread(KERNEL.scaleF32, [...operands, thread.constantF32(weightDecay), one]);
  }
  return sum;
}

/** The rate of a step; one by step is asked for once, whatever the number of variables. */
function rateRegister(context: LoweringContext, rate: Rate): Register {
  const { thread, environment } = context;
  if (typeof rate === 'number') return thread.constantF32(rate);
  return context.shared(rate, () => {
    const { f32 } = environment.views;
    return thread.cellF32(rateAt(rate, 0), (addresses) =>
      environment.onStep((globalStep) => {
        const value = rate.call(globalStep);
        for (const address of addresses) f32[address / 4] = value;
      }),
    );
  });
}
