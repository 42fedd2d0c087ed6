/** @file A stack of fully connected layers. */
import { checkOptions } from '../base/check-options.js';
import { misfit, type Tensor } from '../graph/graph.js';
import { innerShape } from '../graph/ops/inner-shape.js';
import { layerNorm } from '../graph/ops/norms.js';
import { dropout as dropElements } from '../graph/ops/training.js';
import { activate, type LayerActivation } from './activation.js';
import { DenseLayer, type DenseOptions } from './dense-layer.js';
import { Layer } from './layer.js';

export interface MlpOptions extends DenseOptions {
  /** Of all layers but the last. Default: `relu`. */
  readonly activation?: LayerActivation;
  /** Of the last layer. Default: `linear`. */
  readonly outputActivation?: LayerActivation;
  /** Between product and activation of all layers but the last: `layer` norm, or a function that normalizes. */
  readonly norm?: 'layer' | ((x: Tensor) => Tensor);
  /** After the activation of all layers but the last: the share that is dropped, or a function. */
  readonly dropout?: number | ((x: Tensor) => Tensor);
}

/**
 * Dense layers one after the other: `[batch, d] → [batch, units.at(-1)]`, with positions between as for `dense`. The
 * layers are called `dense`, `dense_1`, … under the name of the stack; layer norm has `norm_0/gain` and `norm_0/bias`.
 *
 * ```ts
 * const logit = mlp(x, [128, 64, 1], { activation: 'relu' }); // [batch, 1]
 * ```
 */
export class MlpLayer extends Layer {
  readonly layers: readonly DenseLayer[];
  readonly #options: MlpOptions;

  constructor(units: readonly number[], options: MlpOptions = {}) {
    super('mlp', options);
    checkOptions('nn.mlp', options, [
      'name',
      'seed',
      'activation',
      'useBias',
      'kernelInitializer',
      'biasInitializer',
      'outputActivation',
      'norm',
      'dropout',
    ]);
    if (units.length === 0) throw misfit(options.name ?? 'mlp', 'it has no layers');
    const { name: _, activation: __, outputActivation: ___, norm, dropout, ...rest } = options;
    this.layers = units.map((count) => new DenseLayer(count, { ...rest, name: 'dense' }));
    this.#options = options;
  }

  call(x: Tensor): Tensor {
    const { activation = 'relu', outputActivation, dropout } = this.#options;
    return this.within(x.graph, () => {
      const last = this.layers.length - 1;
      return this.layers.reduce((input, layer, index) => {
        const product = layer.call(input);
        if (index === last) return activate(product, outputActivation);
        const active = activate(this.#normalize(product, index), activation);
        if (dropout === undefined) return active;
        return typeof dropout === 'number' ? dropElements(active, { rate: dropout }) : dropout(active);
      }, x);
    });
  }

  #normalize(x: Tensor, index: number): Tensor {
    const { norm } = this.#options;
    if (norm === undefined) return x;
    if (norm !== 'layer') return norm(x);
    if (innerShape(this.name, x).length !== 1) throw misfit(this.name, 'layer norm needs rows without positions');
    const [gain, bias] = [
      this.weight(x.graph, `norm_${index}/gain`, [x.columns], 'ones'),
      this.weight(x.graph, `norm_${index}/bias`, [x.columns], 'zeros'),
    ];
    return layerNorm(x, gain, bias);
  }
}

/** Dense layers one after the other, called once: see MlpLayer. */
export function mlp(x: Tensor, units: readonly number[], options: MlpOptions = {}): Tensor {
  return new MlpLayer(units, options).call(x);
}
