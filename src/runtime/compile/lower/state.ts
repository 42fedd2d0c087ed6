/** @file Lowerings of placeholders, constants, variables, counters and groups. */
import type { Op, Tensor } from '../../../graph/graph.js';
import {
  Assign,
  AssignAddI64,
  Constant,
  Group,
  Increment,
  Placeholder,
  type PlaceholderAttrs,
  Variable,
} from '../../../graph/ops/state.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Register } from '../code.js';
import { type LoweringContext, registerLowering } from '../lowering.js';
import { ownRange } from '../own-range.js';

/** What a batch brings: a placeholder, or what was taken out of a queue. */
export function lowerFeed(
  { output: tensor, name, attrs: { valuesPerRow, rowMax } }: Op<PlaceholderAttrs>,
  context: LoweringContext,
) {
  if (tensor.spec.ragged) {
    const ragged = {
      splits: context.slice.each(),
      values: context.slice.each(),
      count: context.slice.each(),
      capacity: Math.max(Math.ceil(context.plan.sliceRows * valuesPerRow), context.environment.roomOf(name)),
      most: rowMax === undefined ? { perRow: valuesPerRow } : { inRow: rowMax },
    };
    context.useFeed(tensor, { tensor, registers: [], ragged });
    return;
  }
  const { columns } = tensor;
  context.setStorage(tensor, { kind: 'feed', feed: name, stride: columns, columns, offset: 0 });
  context.useFeed(tensor, { tensor, registers: [] });
}

registerLowering(Placeholder, lowerFeed, { phase: { runs: 'nothing' } });

registerLowering(
  Constant,
  (op, context) => {
    const { values } = op.attrs;
    const base = context.alloc(values.length * 4, op.output.name);
    context.environment.views.f32.set(values, base / 4);
    context.setStorage(op.output, { kind: 'global', base, count: values.length });
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  Variable,
  (op, context) => {
    const base = context.environment.variable(op.output);
    context.setStorage(op.output, { kind: 'global', base, count: op.output.columns });
  },
  { phase: { runs: 'nothing' } },
);

registerLowering(
  Increment,
  (op, context) => {
    const counter = countedOnce(context, op.inputs[0]!);
    context.emitThread(KERNEL.addCountI64, { counter, count: context.thread.constant(op.attrs.by) });
  },
  { phase: { runs: 'update' } },
);

registerLowering(
  AssignAddI64,
  (op, context) => {
    const [value, counter] = op.inputs;
    const { thread, plan } = context;
    const sums = context.perSlice(8, 'sums');
    context.emit(KERNEL.sumI64, { src: context.matrix(value!), rows: context.rows, dst: sums.pointer });
    context.emitThread(KERNEL.addSlicesI64, {
      counter: countedOnce(context, counter!),
      parts: thread.constant(sums.base),
      sliceStride: thread.constant(sums.sliceBytes),
      slices: thread.constant(plan.slices),
    });
  },
  { phase: { runs: 'update', slicesFirst: true } },
);

/**
 * Where a counter is: thread 0 counts, the others run the same instruction on a word of their own that nobody reads.
 */
function countedOnce(context: LoweringContext, counter: Tensor): Register {
  const { environment, thread, plan } = context;
  const at = environment.variable(counter);
  const idle = context.alloc(64 * plan.threads, 'idle');
  return thread.each((index) => (index === 0 ? at : idle + index * 64));
}

registerLowering(Group, () => {}, { phase: { runs: 'nothing' } });

registerLowering(
  Assign,
  (op, context) => {
    const { thread, environment } = context;
    const { values, floats, at } = ownRange(context, op.inputs[0]!);
    context.emitThread(KERNEL.copyRowsF32, {
      src: { pointer: values, stride: floats },
      dst: { pointer: at(environment.variable(op.inputs[1]!)), stride: floats },
      rows: thread.constant(1),
      cols: floats,
      acc: thread.constant(op.attrs.adds ? 1 : 0),
    });
  },
  { phase: { runs: 'update', reads: 'range' } },
);
