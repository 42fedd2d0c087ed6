/**
 * @file EstimatorSpec: what a model function of a task hands back (native_training/estimator).
 *
 * Unlike upstream, which passes over names it does not know, an unknown one is an error.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Tensor } from '../graph/graph.js';
import type { Optimizer } from '../optim/optimizer.js';

/** One tensor, or one for each head. */
export type PerHead<T> = T | readonly T[] | Readonly<Record<string, T>>;

export interface EstimatorSpecFields {
  /** What is to be predicted; null in inference, where there is none. */
  readonly label: PerHead<Tensor> | null;
  readonly pred: PerHead<Tensor>;
  /** Names of the heads. Default: null, which takes those of a record of predictions, or those of deep insight. */
  readonly headName?: string | readonly string[] | null;
  /** Mean loss of the batch; null in inference. */
  readonly loss?: Tensor | null;
  /** The optimizer of dense variables. Default: null, which takes that of the model. */
  readonly optimizer?: Optimizer | null;
  /** Whether heads are probabilities, which are measured by AUC, or values, by squared error. Default: true. */
  readonly classification?: boolean | readonly boolean[];
}

const FIELDS = ['label', 'pred', 'headName', 'loss', 'optimizer', 'classification'] as const;

/**
 * What a model function of a task gives.
 *
 * ```ts
 * return new EstimatorSpec({ label, pred, headName: 'ctr', loss, optimizer });
 * ```
 */
export class EstimatorSpec {
  readonly label: PerHead<Tensor> | null;
  readonly pred: PerHead<Tensor>;
  readonly headName: string | readonly string[] | null;
  readonly loss: Tensor | null;
  readonly optimizer: Optimizer | null;
  readonly classification: boolean | readonly boolean[];

  constructor(fields: EstimatorSpecFields) {
    const given = checkOptions('EstimatorSpec', fields, FIELDS);
    for (const field of ['label', 'pred'] as const) {
      if (given[field] !== undefined) continue;
      const reason = `${field} is missing`;
      const hint = field === 'label' ? 'in inference, where there is none, it is null' : 'give what the model predicts';
      throw new MonolithError('ML_OPTION', { where: 'EstimatorSpec', option: field, reason }, { hint });
    }
    this.label = given.label;
    this.pred = given.pred;
    this.headName = given.headName ?? null;
    this.loss = given.loss ?? null;
    this.optimizer = given.optimizer ?? null;
    this.classification = given.classification ?? true;
    Object.freeze(this);
  }

  /** A copy with some fields changed. */
  replace(fields: Partial<EstimatorSpecFields>): EstimatorSpec {
    return new EstimatorSpec({ ...this, ...checkOptions('EstimatorSpec', fields, FIELDS) });
  }
}
