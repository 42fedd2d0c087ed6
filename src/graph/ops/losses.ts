/**
 * @file Losses per example, `[batch]`: cross entropy, plain and weighted, hinge, focal, softmax cross entropy, squared
 * error.
 *
 * Labels get no gradient, squared error excepted.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { floats, oneFloat, rowsOfFloats } from './checks.js';
import { columns } from './columns.js';
import { mul, scale, sub } from './elementwise.js';
import type { OpOptions } from './options.js';
import { rowDot } from './rows.js';

export interface LossOptions extends OpOptions {
  /** A weight per example that its loss is multiplied by. */
  readonly weights?: Tensor | undefined;
}

/** The loss of each example times its weight, where there is one. */
export function weightLoss(type: string, loss: Tensor, weights: Tensor | undefined): Tensor {
  if (weights === undefined) return loss;
  const plain = oneFloat(type, weights, 'weight').spec.shape.length === 1 ? weights : columns(weights, 0, 1);
  return mul(loss, plain, { name: `${loss.op.name}_weighted` });
}

export const SigmoidCrossEntropy: OpDef<null> = {
  type: 'SigmoidCrossEntropyWithLogits',
  infer: ([logits, labels]) => {
    const single = (tensor: Tensor) =>
      floats('SigmoidCrossEntropyWithLogits', tensor).perExample && tensor.columns === 1;
    if (!single(logits!) || !single(labels!)) {
      throw misfit('SigmoidCrossEntropyWithLogits', 'one logit and one label per example are needed');
    }
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [
    grad && op.graph.add(SigmoidCrossEntropyGrad, [...op.inputs, grad], null).output,
    undefined,
  ],
};

export const SigmoidCrossEntropyGrad: OpDef<null> = {
  type: 'SigmoidCrossEntropyGrad',
  infer: ([logits]) => [logits!.spec],
};

/** Cross entropy of each example from its logit, in the stable form; labels get no gradient. */
export function sigmoidCrossEntropyWithLogits(logits: Tensor, labels: Tensor, options: LossOptions = {}): Tensor {
  const { name, weights } = checkOptions('sigmoidCrossEntropyWithLogits', options, ['weights', 'name']);
  const loss = logits.graph.add(SigmoidCrossEntropy, [logits, labels], null, name).output;
  return weightLoss(SigmoidCrossEntropy.type, loss, weights);
}

export interface LogitLossAttrs {
  readonly kind: 'weightedBce' | 'hinge' | 'focal';
  readonly gamma: number;
  /** Weights of examples with label 1 and 0. */
  readonly positive: number;
  readonly negative: number;
}

export const LogitLoss: OpDef<LogitLossAttrs> = {
  type: 'LogitLoss',
  infer: ([logits, labels], { kind, gamma, positive, negative }) => {
    oneFloat(kind, logits!, 'logit');
    oneFloat(kind, labels!, 'label');
    if (![gamma, positive, negative].every((value) => value >= 0 && Number.isFinite(value))) {
      throw misfit(kind, `its factors must be finite and not below zero: ${gamma}, ${positive}, ${negative}`);
    }
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [
    grad && op.graph.add(LogitLossGrad, [...op.inputs, grad], op.attrs, `${op.attrs.kind}_grad`).output,
    undefined,
  ],
};

export const LogitLossGrad: OpDef<LogitLossAttrs> = { type: 'LogitLossGrad', infer: ([logits]) => [logits!.spec] };

function logitLoss(logits: Tensor, labels: Tensor, attrs: Partial<LogitLossAttrs>, options: LossOptions): Tensor {
  const full = { kind: 'weightedBce', gamma: 0, positive: 1, negative: 1, ...attrs } as const;
  const loss = logits.graph.add(LogitLoss, [logits, labels], full, options.name ?? full.kind).output;
  return weightLoss(full.kind, loss, options.weights);
}

export interface WeightedCrossEntropyOptions extends LossOptions {
  /** How often a positive counts. Default: 1. */
  readonly posWeight?: number;
}

/**
 * Cross entropy of each example from its logit, with positives counted `posWeight` times: above 1 for more recall,
 * below for more precision. Mirrors tf.nn.weighted_cross_entropy_with_logits.
 */
export function weightedCrossEntropyWithLogits(
  logits: Tensor,
  labels: Tensor,
  options: WeightedCrossEntropyOptions = {},
): Tensor {
  checkOptions('weightedCrossEntropyWithLogits', options, ['weights', 'posWeight', 'name']);
  return logitLoss(logits, labels, { kind: 'weightedBce', positive: options.posWeight ?? 1 }, options);
}

/** max(0, 1 - logit) for label 1, max(0, 1 + logit) for label 0. */
export function hingeLoss(logits: Tensor, labels: Tensor, options: LossOptions = {}): Tensor {
  return logitLoss(logits, labels, { kind: 'hinge' }, checkOptions('hingeLoss', options, ['weights', 'name']));
}

export interface FocalOptions extends LossOptions {
  /** How much examples that are right already are held back; 0 is cross entropy. Default: 2. */
  readonly gamma?: number;
  /** Weight of positives, 1 - alpha of negatives; `null` weighs both 1. Default: 0.25. */
  readonly alpha?: number | null;
}

/** Cross entropy from the logit times (1 - p)^gamma, p the probability of the true class. */
export function focalLoss(logits: Tensor, labels: Tensor, options: FocalOptions = {}): Tensor {
  const { alpha = 0.25, gamma = 2 } = checkOptions('focalLoss', options, ['weights', 'gamma', 'alpha', 'name']);
  const [positive, negative] = alpha === null ? [1, 1] : [alpha, 1 - alpha];
  return logitLoss(logits, labels, { kind: 'focal', gamma, positive, negative }, options);
}

export interface SoftmaxLossAttrs {
  /** Labels are the index of the class instead of a weight per class. */
  readonly sparse: boolean;
}

export const SoftmaxLoss: OpDef<SoftmaxLossAttrs> = {
  type: 'SoftmaxCrossEntropyWithLogits',
  infer: ([logits, labels], { sparse }) => {
    const type = SoftmaxLoss.type;
    rowsOfFloats(type, logits!);
    if (sparse) oneFloat(type, labels!, 'class');
    else if (!sameShape(rowsOfFloats(type, labels!).spec.shape, logits!.spec.shape)) {
      const [found, wanted] = [labels!, logits!].map(({ spec }) => shapeText(spec.shape));
      throw misfit(type, `labels of shape ${found} do not fit logits of shape ${wanted}`);
    }
    return [{ dtype: 'float32', shape: ['batch'] }];
  },
  gradient: (op, [grad]) => [grad && op.graph.add(SoftmaxLossGrad, [...op.inputs, grad], op.attrs).output, undefined],
};

export const SoftmaxLossGrad: OpDef<SoftmaxLossAttrs> = {
  type: 'SoftmaxCrossEntropyGrad',
  infer: ([logits]) => [logits!.spec],
};

/** Cross entropy of the softmax of `[batch, n]` logits with labels of the same shape, mostly one of them 1. */
export function softmaxCrossEntropyWithLogits(logits: Tensor, labels: Tensor, options: LossOptions = {}): Tensor {
  const { name, weights } = checkOptions('softmaxCrossEntropyWithLogits', options, ['weights', 'name']);
  const loss = logits.graph.add(SoftmaxLoss, [logits, labels], { sparse: false }, name).output;
  return weightLoss(SoftmaxLoss.type, loss, weights);
}

/**
 * The same with one label per example: the index of its class, as a float. A fed index that is no class is ML_FEED, one
 * that the graph makes gives NaN.
 */
export function sparseSoftmaxCrossEntropyWithLogits(
  logits: Tensor,
  classes: Tensor,
  options: LossOptions = {},
): Tensor {
  const { name, weights } = checkOptions('sparseSoftmaxCrossEntropyWithLogits', options, ['weights', 'name']);
  const loss = logits.graph.add(SoftmaxLoss, [logits, classes], { sparse: true }, name).output;
  return weightLoss(SoftmaxLoss.type, loss, weights);
}

/** Squared difference of each example, the mean of its columns where it has several. */
export function squaredError(predictions: Tensor, labels: Tensor, options: LossOptions = {}): Tensor {
  const { name = 'squaredError', weights } = checkOptions('squaredError', options, ['weights', 'name']);
  const off = sub(rowsOfFloats('squaredError', predictions), labels, { name });
  const sum = rowDot(off, off);
  const loss = predictions.columns === 1 ? sum : scale(sum, 1 / predictions.columns);
  return weightLoss('squaredError', loss, weights);
}
