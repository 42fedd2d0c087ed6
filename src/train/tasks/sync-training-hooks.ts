/**
 * @file Hooks of workers that step together (native_training/sync_training_hooks): when they save and stop is decided
 * by files that an operator makes in the model directory, by the hour, or by how far the data is.
 *
 * Rank 0 looks and tells the others, so that all of them do the same after the same step.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import { ALONE, type Broadcast } from '../hooks/broadcast.js';
import type { RunContext, TrainHook } from '../hooks/hook.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import { tablesIn } from '../savers/session-tables.js';

/** The timer of a saver, which these hooks hold back or have save at once. */
export interface SaveTimer {
  enable(): void;
  disable(): void;
  /** The saver saves at its next look. */
  reset(): void;
}

export interface SyncHookOptions {
  /** Steps between two looks. */
  readonly stepInterval?: number;
  /** Default: there is one worker. */
  readonly broadcast?: Broadcast;
  readonly clock?: Clock;
}

const BROADCAST_MS = 10_000;
const INFO_MS = 600_000;
/** Hours of the day, in UTC, in which a timer that is held back otherwise may save: the last one included. */
const [FIRST_HOUR, LAST_HOUR] = [18, 20];

/** What hooks that look every so many steps have in common. */
abstract class EveryStepsHook implements TrainHook {
  readonly #interval: number;
  protected readonly broadcast: Broadcast;
  protected readonly clock: Clock;

  constructor(where: string, usual: number, options: SyncHookOptions) {
    const { stepInterval, broadcast, clock } = checkOptions(where, options, ['stepInterval', 'broadcast', 'clock']);
    this.#interval = stepInterval ?? usual;
    if (!(Number.isInteger(this.#interval) && this.#interval > 0)) {
      const reason = `${this.#interval} is no number of steps`;
      throw new MonolithError('ML_OPTION', { where, option: 'stepInterval', reason });
    }
    this.broadcast = broadcast ?? ALONE;
    this.clock = clock ?? systemClock;
  }

  quietSteps(globalStep: number): number {
    return this.#interval - (globalStep % this.#interval);
  }

  async afterRun(context: RunContext): Promise<void> {
    if (context.globalStep % this.#interval === 0) await this.look(context);
  }

  protected abstract look(context: RunContext): Promise<void>;
}

/**
 * Saves and stops by files that an operator makes: `dump_<step>` and `stop_<step>` in the model directory, for a step
 * that is a multiple of the interval. The timer saves on its own from 18 to 20 o'clock UTC.
 */
export class SyncTrainingForceDumpHook extends EveryStepsHook {
  readonly #modelDir: string;
  readonly #timer: SaveTimer;

  constructor(modelDir: string, targetTimer: SaveTimer, options: SyncHookOptions = {}) {
    super('SyncTrainingForceDumpHook', 100, options);
    this.#modelDir = modelDir;
    this.#timer = targetTimer;
  }

  protected async look({ globalStep, requestStop }: RunContext): Promise<void> {
    const [stop, dump, enabled] = await this.broadcast.broadcast(this.#seen(globalStep), BROADCAST_MS);
    if (enabled) this.#timer.enable();
    else this.#timer.disable();
    if (stop || dump) {
      log.info(stop ? 'stop is asked for' : 'a save is asked for', { step: globalStep, dir: this.#modelDir });
      this.#timer.enable();
      this.#timer.reset();
    }
    if (stop) requestStop();
  }

  #seen(step: number): number[] {
    if (this.broadcast.rank !== 0) return [];
    const isThere = (name: string) => (existsSync(join(this.#modelDir, `${name}_${step}`)) ? 1 : 0);
    const hour = new Date(this.clock.now()).getUTCHours();
    return [isThere('stop'), isThere('dump'), hour >= FIRST_HOUR && hour <= LAST_HOUR ? 1 : 0];
  }
}

/** Lets the timer save only while the file `ONLINE` is in the model directory. */
export class SyncTrainingSaverControlHook extends EveryStepsHook {
  readonly #modelDir: string;
  readonly #timer: SaveTimer;

  constructor(modelDir: string, targetTimer: SaveTimer, options: SyncHookOptions = {}) {
    super('SyncTrainingSaverControlHook', 100, options);
    this.#modelDir = modelDir;
    this.#timer = targetTimer;
  }

  protected async look(): Promise<void> {
    if (existsSync(join(this.#modelDir, 'ONLINE'))) this.#timer.enable();
    else this.#timer.disable();
  }
}

/** Logs how many rows tables have, every 10 minutes at the most. */
export class SyncTrainingInfoHook implements TrainHook {
  readonly #clock: Clock;
  #lastMs: number | undefined;

  constructor(options: { readonly clock?: Clock } = {}) {
    this.#clock = checkOptions('SyncTrainingInfoHook', options, ['clock']).clock ?? systemClock;
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  poll({ session }: RunContext): void {
    const nowMs = this.#clock.now();
    if (this.#lastMs !== undefined && nowMs - this.#lastMs < INFO_MS) return;
    this.#lastMs = nowMs;
    const sizes = Object.fromEntries(tablesIn(session).map(({ name, table }) => [name, table.size]));
    log.info(`*** info: ${JSON.stringify(sizes)}`);
  }
}

/** Longest text of a time in seconds. */
const LIMIT_FILE_BYTES = 64;

/**
 * Saves and stops when the data has come to a time: that of the file `limit_req_time` in the model directory, in
 * seconds since 1970. How far it is is the latest request time that tables were updated with.
 */
export class ReqTimeControlDumpHook extends EveryStepsHook {
  readonly #modelDir: string;
  readonly #timer: SaveTimer;

  constructor(modelDir: string, targetTimer: SaveTimer, options: SyncHookOptions = {}) {
    super('ReqTimeControlDumpHook', 1000, options);
    this.#modelDir = modelDir;
    this.#timer = targetTimer;
  }

  protected async look({ globalStep, session, requestStop }: RunContext): Promise<void> {
    const seen = this.broadcast.rank === 0 ? [latestRequest(session), this.#limit()] : [];
    const [reqTime = 0, limit = 0] = await this.broadcast.broadcast(seen, BROADCAST_MS);
    if (limit <= 0 || reqTime < limit) return;
    log.info('the data has come to its limit', { step: globalStep, reqTime, limit });
    this.#timer.enable();
    this.#timer.reset();
    requestStop();
  }

  /** 0 where there is no file; one that holds no time is told of, and none. */
  #limit(): number {
    const file = join(this.#modelDir, 'limit_req_time');
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return 0;
    const text = found.size <= LIMIT_FILE_BYTES ? readFileSync(file, 'utf8').trim() : '';
    if (/^\d{1,15}$/.test(text)) return Number(text);
    log.warn('the file holds no time in seconds', { file });
    return 0;
  }
}

const latestRequest = (session: Session): number =>
  tablesIn(session).reduce((latest, { table }) => Math.max(latest, table.maxUpdateSec), 0);

/** After a save all workers wait for rank 0, so that nobody exports what another has not saved yet. */
export class SyncTrainingBarrierSaverListener implements CheckpointSaverListener {
  readonly #broadcast: Broadcast;

  constructor(broadcast: Broadcast = ALONE) {
    this.#broadcast = broadcast;
  }

  async afterSave(_session: Session, step: number): Promise<void> {
    try {
      await this.#broadcast.broadcast(this.#broadcast.rank === 0 ? [step] : [], BROADCAST_MS);
    } catch (error) {
      log.warn(`barrier error: ${messageOf(error)}`, { step });
    }
  }
}
