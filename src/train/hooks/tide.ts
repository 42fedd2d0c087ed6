/** @file Training only in some hours of the day, in UTC (native_training/session_run_hooks). */
import { type Clock, systemClock } from '../../base/clock.js';
import { log } from '../../base/log.js';
import type { RunContext, TrainHook } from './hook.js';

/** Hours and minutes of a day in UTC; one whose end comes before its start goes past midnight. */
export interface TideWindow {
  readonly startHour: number;
  readonly startMinute?: number;
  readonly endHour: number;
  readonly endMinute?: number;
}

/** Whether the first time of day comes before the second. */
export function before(hour1: number, minute1: number, hour2: number, minute2: number): boolean {
  return hour1 !== hour2 ? hour1 < hour2 : minute1 < minute2;
}

/**
 * Whether it is time to train. Upstream holds a window past midnight open all day; here it is closed from its end to
 * its start.
 */
export function tideAvailableNow(window: TideWindow, clock: Clock = systemClock): boolean {
  const { startHour, startMinute = 0, endHour, endMinute = 0 } = window;
  const now = new Date(clock.now());
  const [hour, minute] = [now.getUTCHours(), now.getUTCMinutes()];
  const afterStart = !before(hour, minute, startHour, startMinute);
  const beforeEnd = before(hour, minute, endHour, endMinute);
  return before(startHour, startMinute, endHour, endMinute) ? afterStart && beforeEnd : afterStart || beforeEnd;
}

/** Stops training, which saves, outside of the window. */
export class TideStoppingHook implements TrainHook {
  readonly #window: TideWindow;
  readonly #clock: Clock;

  constructor(window: TideWindow, clock: Clock = systemClock) {
    this.#window = window;
    this.#clock = clock;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(context: RunContext): undefined {
    if (tideAvailableNow(this.#window, this.#clock)) return;
    log.info('Last hour in tide queue. Saving ckpt...', { step: context.globalStep });
    context.requestStop();
  }
}
