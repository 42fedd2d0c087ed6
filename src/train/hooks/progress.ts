/** @file Tells how far training has come at intervals of time, and keeps the loss and the speed for the end. */
import { checkOptions } from '../../base/check-options.js';
import type { Tensor } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

export interface Progress {
  readonly step: number;
  /** Where training will stop; null when nobody said. */
  readonly endStep: number | null;
  /** Of the last batch. */
  readonly loss: number;
  /** Means since the start. */
  readonly stepsPerS: number;
  readonly examplesPerS: number;
  /** Seconds to `endStep`; null until there is a rate to reckon with. */
  readonly etaS: number | null;
}

export interface ProgressOptions {
  readonly loss: Tensor;
  readonly batchSize: number;
  readonly onProgress: (progress: Progress) => void;
  /** Least time between two calls; one more comes for the last step, whatever the time. Default: 1000. */
  readonly everyMs?: number;
  /** Where training will stop. */
  readonly endStep?: number;
}

const EVERY_MS = 1000;

/**
 * Tells how far training has come.
 *
 * ```ts
 * new ProgressHook({ loss: model.loss, batchSize: 64, onProgress: ({ step, loss }) => console.log(step, loss) });
 * ```
 */
export class ProgressHook implements TrainHook {
  /** Loss of the last batch, null before the first step. */
  loss: number | null = null;
  readonly #options: ProgressOptions;
  readonly #fetches: readonly Fetch[];
  #endStep: number;
  #startStep = 0;
  #startMs = 0;
  #step = 0;
  #nowMs = 0;
  #toldStep = -1;
  #toldMs = 0;

  constructor(options: ProgressOptions) {
    checkOptions('ProgressHook', options, ['loss', 'batchSize', 'onProgress', 'everyMs', 'endStep']);
    this.#options = options;
    this.#fetches = [options.loss];
    this.#endStep = options.endStep ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Starts the clock anew, for who made things ready after the session was there. `endStep` is where training will
   * stop.
   */
  start(endStep = this.#endStep): void {
    this.#endStep = endStep;
    this.#startMs = performance.now();
    this.#toldMs = this.#startMs;
  }

  /** Mean speed since the start. */
  get stepsPerS(): number {
    const seconds = (this.#nowMs - this.#startMs) / 1000;
    return seconds > 0 ? (this.#step - this.#startStep) / seconds : 0;
  }

  afterCreateSession(session: Session): void {
    this.#startStep = session.globalStep;
    this.#step = session.globalStep;
    this.start();
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(context: RunContext, [loss]: readonly FetchValue[]): void {
    const { everyMs = EVERY_MS } = this.#options;
    this.loss = loss as number;
    this.#step = context.globalStep;
    this.#nowMs = performance.now();
    // The last step is told before the save and the evaluation that follow it: both may take their time.
    if (this.#step >= this.#endStep || this.#nowMs - this.#toldMs >= everyMs) this.#tell();
  }

  end(): void {
    if (this.loss !== null && this.#toldStep !== this.#step) this.#tell();
  }

  #tell(): void {
    this.#toldStep = this.#step;
    this.#toldMs = this.#nowMs;
    const { stepsPerS } = this;
    const ends = Number.isFinite(this.#endStep);
    this.#options.onProgress({
      step: this.#step,
      endStep: ends ? this.#endStep : null,
      loss: this.loss!,
      stepsPerS,
      examplesPerS: stepsPerS * this.#options.batchSize,
      etaS: ends && stepsPerS > 0 ? (this.#endStep - this.#step) / stepsPerS : null,
    });
  }
}
