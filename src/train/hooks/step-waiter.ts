/** @file Holds a worker back until training has got somewhere (native_training/session_run_hooks): a slow start. */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, type RandomIntegers, systemClock, systemRandom } from '../../base/clock.js';
import { log } from '../../base/log.js';
import type { RunContext, TrainHook } from './hook.js';
import { type TideWindow, tideAvailableNow } from './tide.js';

export interface GlobalStepWaiterOptions {
  /** Global step to wait for; from 0 down there is nothing to wait for. */
  readonly waitUntilStep: number;
  /** Outside of it a worker that waits stops. */
  readonly tide?: TideWindow;
  /** The worker starts anyway so long after the first steps were seen, and up to ten minutes more. Default: 10. */
  readonly maxNonTideWaitMinute?: number;
  readonly clock?: Clock;
  readonly random?: RandomIntegers;
}

const POLL_MS = 500;
const LOG_MS = 60_000;
const RANDOM_SECONDS_MAX = 600;
const WAIT_MINUTES = 10;

/** Waits before the first step until the training of others has come to a global step. */
export class CustomGlobalStepWaiterHook implements TrainHook {
  readonly #options: GlobalStepWaiterOptions;
  #started = false;
  #stopSignal: AbortSignal | undefined;

  constructor(options: GlobalStepWaiterOptions) {
    const known = ['waitUntilStep', 'tide', 'maxNonTideWaitMinute', 'clock', 'random'] as const;
    this.#options = checkOptions('CustomGlobalStepWaiterHook', options, known);
  }

  afterCreateSession(_session: RunContext['session'], { signal }: { readonly signal: AbortSignal }): void {
    this.#stopSignal = signal;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Waits before the first run; a stop ends the wait. */
  beforeRun(context: RunContext): Promise<undefined> | undefined {
    return this.#started || this.#options.waitUntilStep <= 0 ? undefined : this.#wait(context);
  }

  async #wait({ session, requestStop }: RunContext): Promise<undefined> {
    const { waitUntilStep, tide, clock = systemClock } = this.#options;
    const startMs = clock.now();
    let [loggedMs, limitMs] = [startMs, Number.POSITIVE_INFINITY];
    while (!this.#stopSignal?.aborted) {
      if (tide !== undefined && !tideAvailableNow(tide, clock)) {
        log.info('outside of the tide window: the worker stops', { waitUntilStep });
        requestStop();
        return;
      }
      const { globalStep } = session;
      const nowMs = clock.now();
      if (globalStep > 1 && limitMs === Number.POSITIVE_INFINITY) limitMs = nowMs + this.#maxWaitMs();
      if (globalStep >= waitUntilStep || nowMs >= limitMs) break;
      if (nowMs - loggedMs >= LOG_MS) {
        log.info('the worker waits for a global step', { globalStep, waitUntilStep, waitedMs: nowMs - startMs });
        loggedMs = nowMs;
      }
      await clock.sleep(POLL_MS, this.#stopSignal);
    }
    this.#started = true;
  }

  #maxWaitMs(): number {
    const { maxNonTideWaitMinute = WAIT_MINUTES, random = systemRandom } = this.#options;
    return (maxNonTideWaitMinute * 60 + random.nextInt(0, RANDOM_SECONDS_MAX)) * 1000;
  }
}
