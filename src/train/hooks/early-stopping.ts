/** @file Stops a training whose metric no longer gets better. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { Better, type BetterOptions } from './better.js';
import type { EvaluationListener, EvaluationReport } from './evaluation.js';
import type { RunContext } from './hook.js';

export interface EarlyStoppingOptions extends BetterOptions {
  /** Evaluations in a row without a better value after which training stops. */
  readonly patience: number;
  readonly onStop?: (stop: EarlyStop) => void;
}

export interface EarlyStop {
  readonly step: number;
  readonly metric: string;
  readonly best: number;
  readonly bestStep: number;
}

/**
 * Stops training after some evaluations that were no better than the best before them. A listener of EvaluationHook. An
 * evaluation whose metric is undefined counts as none.
 */
export class EarlyStopping implements EvaluationListener {
  readonly #options: EarlyStoppingOptions;
  readonly #better: Better;
  #best: { readonly value: number; readonly step: number } | null = null;
  #stale = 0;

  constructor(options: EarlyStoppingOptions) {
    checkOptions('EarlyStopping', options, ['metric', 'mode', 'minDelta', 'patience', 'onStop']);
    const { patience } = options;
    if (!Number.isInteger(patience) || patience < 1) {
      const reason = `patience is a number of evaluations from 1 on, not ${String(patience)}`;
      throw new MonolithError('ML_OPTION', { where: 'EarlyStopping', option: 'patience', reason });
    }
    this.#options = options;
    this.#better = new Better('EarlyStopping', options);
  }

  /** Evaluations since the best one. */
  get stale(): number {
    return this.#stale;
  }

  afterEvaluation(context: RunContext, report: EvaluationReport): void {
    const { patience, onStop } = this.#options;
    const { metric } = this.#better;
    const value = this.#better.valueOf(report);
    if (value === null) {
      log.warn('early stopping does not count an evaluation whose metric is undefined', { metric, step: report.step });
      return;
    }
    if (this.#best === null || this.#better.isBetter(value, this.#best.value)) {
      this.#best = { value, step: report.step };
      this.#stale = 0;
      return;
    }
    if (++this.#stale < patience) return;
    const { value: best, step: bestStep } = this.#best;
    const stop = { step: report.step, metric, best, bestStep };
    log.info('training stops: the metric does not get better', stop);
    onStop?.(stop);
    context.requestStop();
  }
}
