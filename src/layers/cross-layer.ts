/** @file Cross network of DCN and DCN v2. */
import { checkOptions } from '../base/check-options.js';
import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { addN, mul } from '../graph/ops/elementwise.js';
import { addShared } from '../graph/ops/inner.js';
import { checkWhole, innerShape } from '../graph/ops/inner-shape.js';
import { matMul } from '../graph/ops/matmul.js';
import { addBias, scaleRows } from '../graph/ops/rows.js';
import { Layer, type LayerOptions } from './layer.js';
import type { WeightInitializer } from './weight-initializers.js';

export interface CrossOptions extends LayerOptions {
  /** Default: 2. */
  readonly version?: 1 | 2;
  /** Of version 2: the kernel is a product of `[d, rank]` and `[rank, d]`. */
  readonly rank?: number;
  /** Default: `glorot`. */
  readonly kernelInitializer?: WeightInitializer;
}

/**
 * `layers` crossings of a row with itself: `[batch, d] → [batch, d]`. Version 1 is x0 * (x · w) + b + x with `kernel_i`
 * `[d, 1]`; version 2 is x0 * (x W + b) + x with `kernel_i` `[d, d]`, or `u_i` `[d, rank]` and `v_i` `[rank, d]`.
 * `bias_i` is `[d]`.
 */
export class CrossLayer extends Layer {
  readonly layers: number;
  readonly #options: CrossOptions;

  constructor(layers: number, options: CrossOptions = {}) {
    super('cross', options);
    checkOptions('nn.cross', options, ['name', 'seed', 'version', 'rank', 'kernelInitializer']);
    const name = options.name ?? 'cross';
    this.layers = checkWhole(name, 'the number of layers', layers);
    if (options.rank !== undefined) checkWhole(name, 'the rank', options.rank);
    if (options.rank !== undefined && options.version === 1) throw misfit(name, 'version 1 has no rank');
    this.#options = options;
  }

  call(x: Tensor): Tensor {
    return this.within(x.graph, () => {
      if (innerShape(this.name, x).length !== 1)
        throw misfit(this.name, `${shapeText(x.spec.shape)} is no row of floats`);
      let crossed = x;
      for (let index = 0; index < this.layers; index++) {
        crossed = this.#options.version === 1 ? this.#first(x, crossed, index) : this.#second(x, crossed, index);
      }
      return crossed;
    });
  }

  #first(x0: Tensor, x: Tensor, index: number): Tensor {
    const { graph } = x0;
    const kernel = this.weight(graph, `kernel_${index}`, [x0.columns, 1], this.#options.kernelInitializer ?? 'glorot');
    const bias = this.weight(graph, `bias_${index}`, [x0.columns], 'zeros');
    return addN([scaleRows(matMul(x, kernel), x0), addShared(x, bias)]);
  }

  #second(x0: Tensor, x: Tensor, index: number): Tensor {
    const { graph } = x0;
    const { rank, kernelInitializer = 'glorot' } = this.#options;
    const d = x0.columns;
    const product =
      rank === undefined
        ? matMul(x, this.weight(graph, `kernel_${index}`, [d, d], kernelInitializer))
        : matMul(
            matMul(x, this.weight(graph, `u_${index}`, [d, rank], kernelInitializer)),
            this.weight(graph, `v_${index}`, [rank, d], kernelInitializer),
          );
    const bias = this.weight(graph, `bias_${index}`, [d], 'zeros');
    return addN([mul(x0, addBias(product, bias)), x]);
  }
}

/** `layers` crossings of a row with itself, called once: see CrossLayer. */
export function cross(x: Tensor, layers: number, options: CrossOptions = {}): Tensor {
  return new CrossLayer(layers, options).call(x);
}
