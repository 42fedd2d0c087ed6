/** @file Remembers the best evaluation of a training, with its checkpoint where one is kept. */
import { join } from 'node:path';
import { Better, type BetterOptions } from '../hooks/better.js';
import type { EvaluationListener, EvaluationModel, EvaluationReport } from '../hooks/evaluation.js';
import type { RunContext } from '../hooks/hook.js';
import { KeepBest } from '../hooks/keep-best.js';
import type { BestEvaluation } from './train-result.js';

/** Folder of the model directory in which the checkpoint of the best evaluation is. */
const BEST_DIR = 'best';

export interface BestOptions extends BetterOptions {
  readonly modelDir: string;
  readonly keep: boolean;
  readonly onBest: (best: BestEvaluation) => void;
}

export class BestSoFar implements EvaluationListener {
  /** Null before the first evaluation whose metric is defined. */
  best: BestEvaluation | null = null;
  readonly #better: Better;
  readonly #keeper: KeepBest | undefined;
  readonly #onBest: BestOptions['onBest'];

  constructor({ modelDir, keep, onBest, ...better }: BestOptions) {
    this.#better = new Better('Estimator.train', better);
    this.#onBest = onBest;
    if (!keep) return;
    const keepBest = (report: EvaluationReport, saved: { readonly path: string }) => this.#found(report, saved.path);
    this.#keeper = new KeepBest({ ...better, dir: join(modelDir, BEST_DIR), onBest: keepBest });
  }

  async afterEvaluation(context: RunContext, report: EvaluationReport, model: EvaluationModel): Promise<void> {
    await this.#keeper?.afterEvaluation(context, report, model);
    const value = this.#better.valueOf(report);
    if (value === null || this.best?.step === report.step) return;
    // A run before this one may have been better: its checkpoint stays, and this is the best of the training at hand.
    if (this.best === null || this.#better.isBetter(value, this.#better.valueOf(this.best))) this.#found(report, null);
  }

  #found(report: EvaluationReport, checkpoint: string | null): void {
    this.best = { ...report, checkpoint };
    this.#onBest(this.best);
  }
}
