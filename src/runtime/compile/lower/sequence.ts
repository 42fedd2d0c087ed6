/** @file Lowering of masks of sequences. */
import { SequenceMask } from '../../../graph/ops/sequence.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  SequenceMask,
  (op, context) => {
    const { splits } = context.ragged(op.inputs[0]!);
    const n = context.slice.constant(op.attrs.n);
    context.emit(KERNEL.seqMaskF32, { splits, rows: context.rows, n, dst: context.output(op.output) });
  },
  { strided: true },
);
