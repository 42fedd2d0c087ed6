/** @file Lowering of values that differ between training and evaluation: the one that is used, under another name. */
import { IfTraining } from '../../../graph/ops/training.js';
import { registerLowering } from '../lowering.js';

registerLowering(
  IfTraining,
  (op, context) => {
    context.setStorage(op.output, context.storage(op.inputs[context.trains ? 0 : 1]!));
  },
  { phase: { runs: 'nothing' } },
);
