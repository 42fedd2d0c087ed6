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
import type { TrainAsks } from './train-asks.js';

export interface EvaluationReport extends Omit<Evaluation, 'heads'> {
  /** Steps trained when it was made. */
  readonly step: number;
  /** Those of the heads and those that were asked for, by name. */
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

/** Addresses of batches. */
export type HeldOutBatches = readonly number[] | (() => Iterable<number> | AsyncIterable<number>);

export interface EvaluationHookOptions extends EvaluateOptions {
  readonly model: EvaluationModel;
  /**
   * Held-out batches in the memory of the session, such as those of `data.loadBatches`; asked for once. A function that
   * is given in their place is asked for them at each evaluation.
   */
  readonly batches: (session: Session) => HeldOutBatches | Promise<HeldOutBatches>;
  /** A function is asked when the training has begun. */
  readonly everySteps: number | (() => number);
  /** Global step that `everySteps` counts from, asked when the training has begun. Default: where the run begins. */
  readonly countFrom?: () => number;
  /**
   * Whether to evaluate before the first step too: what a model knows that has learnt nothing, and a broken metric at
   * once. Listeners are not told of it. Default: false.
   */
  readonly atStart?: boolean;
  readonly listeners?: readonly EvaluationListener[];
  readonly onEvaluated?: (report: EvaluationReport) => void;
  /** Evaluates also when it is asked to, which `onEvaluated` is told of and listeners are not. */
  readonly asks?: TrainAsks;
}

/**
 * Evaluates every so many steps, and at the end.
 *
 * ```ts
 * const batches = (session) => data.loadBatches(session, heldOut);
 * const early = new EarlyStopping({ metric: 'auc', patience: 3 });
 * new EvaluationHook({ model, batches, everySteps: 1000, listeners: [early] });
 * ```
 */
export class EvaluationHook implements TrainHook {
  /** The last one; null before the first. */
  latest: EvaluationReport | null = null;
  readonly #options: EvaluationHookOptions;
  #batches: HeldOutBatches = [];
  #step = 0;
  #start = 0;

  constructor(options: EvaluationHookOptions) {
    checkOptions('EvaluationHook', options, [
      'model',
      'batches',
      'everySteps',
      'countFrom',
      'atStart',
      'listeners',
      'onEvaluated',
      'metrics',
      'weights',
      'groupBy',
      'asks',
    ]);
    const { everySteps } = options;
    if (typeof everySteps !== 'function' && (!Number.isInteger(everySteps) || everySteps < 1)) {
      const reason = `everySteps is a number of steps, not ${String(everySteps)}`;
      throw new MonolithError('ML_OPTION', { where: 'EvaluationHook', option: 'everySteps', reason });
    }
    this.#options = options;
  }

  async afterCreateSession(session: Session): Promise<void> {
    this.#step = session.globalStep;
    this.#start = session.globalStep;
    await prepareEvaluation(session, this.#options.model);
    this.#batches = await this.#options.batches(session);
    if (this.#options.atStart === true) this.#options.onEvaluated?.(await this.#report(session));
  }

  quietSteps(globalStep: number): number {
    return Math.max(1, this.#next - globalStep);
  }

  afterRun(context: RunContext): Promise<void> | undefined {
    return context.globalStep < this.#next ? undefined : this.#evaluate(context);
  }

  poll(context: RunContext): Promise<void> | undefined {
    return this.#options.asks?.take('evaluate') === true ? this.#answer(context) : undefined;
  }

  async #answer({ session, globalStep }: RunContext): Promise<void> {
    this.#options.onEvaluated?.(await this.#report(session, globalStep));
  }

  /** The step of the next evaluation. */
  get #next(): number {
    const { everySteps, countFrom } = this.#options;
    const every = typeof everySteps === 'function' ? everySteps() : everySteps;
    const from = countFrom?.() ?? this.#start;
    return from + (Math.floor((this.#step - from) / every) + 1) * every;
  }

  /** The last step is evaluated too. */
  async end(session: Session): Promise<void> {
    const { globalStep } = session;
    if (globalStep === this.#step) return;
    await this.#evaluate({ session, globalStep, requestStop: () => undefined, drain: async () => undefined });
  }

  async #evaluate(context: RunContext): Promise<void> {
    const { model, listeners = [], onEvaluated } = this.#options;
    this.#step = context.globalStep;
    // As a save is, whether this one will be kept or not: what follows is then that of a run that begins here.
    await context.drain();
    const report = await this.#report(context.session);
    this.latest = report;
    onEvaluated?.(report);
    for (const listener of listeners) await listener.afterEvaluation(context, report, model);
  }

  async #report(session: Session, step = this.#step): Promise<EvaluationReport> {
    const { model, metrics, weights, groupBy } = this.#options;
    const start = performance.now();
    const found: Evaluation & { readonly metrics?: Record<string, number | null> } = await evaluate<MetricName>(
      session,
      model,
      typeof this.#batches === 'function' ? this.#batches() : this.#batches,
      { ...(metrics && { metrics }), ...(weights && { weights }), ...(groupBy !== undefined && { groupBy }) },
    );
    const ms = performance.now() - start;
    const { heads, metrics: asked, ...totals } = found;
    return { ...totals, step, metrics: { ...heads, ...asked }, ms };
  }
}
