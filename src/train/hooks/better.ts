/** @file Which of two values of a metric is the better one. */
import { MonolithError } from '../../base/errors.js';
import type { EvaluationReport } from './evaluation.js';

export interface BetterOptions {
  /** `auc` or `loss`, or a metric that the evaluation was asked for by this name. */
  readonly metric: string;
  /** Whether more of it is better. Known for the metrics of this package but `calibration`. */
  readonly mode?: 'max' | 'min';
  /** How much better a value has to be to count. Default: 0, any. */
  readonly minDelta?: number;
}

const LESS_IS_BETTER = /^(?:loss|logLoss|(?:\w+_)?(?:mse|rmse|mae))$/;
const MORE_IS_BETTER = /^(?:bucketedAuc|thresholdAuc|gauc|(?:\w+_)?(?:auc|accuracy)|(?:ndcg|recall)@\d+)$/;

/** Compares evaluations by one metric; ML_OPTION names `where` when it cannot. */
export class Better {
  readonly metric: string;
  readonly #where: string;
  readonly #sign: 1 | -1;
  readonly #minDelta: number;

  constructor(where: string, { metric, mode, minDelta = 0 }: BetterOptions) {
    this.metric = metric;
    this.#where = where;
    this.#minDelta = minDelta;
    if (!(minDelta >= 0)) this.#refuse('minDelta', `${minDelta} is no difference: it is 0 or more`);
    if (mode !== undefined && mode !== 'max' && mode !== 'min')
      this.#refuse('mode', `${String(mode)} is no max or min`);
    if (mode === undefined && !LESS_IS_BETTER.test(metric) && !MORE_IS_BETTER.test(metric)) {
      this.#refuse('mode', `whether more of ${metric} is better has to be said`, 'give mode: max or mode: min');
    }
    this.#sign = (mode ?? (LESS_IS_BETTER.test(metric) ? 'min' : 'max')) === 'max' ? 1 : -1;
  }

  /** The value of the metric; null where it is undefined, as an AUC of one class is. */
  valueOf(report: EvaluationReport): number | null {
    const { metrics, auc, loss } = report;
    // A head may have an AUC among its metrics too: the report's own goes before it.
    const own = { auc, loss };
    const values: Readonly<Record<string, number | null>> = Object.assign({ ...own }, metrics, own);
    const value = values[this.metric];
    if (value === undefined) {
      const hint = `add it to the metrics of the evaluation, or take one of ${Object.keys(values).join(', ')}`;
      this.#refuse('metric', `the evaluation has no ${this.metric}`, hint);
    }
    return Number.isNaN(value) ? null : (value ?? null);
  }

  /** Whether `value` beats `best`; anything beats nothing. */
  isBetter(value: number, best: number | null): boolean {
    return best === null || this.#sign * (value - best) > this.#minDelta;
  }

  #refuse(option: string, reason: string, hint?: string): never {
    throw new MonolithError('ML_OPTION', { where: this.#where, option, reason }, hint === undefined ? {} : { hint });
  }
}
