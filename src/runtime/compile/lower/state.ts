/** @file Lowerings of placeholders, constants, variables, counters and groups. */
import { Assign, Constant, Group, Increment, Placeholder, Variable } from '../../../graph/ops/state.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';
import { ownRange } from '../own-range.js';

registerLowering(
  Placeholder,
  (op, context) => {
    const tensor = op.output;
    if (tensor.spec.ragged) {
      const ragged = {
        splits: context.slice.each(),
        values: context.slice.each(),
        count: context.slice.each(),
        capacity: Math.ceil(context.plan.sliceRows * op.attrs.valuesPerRow),
      };
      context.useFeed(tensor, { tensor, registers: [], ragged });
      return;
    }
    const { columns } = tensor;
    context.setStorage(tensor, { kind: 'feed', feed: op.name, stride: columns, columns, offset: 0 });
    context.useFeed(tensor, { tensor, registers: [] });
  },
  { phase: { runs: 'nothing' } },
);

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
    const counter = context.environment.variable(op.inputs[0]!);
    // Thread 0 counts; the others run the same instruction on a word of their own that nobody reads.
    const idle = context.alloc(64 * context.plan.threads, 'idle');
    const target = context.thread.each((thread) => (thread === 0 ? counter : idle + thread * 64));
    context.emitThread(KERNEL.addCountI64, { counter: target, count: context.thread.constant(op.attrs.by) });
  },
  { phase: { runs: 'update' } },
);

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
