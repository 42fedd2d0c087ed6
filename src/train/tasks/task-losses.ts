/** @file Losses with predictions as MonolithBaseModel has them, with the corrections for sampled negatives. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Tensor } from '../../graph/graph.js';
import { sigmoid, softplus } from '../../graph/ops/activations.js';
import { softmax } from '../../graph/ops/attention.js';
import { clipByValue } from '../../graph/ops/clip.js';
import { mul, scale, sub } from '../../graph/ops/elementwise.js';
import { topK } from '../../graph/ops/inner.js';
import { sigmoidCrossEntropyWithLogits, sparseSoftmaxCrossEntropyWithLogits } from '../../graph/ops/losses.js';
import { reduceSum } from '../../graph/ops/reductions.js';
import { log } from '../../graph/ops/unary.js';
import type { Mode } from '../task-params.js';

export interface SigmoidLossOptions {
  readonly logits: Tensor;
  /** Null in inference. */
  readonly label: Tensor | null;
  readonly mode: Mode;
  /** Share of the negatives that were kept, for all examples or for each. Default: 1. */
  readonly sampleRate?: Tensor | number;
  /** Whether the logit is that of the sampled data: it is then taken through a log sigmoid first. Default: false. */
  readonly sampleBias?: boolean;
  /** 1 for examples that count. */
  readonly mask?: Tensor;
  readonly instanceWeight?: Tensor;
  /** Keeps corrected logits where their probability is from this to 1 minus this. */
  readonly logitClipThreshold?: number;
  /** False: predictions are of the corrected logits. Default: true. */
  readonly predictBeforeCorrection?: boolean;
}

export interface LossAndPred {
  /** Null in inference. */
  readonly loss: Tensor | null;
  readonly pred: Tensor;
}

/**
 * The sum over the batch of the sigmoid cross entropy, and probabilities.
 *
 * ```ts
 * const { loss, pred } = getSigmoidLossAndPred({ logits, label, mode, sampleRate: 0.1 });
 * ```
 */
export function getSigmoidLossAndPred(options: SigmoidLossOptions): LossAndPred {
  checkOptions('getSigmoidLossAndPred', options, [
    'logits',
    'label',
    'mode',
    'sampleRate',
    'sampleBias',
    'mask',
    'instanceWeight',
    'logitClipThreshold',
    'predictBeforeCorrection',
  ]);
  const { logits, label, mode, predictBeforeCorrection = true, mask, instanceWeight } = options;
  if (mode === 'infer') return { loss: null, pred: sigmoid(logits, { name: 'pred' }) };
  if (label === null) throw new MonolithError('ML_TASK', { reason: `a loss in mode ${mode} needs a label` });
  const biased = corrected(options);
  const pred = sigmoid(predictBeforeCorrection ? logits : biased, { name: 'pred' });
  let loss = sigmoidCrossEntropyWithLogits(clipped(biased, options.logitClipThreshold), label);
  for (const factor of [instanceWeight, mask]) if (factor !== undefined) loss = mul(loss, factor);
  return { loss: reduceSum(loss, { name: 'loss' }), pred };
}

/** Where only some negatives were kept, the logit of the data they were taken from. */
function corrected({ logits, sampleRate = 1, sampleBias = false }: SigmoidLossOptions): Tensor {
  // log(sigmoid(x)) = -softplus(-x).
  const base = sampleBias ? scale(softplus(scale(logits, -1)), -1) : logits;
  if (typeof sampleRate !== 'number') return sub(base, log(sampleRate));
  if (!(sampleRate > 0)) throw new MonolithError('ML_TASK', { reason: `a sample rate is above 0, not ${sampleRate}` });
  return sampleRate === 1 ? base : sub(base, Math.log(sampleRate));
}

function clipped(logits: Tensor, threshold: number | undefined): Tensor {
  if (threshold === undefined) return logits;
  if (!(threshold > 0 && threshold < 1))
    throw new MonolithError('ML_TASK', { reason: `logitClipThreshold is between 0 and 1, not ${threshold}` });
  const limit = Math.abs(Math.log((1 - threshold) / threshold));
  return clipByValue(logits, -limit, limit);
}

export interface SoftmaxLossOptions {
  /** A logit for each class. */
  readonly logits: Tensor;
  /** The class of each example; null in inference. */
  readonly label: Tensor | null;
  readonly mode: Mode;
}

/** The cross entropy of each example, which is not added up, and the class of the largest probability. */
export function getSoftmaxLossAndPred(options: SoftmaxLossOptions): LossAndPred {
  const { logits, label, mode } = checkOptions('getSoftmaxLossAndPred', options, ['logits', 'label', 'mode']);
  const pred = topK(softmax(logits), 1).indices;
  if (mode === 'infer') return { loss: null, pred };
  if (label === null) throw new MonolithError('ML_TASK', { reason: `a loss in mode ${mode} needs a label` });
  return { loss: sparseSoftmaxCrossEntropyWithLogits(logits, label), pred };
}
