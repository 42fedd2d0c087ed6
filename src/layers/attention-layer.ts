/** @file Multi-head attention over short sequences. */
import { checkOptions } from '../base/check-options.js';
import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { headMix, headScores, softmax } from '../graph/ops/attention.js';
import { scale } from '../graph/ops/elementwise.js';
import { checkWhole, innerShape } from '../graph/ops/inner-shape.js';
import { DenseLayer } from './dense-layer.js';
import { Layer, type LayerOptions } from './layer.js';

export interface AttentionOptions extends LayerOptions {
  readonly heads: number;
  /** Floats of a head's queries and keys. */
  readonly keyDim: number;
  /** Floats of a head's values. Default: `keyDim`. */
  readonly valueDim?: number;
  /** Floats of a position of the result. Default: those of the query. */
  readonly outputDim?: number;
  /** Default: true. */
  readonly useBias?: boolean;
}

export interface AttentionCall {
  /** Positions that are looked at, as keys and values. Default: the query itself. */
  readonly value?: Tensor | undefined;
  /** `[batch, positions of value]`: 0 for those that do not count. */
  readonly mask?: Tensor | undefined;
}

/**
 * softmax(Q Kᵀ / sqrt(keyDim)) V of each head, side by side, through a last product:
 * `[batch, n, d] → [batch, n, outputDim]`. Layers inside: `query`, `key`, `value`, `output`, each with kernel and bias.
 */
export class AttentionLayer extends Layer {
  readonly #options: AttentionOptions;
  readonly #inner: Readonly<Record<'query' | 'key' | 'value', DenseLayer>>;
  #output: DenseLayer | undefined;

  constructor(options: AttentionOptions) {
    super('attention', options);
    checkOptions('nn.attention', options, ['name', 'seed', 'heads', 'keyDim', 'valueDim', 'outputDim', 'useBias']);
    const { name = 'attention', heads, keyDim, valueDim = keyDim, useBias = true, seed = 0 } = options;
    checkWhole(name, 'the number of heads', heads);
    const project = (dim: number, part: string) =>
      new DenseLayer(heads * checkWhole(name, 'the size of a head', dim), { name: part, useBias, seed });
    this.#options = options;
    this.#inner = { query: project(keyDim, 'query'), key: project(keyDim, 'key'), value: project(valueDim, 'value') };
  }

  call(query: Tensor, inputs: AttentionCall = {}): Tensor {
    const { value = query, mask } = checkOptions('AttentionLayer.call', inputs, ['value', 'mask']);
    const { heads, keyDim, outputDim, useBias = true, seed = 0 } = this.#options;
    return this.within(query.graph, () => {
      for (const input of [query, value]) {
        if (innerShape(this.name, input).length !== 2) {
          throw misfit(this.name, `${shapeText(input.spec.shape)} is no sequence of vectors`);
        }
      }
      const width = query.spec.shape[2] as number;
      this.#output ??= new DenseLayer(outputDim ?? width, { name: 'output', useBias, seed });
      const scores = headScores(this.#inner.query.call(query), this.#inner.key.call(value), { heads });
      const weights = softmax(scale(scores, 1 / Math.sqrt(keyDim)), { mask });
      return this.#output.call(headMix(weights, this.#inner.value.call(value)));
    });
  }
}

/** Multi-head attention that is called once: see AttentionLayer. */
export function attention(query: Tensor, options: AttentionOptions & AttentionCall): Tensor {
  const { value, mask, ...rest } = options;
  return new AttentionLayer(rest).call(query, { value, mask });
}
