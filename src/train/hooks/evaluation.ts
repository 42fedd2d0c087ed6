/**
 * @file Evaluates a model every so many steps of its training, and tells whoever listens: early stopping, the keeper of
 * the best, a log.
 *
 * An evaluation only reads: the training goes on as if it had not been. It is part of the step it follows, so the group
 * of steps ends there, and nowhere else.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { MetricName } from '../../metrics/create-metric.js';
import {
  type EvaluatedModel,
  type EvaluateOptions,
  type Evaluation,
  evaluate,
  prepareEvaluation,
} from '../../metrics/evaluate.js';
import type { Session } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

export interface EvaluationReport extends Evaluation {
  /** Steps trained when it was made. */
  readonly step: number;
  /** The metrics that were asked for, by name. */
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly ms: number;
}

/** A model, such as ModelSpec, as far as evaluations know it. */
export interface EvaluationModel extends EvaluatedModel {
  readonly name: string;
}

export interface EvaluationListener {
  /** Training waits for it. */
  afterEvaluation(context: RunContext, report: EvaluationReport, model: EvaluationModel): void | Promise<void>;
}

export interface EvaluationHookOptions extends EvaluateOptions {
  readonly model: EvaluationModel;
  /** Held-out batches in the memory of the session, such as those of `data.loadBatches`; asked for once. */
  readonly batches: (session: Session) => readonly number[] | Promise<readonly number[]>;
  readonly everySteps: number;
  readonly listeners?: readonly EvaluationListener[];
  readonly onEvaluated?: (report: EvaluationReport) => void;
}

/**
 * Evaluates every so many steps, and at the end.
 *
 * ```ts
 * const batches = (session) => data.loadBatches(session, heldOut);
 * new EvaluationHook({ model, batches, everySteps: 1000, listeners: [new EarlyStopping({ metric: 'auc', patience: 3 })] });
 * ```
 */
export class EvaluationHook implements TrainHook {
  /** The last one; null before the first. */
  latest: EvaluationReport | null = null;
  readonly #options: EvaluationHookOptions;
  #batches: readonly number[] = [];
  #step = 0;

  constructor(options: EvaluationHookOptions) {
    checkOptions('EvaluationHook', options, [
      'model',
      'batches',
      'everySteps',
      'listeners',
      'onEvaluated',
      'metrics',
      'weights',
      'groupBy',
    ]);
    const { everySteps } = options;
    if (!Number.isInteger(everySteps) || everySteps < 1) {
      const reason = `everySteps is a number of steps, not ${String(everySteps)}`;
      throw new MonolithError('ML_OPTION', { where: 'EvaluationHook', option: 'everySteps', reason });
    }
    this.#options = options;
  }

  /** Steps are those since the start of this run, as with saves. */
  async afterCreateSession(session: Session): Promise<void> {
    this.#step = session.globalStep;
    prepareEvaluation(session, this.#options.model);
    this.#batches = await this.#options.batches(session);
  }

  quietSteps(globalStep: number): number {
    return this.#step + this.#options.everySteps - globalStep;
  }

  afterRun(context: RunContext): Promise<void> | undefined {
    if (context.globalStep - this.#step < this.#options.everySteps) return undefined;
    return this.#evaluate(context);
  }

  /** The last step is evaluated too. */
  async end(session: Session): Promise<void> {
    const { globalStep } = session;
    if (globalStep === this.#step) return;
    await this.#evaluate({ session, globalStep, requestStop: () => undefined, drain: async () => undefined });
  }

  async #evaluate(context: RunContext): Promise<void> {
    const { model, metrics, weights, groupBy, listeners = [], onEvaluated } = this.#options;
    this.#step = context.globalStep;
    const start = performance.now();
    const found: Evaluation & { readonly metrics?: Record<string, number | null> } = await evaluate<MetricName>(
      context.session,
      model,
      this.#batches,
      { ...(metrics && { metrics }), ...(weights && { weights }), ...(groupBy !== undefined && { groupBy }) },
    );
    const report = { step: this.#step, metrics: {}, ...found, ms: performance.now() - start };
    this.latest = report;
    onEvaluated?.(report);
    for (const listener of listeners) await listener.afterEvaluation(context, report, model);
  }
}
