/**
 * @file Reshapes many tensors at once. Mirrors native_training/static_reshape_op.
 *
 * An output is a view of its input, so there is no work to spread over threads and upstream's switch for that is gone.
 */
import { MonolithError } from '../base/errors.js';
import { sizeOfShape, Tensor } from './tensor.js';

/** `null` (or -1) for a dimension to infer; `null` as a whole for a shape of unknown rank, which is refused. */
export type PartialShape = readonly (number | null)[] | null;

export interface Reshaped {
  readonly outputs: readonly Tensor[];
  /** Element count of each input. */
  readonly sizes: Tensor<'int64'>;
}

/** Tensors of the same values under other shapes, of which parts may be left open. */
export function staticReshape(inputs: readonly Tensor[], shapes: readonly PartialShape[]): Reshaped {
  if (shapes.length !== inputs.length) {
    throw new MonolithError('ML_RESHAPE_COUNT', { shapes: shapes.length, inputs: inputs.length });
  }
  const outputs = inputs.map((input, index) => input.reshape(inferShape(index, input.size, shapes[index]!)));
  return {
    outputs,
    sizes: Tensor.vector(
      'int64',
      BigInt64Array.from(inputs, (input) => BigInt(input.size)),
    ),
  };
}

/** The full shape of input `index` of `size` values; at most one dimension of `shape` is unknown. */
function inferShape(index: number, size: number, shape: PartialShape): number[] {
  if (shape === null || shape.length === 0) throw new MonolithError('ML_RESHAPE_RANK', { index });
  const dims = shape.map((dim) => dim ?? -1);
  const first = dims.indexOf(-1);
  const second = dims.indexOf(-1, first + 1);
  if (first >= 0 && second >= 0) throw new MonolithError('ML_RESHAPE_UNKNOWN', { first, second, index });
  if (first >= 0) {
    const known = sizeOfShape(dims.toSpliced(first, 1));
    if (known > 0 && size % known !== 0) {
      const text = `[${dims.map((dim) => (dim === -1 ? '?' : dim)).join(',')}]`;
      throw new MonolithError('ML_RESHAPE_DIVIDE', { index, size, shape: text });
    }
    // With a zero among the known dimensions any count would do; upstream takes 0.
    dims[first] = known > 0 ? size / known : 0;
  }
  const requested = sizeOfShape(dims);
  if (requested !== size) throw new MonolithError('ML_RESHAPE_SIZE', { index, size, requested });
  return dims;
}

/**
 * Collects inputs and shapes one by one; an index tells where the output will be.
 *
 * ```ts
 * const builder = new StaticReshapeNBuilder();
 * const index = builder.add(Tensor.of('int32', [[1, 2], [3, 4]]), [null]);
 * builder.build().outputs[index]?.shape; // [4]
 * ```
 */
export class StaticReshapeNBuilder {
  readonly #inputs: Tensor[] = [];
  readonly #shapes: PartialShape[] = [];

  add(input: Tensor, shape: PartialShape): number {
    this.#shapes.push(shape);
    return this.#inputs.push(input) - 1;
  }

  build(): Reshaped {
    return staticReshape(this.#inputs, this.#shapes);
  }
}
