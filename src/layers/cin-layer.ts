/** @file Compressed interaction network of xDeepFM. */
import { checkOptions } from '../base/check-options.js';
import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { concatColumns } from '../graph/ops/columns.js';
import { sumInner } from '../graph/ops/inner.js';
import { checkWhole, innerShape } from '../graph/ops/inner-shape.js';
import { cin as cinOp } from '../graph/ops/pairs.js';
import { activate, type LayerActivation } from './activation.js';
import { Layer, type LayerOptions } from './layer.js';
import type { WeightInitializer } from './weight-initializers.js';

export interface CinOptions extends LayerOptions {
  /** Default: `linear`. */
  readonly activation?: LayerActivation;
  /** Default: `glorot`. */
  readonly kernelInitializer?: WeightInitializer;
}

/**
 * Feature maps made of all products of the fields with the maps of the layer before, summed over the embedding:
 * `[batch, n, d] → [batch, sum of sizes]`. Variables: `kernel_i` `[maps before * n, sizes[i]]`.
 */
export class CinLayer extends Layer {
  readonly sizes: readonly number[];
  readonly #options: CinOptions;

  constructor(sizes: readonly number[], options: CinOptions = {}) {
    super('cin', options);
    checkOptions('nn.cin', options, ['name', 'seed', 'activation', 'kernelInitializer']);
    const name = options.name ?? 'cin';
    if (sizes.length === 0) throw misfit(name, 'it has no layers');
    this.sizes = sizes.map((size) => checkWhole(name, 'the number of maps', size));
    this.#options = options;
  }

  call(x: Tensor): Tensor {
    return this.within(x.graph, () => {
      const [fields, ...rest] = innerShape(this.name, x);
      if (rest.length !== 1) throw misfit(this.name, `${shapeText(x.spec.shape)} is no list of fields`);
      let maps = x;
      let count = fields!;
      const pooled = this.sizes.map((size, index) => {
        const { activation, kernelInitializer = 'glorot' } = this.#options;
        const kernel = this.weight(x.graph, `kernel_${index}`, [count * fields!, size], kernelInitializer);
        maps = activate(cinOp(maps, x, kernel), activation);
        count = size;
        return sumInner(maps, { axis: -1 });
      });
      return pooled.length === 1 ? pooled[0]! : concatColumns(pooled);
    });
  }
}

/** A compressed interaction network that is called once: see CinLayer. */
export function cin(x: Tensor, sizes: readonly number[], options: CinOptions = {}): Tensor {
  return new CinLayer(sizes, options).call(x);
}
