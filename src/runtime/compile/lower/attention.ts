/** @file Lowerings of the softmax. */
import { Softmax, SoftmaxGrad } from '../../../graph/ops/attention.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';
import { groupsOf } from './inner.js';

registerLowering(
  Softmax,
  (op, context) => {
    const { slice } = context;
    const { groups, width } = op.attrs;
    const [x, mask] = op.inputs.map((input) => context.matrix(input));
    const ownMask = mask !== undefined && mask.columns === groups * width && groups > 1;
    context.emit(KERNEL.softmaxF32, {
      x: x!,
      mask: { ...(mask ?? context.noMatrix), step: slice.constant(ownMask ? width : 0) },
      y: context.output(op.output),
      rows: context.rows,
      groups: slice.constant(groups),
      width: slice.constant(width),
    });
  },
  { strided: true },
);

registerLowering(
  SoftmaxGrad,
  (op, context) => {
    const [dy, y] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dx = context.output(op.output);
    context.emit(KERNEL.softmaxGradF32, { dy, y, dx, ...groupsOf(context, op.inputs[1]!), acc: dx.accumulate });
  },
  { accumulates: true },
);
