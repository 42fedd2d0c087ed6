/** @file Lowerings of reductions over inner dimensions, shared values, groups and top-k. */
import type { Tensor } from '../../../graph/graph.js';
import {
  BroadcastInner,
  GroupDot,
  type InnerAttrs,
  MaxInner,
  MaxInnerGrad,
  ScaleGroups,
  Shared,
  SumInner,
  SumShared,
  TopK,
  TopKGrad,
} from '../../../graph/ops/inner.js';
import { KERNEL } from '../../kernels/kernels.js';
import { type LoweringContext, registerLowering } from '../lowering.js';

const accumulates = { accumulates: true };

/** Rows as [outer, n, inner] floats. */
export function innerSizes(context: LoweringContext, { outer, n, inner }: Pick<InnerAttrs, 'outer' | 'n' | 'inner'>) {
  const { slice, rows } = context;
  return { rows, outer: slice.constant(outer), n: slice.constant(n), inner: slice.constant(inner) };
}

/** Rows of a tensor as groups of as many floats as its last dimension has. */
export function groupsOf(context: LoweringContext, tensor: Tensor) {
  const { slice, rows } = context;
  const width = tensor.spec.shape.at(-1) as number;
  return { rows, groups: slice.constant(tensor.columns / width), width: slice.constant(width) };
}

for (const [def, kernel] of [
  [SumInner, KERNEL.sumInnerF32],
  [BroadcastInner, KERNEL.broadcastInnerF32],
] as const) {
  registerLowering(
    def,
    (op, context) => {
      const src = context.matrix(op.inputs[0]!);
      const dst = context.output(op.output);
      const factor = context.slice.constantF32(op.attrs.factor);
      context.emit(kernel, { src, dst, ...innerSizes(context, op.attrs), factor, acc: dst.accumulate });
    },
    accumulates,
  );
}

registerLowering(
  MaxInner,
  (op, context) => {
    const src = context.matrix(op.inputs[0]!);
    const dst = context.output(op.output);
    context.emit(KERNEL.maxInnerF32, { src, dst, ...innerSizes(context, op.attrs), acc: dst.accumulate });
  },
  accumulates,
);

registerLowering(
  MaxInnerGrad,
  (op, context) => {
    const [dy, x, y] = op.inputs.map((input) => context.matrix(input));
    const dx = context.output(op.output);
    const sizes = innerSizes(context, op.attrs);
    context.emit(KERNEL.maxInnerGradF32, { dy: dy!, x: x!, y: y!, dx, ...sizes, acc: dx.accumulate });
  },
  accumulates,
);

registerLowering(
  Shared,
  (op, context) => {
    const out = context.output(op.output);
    context.emit(op.attrs.kind === 'add' ? KERNEL.addSharedF32 : KERNEL.mulSharedF32, {
      x: context.matrix(op.inputs[0]!),
      v: context.pointer(op.inputs[1]!),
      out,
      rows: context.rows,
      cols: context.slice.constant(out.columns),
      period: context.slice.constant(op.inputs[1]!.columns),
      acc: out.accumulate,
    });
  },
  accumulates,
);

registerLowering(SumShared, (op, context) => {
  const [a, b] = op.inputs.map((input) => context.matrix(input));
  context.allocate(op.output);
  context.emit(KERNEL.sumSharedF32, {
    a: a!,
    b: b ?? context.noMatrix,
    dst: context.pointer(op.output),
    rows: context.rows,
    cols: context.slice.constant(a!.columns),
    period: context.slice.constant(op.output.columns),
  });
});

registerLowering(
  ScaleGroups,
  (op, context) => {
    const [factors, src] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dst = context.output(op.output);
    const sizes = groupsOf(context, op.inputs[1]!);
    context.emit(KERNEL.scaleGroupsF32, { factors, src, dst, ...sizes, acc: dst.accumulate });
  },
  accumulates,
);

registerLowering(
  GroupDot,
  (op, context) => {
    const [a, b] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    context.emit(KERNEL.groupDotF32, { a, b, out, ...groupsOf(context, op.inputs[1]!), acc: out.accumulate });
  },
  accumulates,
);

/** Groups of rows, of which `k` are taken. */
function topSizes({ slice, rows }: LoweringContext, attrs: { groups: number; width: number; k: number }) {
  const { groups, width, k } = attrs;
  return { rows, groups: slice.constant(groups), width: slice.constant(width), k: slice.constant(k) };
}

registerLowering(
  TopK,
  (op, context) => {
    const [values, indices] = op.outputs.map((output) => context.matrixOf(context.allocate(output)));
    const x = context.matrix(op.inputs[0]!);
    context.emit(KERNEL.topKF32, { x, values: values!, indices: indices!, ...topSizes(context, op.attrs) });
  },
  { strided: true },
);

registerLowering(
  TopKGrad,
  (op, context) => {
    const [dy, indices] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dx = context.output(op.output);
    context.emit(KERNEL.topKGradF32, { dy, indices, dx, ...topSizes(context, op.attrs), acc: dx.accumulate });
  },
  accumulates,
);
