/** @file Squeeze and excitation of fields, as in FiBiNET: a gate that says how much each field counts. */
import { checkOptions } from '../base/check-options.js';
import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { meanInner, scaleGroups } from '../graph/ops/inner.js';
import { checkWhole, innerShape } from '../graph/ops/inner-shape.js';
import type { LayerActivation } from './activation.js';
import { Layer, type LayerOptions } from './layer.js';
import { MlpLayer } from './mlp-layer.js';

export interface SenetOptions extends LayerOptions {
  /** The gate has n / reduction hidden units, at least one. Default: 3. */
  readonly reduction?: number;
  /** Of the hidden units. Default: `relu`. */
  readonly activation?: LayerActivation;
  /** Of the factors. Default: `sigmoid`. FiBiNET has `relu`. */
  readonly gateActivation?: LayerActivation;
}

/**
 * Each field times a factor from the means of all fields: `[batch, n, d] → [batch, n, d]`. The factors come from an MLP
 * called `excitation`.
 */
export class SenetLayer extends Layer {
  readonly #options: SenetOptions;
  #excitation: MlpLayer | undefined;

  constructor(options: SenetOptions = {}) {
    super('senet', options);
    checkOptions('nn.senet', options, ['name', 'seed', 'reduction', 'activation', 'gateActivation']);
    if (options.reduction !== undefined) checkWhole(options.name ?? 'senet', 'the reduction', options.reduction);
    this.#options = options;
  }

  call(x: Tensor): Tensor {
    return this.within(x.graph, () => {
      const [n, ...rest] = innerShape(this.name, x);
      if (n === undefined || rest.length !== 1)
        throw misfit(this.name, `${shapeText(x.spec.shape)} is no list of fields`);
      const { reduction = 3, activation = 'relu', gateActivation = 'sigmoid', seed = 0 } = this.#options;
      const hidden = Math.max(1, Math.floor(n / reduction));
      this.#excitation ??= new MlpLayer([hidden, n], {
        name: 'excitation',
        activation,
        outputActivation: gateActivation,
        seed,
      });
      return scaleGroups(this.#excitation.call(meanInner(x, { axis: -1 })), x);
    });
  }
}

/** Squeeze and excitation of fields, called once: see SenetLayer. */
export function senet(x: Tensor, options: SenetOptions = {}): Tensor {
  return new SenetLayer(options).call(x);
}
