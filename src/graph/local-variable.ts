/** @file Variables that sessions have and checkpoints leave out, such as places of queues. */
import { elementCount, type Graph, type Tensor } from './graph.js';
import { LOCAL_VARIABLES, Variable, type VariableAttrs } from './ops/state.js';

/** A variable of zeros that is in no checkpoint and is not trained. */
export function localVariable(
  graph: Graph,
  name: string,
  { dtype, shape }: Pick<VariableAttrs, 'dtype' | 'shape'>,
): Tensor {
  const size = elementCount(shape);
  const initial = () => (dtype === 'int64' ? new BigInt64Array(size) : new Float32Array(size));
  const { output } = graph.initScope(() => {
    return graph.add(Variable, [], { dtype, shape, initial, trainable: false }, name);
  });
  graph.addToCollection(LOCAL_VARIABLES, output);
  return output;
}
