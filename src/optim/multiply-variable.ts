/** @file Multiplies a float variable by a constant once per step: the powers of Adam's betas. */
import { misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import { Variable } from '../graph/ops/state.js';
import { registerLowering } from '../runtime/compile/lowering.js';
import { KERNEL } from '../runtime/kernels/kernels.js';

export const MultiplyVariable: OpDef<{ readonly factor: number }> = {
  type: 'AssignMul',
  takesVariable: () => true,
  infer: ([target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'float32') {
      throw misfit('AssignMul', 'the target must be a float variable');
    }
    return [];
  },
};

export function multiplyVariable(target: Tensor, factor: number): Op {
  return target.graph.add(MultiplyVariable, [target], { factor }, `${target.op.name}/AssignMul`) as Op;
}

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
