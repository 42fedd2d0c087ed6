/** @file The largest values of the last dimension. */
import { elementCount, misfit, type OpDef, shapeText, type Tensor } from '../graph.js';
import { checkWhole, innerShape } from './inner-shape.js';

export interface TopKAttrs {
  readonly groups: number;
  readonly width: number;
  readonly k: number;
}

/** Outputs: values, indices as floats. */
export const TopK: OpDef<TopKAttrs> = {
  type: 'TopK',
  infer: ([x], { k }) => {
    const spec = { dtype: 'float32', shape: [...x!.spec.shape.slice(0, -1), k] } as const;
    return [spec, spec];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(TopKGrad, [grad, op.outputs[1]!, op.inputs[0]!], op.attrs).output],
};

/** Inputs: gradient of the values, their indices, x (for its shape only). */
export const TopKGrad: OpDef<TopKAttrs> = {
  type: 'TopKGrad',
  infer: ([, , x]) => [x!.spec],
};

/**
 * The `k` largest values of the last dimension, largest first, and where they were, as floats; of equal values the first
 * comes first. Gradients go to the values that were taken.
 */
export function topK(x: Tensor, k: number, name = 'TopK'): { values: Tensor; indices: Tensor } {
  const sizes = innerShape(name, x);
  const width = sizes.at(-1) ?? 0;
  if (checkWhole(name, 'k', k) > width) throw misfit(name, `${k} of the ${width} values of ${shapeText(x.spec.shape)}`);
  const attrs = { groups: elementCount(sizes.slice(0, -1)), width, k };
  const [values, indices] = x.graph.add(TopK, [x], attrs, name).outputs as [Tensor, Tensor];
  return { values, indices };
}
