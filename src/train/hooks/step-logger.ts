/**
 * @file Logs the loss and the steps per second of a training each so many steps, as tf.estimator does
 * (`log_step_count_steps`).
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { log } from '../../base/log.js';
import type { Tensor } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

export interface StepLoggerOptions {
  readonly loss: Tensor;
  /** Default: 100. */
  readonly everySteps?: number;
  readonly clock?: Clock;
}

const EVERY_STEPS = 100;

/** Says `loss = …, step = …` and `global_step/sec: …` to the log. It cuts no groups of steps. */
export class StepLoggerHook implements TrainHook {
  readonly #fetches: readonly Fetch[];
  readonly #everySteps: number;
  readonly #clock: Clock;
  #step = 0;
  #ms = 0;

  constructor(options: StepLoggerOptions) {
    checkOptions('StepLoggerHook', options, ['loss', 'everySteps', 'clock']);
    this.#fetches = [options.loss];
    this.#everySteps = options.everySteps ?? EVERY_STEPS;
    this.#clock = options.clock ?? systemClock;
  }

  afterCreateSession(session: Session): void {
    this.#step = session.globalStep;
    this.#ms = this.#clock.now();
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun({ globalStep: step }: RunContext, [loss]: readonly FetchValue[]): void {
    if (step - this.#step < this.#everySteps) return;
    const now = this.#clock.now();
    const seconds = (now - this.#ms) / 1000;
    log.info(`loss = ${loss}, step = ${step}`);
    if (seconds > 0) log.info(`global_step/sec: ${(step - this.#step) / seconds}`);
    [this.#step, this.#ms] = [step, now];
  }
}
