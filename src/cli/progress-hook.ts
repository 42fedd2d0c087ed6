/** @file Tells the progress of training at intervals, and keeps the loss and the speed for the end. */
import type { Tensor } from '../graph/graph.js';
import type { FetchValue } from '../runtime/session/fetch.js';
import type { Fetch, Session } from '../runtime/session/session.js';
import type { RunContext, TrainHook } from '../train/hooks/hook.js';
import type { TrainEvent } from './train-job.js';

export class ProgressHook implements TrainHook {
  /** Loss of the last batch, null before the first step. */
  loss: number | null = null;
  readonly #fetches: readonly Fetch[];
  readonly #batchSize: number;
  readonly #intervalMs: number;
  readonly #onEvent: (event: TrainEvent) => void;
  #endStep = 0;
  #startStep = 0;
  #startMs = 0;
  #step = 0;
  #nowMs = 0;
  #toldStep = -1;
  #toldMs = 0;

  constructor(loss: Tensor, batchSize: number, intervalMs: number, onEvent: (event: TrainEvent) => void) {
    this.#fetches = [loss];
    this.#batchSize = batchSize;
    this.#intervalMs = intervalMs;
    this.#onEvent = onEvent;
  }

  /** Starts the clock. `endStep` is where training will stop. */
  start(endStep: number): void {
    this.#endStep = endStep;
    this.#startMs = performance.now();
    this.#toldMs = this.#startMs;
  }

  /** Mean speed since `start`. */
  get stepsPerS(): number {
    const seconds = (this.#nowMs - this.#startMs) / 1000;
    return seconds > 0 ? (this.#step - this.#startStep) / seconds : 0;
  }

  afterCreateSession(session: Session): void {
    this.#startStep = session.globalStep;
    this.#step = session.globalStep;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(context: RunContext, [loss]: readonly FetchValue[]): void {
    this.loss = loss as number;
    this.#step = context.globalStep;
    this.#nowMs = performance.now();
    // The last step is told before the save and the evaluation that follow it: both may take their time.
    if (this.#step >= this.#endStep || this.#nowMs - this.#toldMs >= this.#intervalMs) this.#tell();
  }

  end(): void {
    if (this.loss !== null && this.#toldStep !== this.#step) this.#tell();
  }

  #tell(): void {
    this.#toldStep = this.#step;
    this.#toldMs = this.#nowMs;
    const { stepsPerS } = this;
    const left = this.#endStep - this.#step;
    this.#onEvent({
      event: 'progress',
      step: this.#step,
      endStep: this.#endStep,
      loss: this.loss!,
      stepsPerS,
      examplesPerS: stepsPerS * this.#batchSize,
      etaS: stepsPerS > 0 ? left / stepsPerS : null,
    });
  }
}
