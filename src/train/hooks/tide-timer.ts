/**
 * @file When to do something again: by steps or seconds, and by other seconds outside of a tide window (save_utils).
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { type TideWindow, tideAvailableNow } from './tide.js';

export interface TideTimerOptions {
  readonly everySecs?: number;
  readonly everySteps?: number;
  /** Hours of the day, in UTC, in which the interval above holds. */
  readonly tide?: TideWindow;
  /** The interval outside of them; without it the window has no effect. */
  readonly tideEverySecs?: number;
  readonly clock?: Clock;
}

/** Mirrors SecondOrStepTimerWithTideSetting: the first call triggers, and no step does twice. */
export class SecondOrStepTimerWithTideSetting {
  readonly #options: TideTimerOptions;
  readonly #clock: Clock;
  #enabled = true;
  #lastStep: number | null = null;
  #lastMs = 0;

  constructor(options: TideTimerOptions) {
    checkOptions('a timer', options, ['everySecs', 'everySteps', 'tide', 'tideEverySecs', 'clock']);
    const { everySecs, everySteps, clock = systemClock } = options;
    if (everySecs !== undefined && everySteps !== undefined) {
      const reason = 'Can not provide both save_checkpoints_secs and save_checkpoints_steps.';
      throw new MonolithError('ML_OPTION', { where: 'a timer', option: 'everySecs', reason });
    }
    this.#options = options;
    this.#clock = clock;
  }

  get lastTriggeredStep(): number | null {
    return this.#lastStep;
  }

  enable(): void {
    this.#enabled = true;
  }

  /** It triggers no more until it is enabled. */
  disable(): void {
    this.#enabled = false;
  }

  /** The next call triggers. */
  reset(): void {
    this.#lastStep = null;
  }

  shouldTriggerForStep(step: number): boolean {
    if (!this.#enabled) return false;
    if (this.#lastStep === null) return true;
    if (step === this.#lastStep) return false;
    const { everySecs, everySteps, tide, tideEverySecs } = this.#options;
    if (tide !== undefined && tideEverySecs !== undefined && !tideAvailableNow(tide, this.#clock)) {
      return this.#elapsedSecs >= tideEverySecs;
    }
    if (everySecs !== undefined) return this.#elapsedSecs >= everySecs;
    return everySteps !== undefined && step >= this.#lastStep + everySteps;
  }

  /** Seconds and steps since the step before; null for the first. */
  updateLastTriggeredStep(step: number): { readonly secs: number; readonly steps: number } | null {
    const since = this.#lastStep === null ? null : { secs: this.#elapsedSecs, steps: step - this.#lastStep };
    this.#lastMs = this.#clock.now();
    this.#lastStep = step;
    return since;
  }

  get #elapsedSecs(): number {
    return (this.#clock.now() - this.#lastMs) / 1000;
  }
}
