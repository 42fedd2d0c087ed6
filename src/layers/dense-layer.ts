/** @file A fully connected layer. */
import { checkOptions } from '../base/check-options.js';
import type { Tensor } from '../graph/graph.js';
import { matMulInner } from '../graph/ops/batch-matmul.js';
import { addShared } from '../graph/ops/inner.js';
import { checkWhole, innerShape } from '../graph/ops/inner-shape.js';
import { matMul } from '../graph/ops/matmul.js';
import { addBias } from '../graph/ops/rows.js';
import { reshape } from '../graph/ops/shape.js';
import { activate, type LayerActivation } from './activation.js';
import { Layer, type LayerOptions } from './layer.js';
import type { WeightInitializer } from './weight-initializers.js';

export interface DenseOptions extends LayerOptions {
  readonly activation?: LayerActivation;
  /** Default: true. */
  readonly useBias?: boolean;
  /** Default: `glorot`. */
  readonly kernelInitializer?: WeightInitializer;
  /** Default: `zeros`. */
  readonly biasInitializer?: WeightInitializer;
}

/**
 * activation(x * kernel + bias): `[batch, d] → [batch, units]`, and `[batch, n, d] → [batch, n, units]` with the same
 * kernel for every position. Variables: `kernel` `[d, units]`, `bias` `[units]`.
 *
 * ```ts
 * const hidden = dense(x, 64, { activation: 'relu' });
 * ```
 */
export class DenseLayer extends Layer {
  readonly units: number;
  readonly #options: DenseOptions;

  constructor(units: number, options: DenseOptions = {}) {
    super('dense', options);
    checkOptions('nn.dense', options, [
      'name',
      'seed',
      'activation',
      'useBias',
      'kernelInitializer',
      'biasInitializer',
    ]);
    this.units = checkWhole(options.name ?? 'dense', 'the number of units', units);
    this.#options = options;
  }

  call(input: Tensor): Tensor {
    const { activation, useBias = true, kernelInitializer = 'glorot', biasInitializer = 'zeros' } = this.#options;
    const { graph } = input;
    return this.within(graph, () => {
      // One number per example is a column.
      const x = innerShape(this.name, input).length === 0 ? reshape(input, [1]) : input;
      const sizes = innerShape(this.name, x);
      const width = sizes.at(-1)!;
      const kernel = this.weight(graph, 'kernel', [width, this.units], kernelInitializer);
      const bias = useBias ? this.weight(graph, 'bias', [this.units], biasInitializer) : undefined;
      const flat = sizes.length === 1;
      const product = flat ? matMul(x, kernel, { name: 'MatMul' }) : matMulInner(x, kernel, { name: 'MatMul' });
      if (bias === undefined) return activate(product, activation);
      return activate(
        flat ? addBias(product, bias, { name: 'BiasAdd' }) : addShared(product, bias, { name: 'BiasAdd' }),
        activation,
      );
    });
  }
}

/** A fully connected layer that is called once: see DenseLayer. */
export function dense(x: Tensor, units: number, options: DenseOptions = {}): Tensor {
  return new DenseLayer(units, options).call(x);
}
