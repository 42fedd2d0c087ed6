/** @file Multiplies a float variable by a constant once per step: the powers of Adam's betas. */
import { misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import { Variable } from '../graph/ops/state.js';

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
