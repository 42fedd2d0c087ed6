/** @file Assignments to float variables: updates that run at the end of the step, once. */
import { misfit, type Op, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { floats } from './checks.js';
import { Variable } from './state.js';

/** Inputs: value, variable. */
export const Assign: OpDef<{ readonly adds: boolean }> = {
  type: 'Assign',
  takesVariable: (index) => index === 1,
  infer: ([value, target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'float32') {
      throw misfit('Assign', `${target?.name} is no float variable`);
    }
    if (!sameShape(floats('Assign', value!).spec.shape, target.spec.shape)) {
      const [found, wanted] = [value!, target].map((tensor) => shapeText(tensor.spec.shape));
      throw misfit(target.op.name, `a value of shape ${found} does not fit ${wanted}`);
    }
    return [];
  },
};

/** Sets a variable to `value` at the end of the step. What must see the new value runs after it by a control dependency. */
export function assign(target: Tensor, value: Tensor, name = 'Assign'): Op {
  return target.graph.add(Assign, [value, target], { adds: false }, name) as Op;
}

/** Adds `value` to a variable at the end of the step. */
export function assignAdd(target: Tensor, value: Tensor, name = 'AssignAdd'): Op {
  return target.graph.add(Assign, [value, target], { adds: true }, name) as Op;
}
