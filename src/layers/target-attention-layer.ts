/** @file Attention of a candidate to a sequence of behaviours, as in the deep interest network (DIN). */
import { checkOptions } from '../base/check-options.js';
import { misfit, shapeText, type Tensor } from '../graph/graph.js';
import { softmax } from '../graph/ops/attention.js';
import { batchMatMul } from '../graph/ops/batch-matmul.js';
import { mul, sub } from '../graph/ops/elementwise.js';
import { broadcastInner } from '../graph/ops/inner.js';
import { innerShape } from '../graph/ops/inner-shape.js';
import { concatInner } from '../graph/ops/positions.js';
import { reshape } from '../graph/ops/shape.js';
import type { LayerActivation } from './activation.js';
import { Layer, type LayerOptions } from './layer.js';
import { MlpLayer } from './mlp-layer.js';

export interface TargetAttentionOptions extends LayerOptions {
  /** Units of the layers that score a behaviour. Default: 36. */
  readonly hidden?: readonly number[];
  /** Default: `sigmoid`. */
  readonly activation?: LayerActivation;
  /** The weights of a sequence add up to 1. Without, which is DIN's own way, they keep how much there is. */
  readonly softmax?: boolean;
}

export interface TargetAttentionCall {
  /** `[batch, n]`: 0 for positions that do not count. */
  readonly mask?: Tensor | undefined;
}

/**
 * Sum of the behaviours of an example, each weighted by a network that sees the candidate, the behaviour, their
 * difference and their product: target `[batch, d]`, keys `[batch, n, d]`, mask `[batch, n]` → `[batch, d]`. Positions
 * with mask 0 do not count. The network is an MLP called `score`.
 */
export class TargetAttentionLayer extends Layer {
  readonly #score: MlpLayer;
  readonly #softmax: boolean;

  constructor(options: TargetAttentionOptions = {}) {
    super('target_attention', options);
    checkOptions('nn.targetAttention', options, ['name', 'seed', 'hidden', 'activation', 'softmax']);
    const { hidden = [36], activation = 'sigmoid', seed = 0 } = options;
    this.#score = new MlpLayer([...hidden, 1], { name: 'score', activation, seed });
    this.#softmax = options.softmax ?? false;
  }

  call(target: Tensor, keys: Tensor, { mask }: TargetAttentionCall = {}): Tensor {
    return this.within(target.graph, () => {
      const [[width, ...more], [n, d, ...rest]] = [innerShape(this.name, target), innerShape(this.name, keys)];
      if (more.length > 0 || rest.length > 0 || n === undefined || d === undefined || width !== d) {
        const [t, k] = [shapeText(target.spec.shape), shapeText(keys.spec.shape)];
        throw misfit(this.name, `${t} is no candidate for a sequence of ${k}`);
      }
      const query = broadcastInner(target, n);
      const seen = concatInner([query, keys, sub(query, keys), mul(query, keys)], { axis: 2 });
      const scores = reshape(this.#score.call(seen), [n]);
      const weights = this.#softmax ? softmax(scores, { mask }) : mask === undefined ? scores : mul(scores, mask);
      return reshape(batchMatMul(reshape(weights, [1, n]), keys), [d]);
    });
  }
}

/** Attention of a candidate to a sequence, called once: see TargetAttentionLayer. */
export function targetAttention(
  target: Tensor,
  keys: Tensor,
  options: TargetAttentionOptions & TargetAttentionCall = {},
): Tensor {
  const { mask, ...rest } = options;
  return new TargetAttentionLayer(rest).call(target, keys, { mask });
}
