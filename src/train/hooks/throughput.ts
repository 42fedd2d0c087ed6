/**
 * @file Measures how fast training goes and emits it as metrics (ThroughputMetricHook of native_training).
 *
 * The first step emits `run_start_elapsed_time.all`, the seconds since `startTime`. From then on, every so many
 * seconds, `run_steps.all` counts the steps and `run_steps_elapsed_time.all` is the seconds per step, as the reference
 * has them; `run_steps_per_second.all` and `run_examples_per_second.all` are this package's own. It goes by time, so it
 * cuts no groups of steps.
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { type MetricsClient, noMetrics } from '../../base/metrics-client.js';
import type { Session } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

export interface Throughput {
  readonly step: number;
  /** Steps since the report before, and the time they took. */
  readonly steps: number;
  readonly seconds: number;
  readonly stepsPerS: number;
  /** Null without `batchSize`. */
  readonly examplesPerS: number | null;
}

export interface ThroughputOptions {
  readonly modelName: string;
  /** Examples of a step. */
  readonly batchSize?: number;
  /** Milliseconds since 1970 at which the job was started. Default: when the hook is made. */
  readonly startTime?: number;
  readonly clusterType?: string;
  /** Default: 30. */
  readonly everySeconds?: number;
  /** Where metrics go. Default: nowhere. */
  readonly client?: MetricsClient;
  readonly onThroughput?: (throughput: Throughput) => void;
  readonly clock?: Clock;
}

const EVERY_SECONDS = 30;

/** Emits the steps and examples per second of a training. */
export class ThroughputMetricHook implements TrainHook {
  readonly #options: ThroughputOptions;
  readonly #clock: Clock;
  readonly #client: MetricsClient;
  readonly #tags: Readonly<Record<string, string>>;
  readonly #startTime: number;
  #started = false;
  #step = 0;
  #ms = 0;

  constructor(options: ThroughputOptions) {
    checkOptions('ThroughputMetricHook', options, [
      'modelName',
      'batchSize',
      'startTime',
      'clusterType',
      'everySeconds',
      'client',
      'onThroughput',
      'clock',
    ]);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#client = options.client ?? noMetrics;
    this.#tags = { model_name: options.modelName, cluster_type: options.clusterType ?? 'local' };
    this.#startTime = options.startTime ?? this.#clock.now();
  }

  afterCreateSession(session: Session): void {
    this.#step = session.globalStep;
    this.#ms = this.#clock.now();
  }

  poll({ globalStep }: RunContext): void {
    if (!this.#started) {
      this.#started = true;
      this.#client.emitTimer('run_start_elapsed_time.all', (this.#clock.now() - this.#startTime) / 1000, this.#tags);
    }
    const { everySeconds = EVERY_SECONDS } = this.#options;
    if (this.#clock.now() - this.#ms >= everySeconds * 1000) this.#report(globalStep);
  }

  /** What is left of the last interval. */
  async end(session: Session): Promise<void> {
    this.#report(session.globalStep);
    await this.#client.flush();
  }

  #report(step: number): void {
    const [steps, nowMs] = [step - this.#step, this.#clock.now()];
    const seconds = (nowMs - this.#ms) / 1000;
    // The reference divides by the steps and fails where there were none.
    if (steps <= 0 || seconds <= 0) return;
    [this.#step, this.#ms] = [step, nowMs];
    const { batchSize, onThroughput } = this.#options;
    const stepsPerS = steps / seconds;
    const examplesPerS = batchSize === undefined ? null : stepsPerS * batchSize;
    this.#client.emitCounter('run_steps.all', steps, this.#tags);
    this.#client.emitTimer('run_steps_elapsed_time.all', seconds / steps, this.#tags);
    this.#client.emitStore('run_steps_per_second.all', stepsPerS, this.#tags);
    if (examplesPerS !== null) this.#client.emitStore('run_examples_per_second.all', examplesPerS, this.#tags);
    onThroughput?.({ step, steps, seconds, stepsPerS, examplesPerS });
  }
}
