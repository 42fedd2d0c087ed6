/** @file Lowerings of normalized rows. */
import { L2Normalize, L2NormalizeGrad, LayerNorm, LayerNormGainGrad, LayerNormGrad } from '../../../graph/ops/norms.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  LayerNorm,
  (op, context) => {
    context.emit(KERNEL.layerNormF32, {
      x: context.matrix(op.inputs[0]!),
      gain: context.pointer(op.inputs[1]!),
      bias: context.pointer(op.inputs[2]!),
      y: context.output(op.output),
      stats: context.matrixOf(context.allocate(op.outputs[1]!)).pointer,
      ...context.sizeOf(op.output),
      epsilon: context.slice.constantF32(op.attrs.epsilon),
    });
  },
  { strided: true },
);

registerLowering(
  LayerNormGrad,
  (op, context) => {
    const dx = context.output(op.output);
    context.emit(KERNEL.layerNormGradF32, {
      dy: context.matrix(op.inputs[0]!),
      x: context.matrix(op.inputs[1]!),
      gain: context.pointer(op.inputs[2]!),
      stats: context.matrix(op.inputs[3]!).pointer,
      dx,
      ...context.sizeOf(op.output),
      acc: dx.accumulate,
    });
  },
  { accumulates: true },
);

registerLowering(LayerNormGainGrad, (op, context) => {
  context.allocate(op.output);
  context.emit(KERNEL.layerNormGainGradF32, {
    dy: context.matrix(op.inputs[0]!),
    x: context.matrix(op.inputs[1]!),
    stats: context.matrix(op.inputs[2]!).pointer,
    dgain: context.pointer(op.output),
    ...context.sizeOf(op.inputs[1]!),
  });
});

registerLowering(
  L2Normalize,
  (op, context) => {
    const [x, y] = [context.matrix(op.inputs[0]!), context.output(op.output)];
    const epsilon = context.slice.constantF32(op.attrs.epsilon);
    context.emit(KERNEL.l2NormalizeF32, { x, y, ...context.sizeOf(op.output), epsilon });
  },
  { strided: true },
);

registerLowering(
  L2NormalizeGrad,
  (op, context) => {
    const [dy, x] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const dx = context.output(op.output);
    const epsilon = context.slice.constantF32(op.attrs.epsilon);
    const size = context.sizeOf(op.output);
    context.emit(KERNEL.l2NormalizeGradF32, { dy, x, dx, ...size, epsilon, acc: dx.accumulate });
  },
  { accumulates: true },
);
