/** @file What a model predicts: a head with its label, prediction and loss, and how several become one loss. */
import type { Tensor } from '../graph/graph.js';
import { sigmoid } from '../graph/ops/activations.js';
import { softmax } from '../graph/ops/attention.js';
import { addN, scale } from '../graph/ops/elementwise.js';
import {
  type LossOptions,
  sigmoidCrossEntropyWithLogits,
  sparseSoftmaxCrossEntropyWithLogits,
  squaredError,
  weightLoss,
} from '../graph/ops/losses.js';
import { reduceMean } from '../graph/ops/reductions.js';

/**
 * What a head predicts: `binary` probabilities, `regression` numbers, `multiclass` a probability for each class,
 * `[batch, classes]`; `own` what a model function of its own loss says, probabilities as far as metrics know.
 */
export type HeadKind = 'binary' | 'regression' | 'multiclass' | 'own';

/** One thing a model predicts. */
export interface ModelHead {
  /** That of its label. */
  readonly name: string;
  readonly kind: HeadKind;
  /** One float per example; of `multiclass` the index of the class. */
  readonly label: Tensor;
  readonly pred: Tensor;
  /** Mean loss of the batch. */
  readonly loss: Tensor;
}

/** Loss per example from logits and labels: one of `losses`, or the user's own. */
export type HeadLoss = (logits: Tensor, labels: Tensor) => Tensor;

interface HeadParts {
  readonly name: string;
  readonly label: Tensor;
  readonly logit: Tensor;
  /** In place of the loss of the kind. */
  readonly loss?: HeadLoss | undefined;
  readonly weights?: LossOptions['weights'];
}

const KINDS: Readonly<Record<Exclude<HeadKind, 'own'>, { readonly loss: HeadLoss; pred(logit: Tensor): Tensor }>> = {
  binary: { loss: sigmoidCrossEntropyWithLogits, pred: (logit) => sigmoid(logit, { name: 'pred' }) },
  regression: { loss: squaredError, pred: (logit) => logit },
  multiclass: { loss: sparseSoftmaxCrossEntropyWithLogits, pred: (logit) => softmax(logit, { name: 'pred' }) },
};

/** A head of a kind, under the scope of its name. */
export function makeHead(kind: Exclude<HeadKind, 'own'>, { name, label, logit, ...parts }: HeadParts): ModelHead {
  const { loss, pred } = KINDS[kind];
  return logit.graph.nameScope(name, () => {
    const perExample = (parts.loss ?? loss)(logit, label);
    const weighted = weightLoss(kind, perExample, parts.weights);
    return { name, kind, label, pred: pred(logit), loss: reduceMean(weighted, { name: 'loss' }) };
  });
}

/** What `m.binary` and the like give: heads and what each counts. A model function returns it. */
export class Heads {
  readonly list: readonly { readonly head: ModelHead; readonly weight: number }[];

  constructor(list: Heads['list']) {
    this.list = list;
  }

  /** The sum of the losses of all heads, times their weights. */
  totalLoss(): Tensor {
    const terms = this.list.map(({ head, weight }) => (weight === 1 ? head.loss : scale(head.loss, weight)));
    return terms.length === 1 ? terms[0]! : addN(terms, { name: 'loss' });
  }
}
