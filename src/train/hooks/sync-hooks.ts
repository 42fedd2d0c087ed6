/**
 * @file Chief and workers begin and end together (native_training/sync_hooks): workers wait until the chief has
 * restored, and the chief waits at the end until they are done, so that its last save has all of them.
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import type { ControlKv } from './control-kv.js';
import type { Coordinator } from './coordinator.js';
import type { TrainHook } from './hook.js';

const VECTOR = 'sync_hooks/control_var';
const POLL_MS = 1000;
const LOG_MS = 60_000;
const TIMEOUT_SECONDS = 1800;

/**
 * What the chief and the workers of a job tell each other. Of the vector that they share element 0 says that the
 * restore is done, element i > 0 that worker i is alive.
 */
export class SyncHelper {
  readonly numWorkers: number;
  readonly #kv: ControlKv;

  constructor(numWorkers: number, kv: ControlKv) {
    this.numWorkers = numWorkers;
    this.#kv = kv;
  }

  async markRestoreDone(): Promise<void> {
    await this.#kv.setBool(VECTOR, 0, true);
  }

  async isRestoreDone(): Promise<boolean> {
    return (await this.#kv.getBools(VECTOR, this.numWorkers))[0] ?? false;
  }

  async startWorker(index: number): Promise<void> {
    this.#check(index);
    await this.#kv.setBool(VECTOR, index, true);
  }

  async finishWorker(index: number): Promise<void> {
    this.#check(index);
    await this.#kv.setBool(VECTOR, index, false);
  }

  async getAliveWorkers(): Promise<number[]> {
    const alive = await this.#kv.getBools(VECTOR, this.numWorkers);
    return alive.flatMap((isAlive, index) => (isAlive && index > 0 ? [index] : []));
  }

  async getNumAliveWorkers(): Promise<number> {
    return (await this.getAliveWorkers()).length;
  }

  #check(index: number): void {
    if (Number.isInteger(index) && index > 0 && index < this.numWorkers) return;
    throw new MonolithError('ML_SYNC_INDEX', { index });
  }
}

export interface ChiefSyncOptions {
  /** How long the chief waits for workers at the end. Default: 1800. */
  readonly timeoutSeconds?: number;
  readonly clock?: Clock;
}

/** Tells workers that the chief has restored, and waits for them at the end. */
export class ChiefSyncHook implements TrainHook {
  readonly #helper: SyncHelper;
  readonly #options: ChiefSyncOptions;

  constructor(helper: SyncHelper, options: ChiefSyncOptions = {}) {
    this.#helper = helper;
    this.#options = checkOptions('ChiefSyncHook', options, ['timeoutSeconds', 'clock']);
  }

  async afterCreateSession(): Promise<void> {
    await this.#helper.markRestoreDone();
  }

  async end(): Promise<void> {
    const { timeoutSeconds = TIMEOUT_SECONDS, clock = systemClock } = this.#options;
    const endMs = clock.now() + timeoutSeconds * 1000;
    let loggedMs = clock.now();
    for (;;) {
      const alive = await this.#helper.getNumAliveWorkers();
      if (alive === 0) {
        log.info('All other workers had been finished.');
        return;
      }
      if (clock.now() >= endMs) {
        log.warn(`Reach timeout seconds! Remaining worker count: ${alive}.`);
        return;
      }
      if (clock.now() - loggedMs >= LOG_MS) {
        log.info('the chief waits for workers to finish', { alive });
        loggedMs = clock.now();
      }
      await clock.sleep(POLL_MS);
    }
  }
}

/** Has a worker wait until the chief has restored. With index 0, which is the chief, it does nothing. */
export class WorkerSyncHook implements TrainHook {
  readonly #index: number;
  readonly #helper: SyncHelper;
  readonly #clock: Clock;

  constructor(workerIndex: number, helper: SyncHelper, clock: Clock = systemClock) {
    this.#index = workerIndex;
    this.#helper = helper;
    this.#clock = clock;
  }

  /** Waits for the restore; a stop ends the wait. */
  async afterCreateSession(_session: Session, { signal }: Coordinator): Promise<void> {
    if (this.#index === 0) return;
    await this.#helper.startWorker(this.#index);
    while (!signal.aborted && !(await this.#helper.isRestoreDone())) await this.#clock.sleep(POLL_MS, signal);
  }

  async end(): Promise<void> {
    if (this.#index !== 0) await this.#helper.finishWorker(this.#index);
  }
}

export interface TrainingHooksOptions extends ChiefSyncOptions {
  readonly enableSync: boolean;
  readonly numWorkers: number;
  readonly workerIndex: number;
  readonly kv: ControlKv;
}

/** The hooks of a worker and of the chief; none when they are not to wait for each other. */
export class TrainingHooksHelper {
  readonly trainingHooks: readonly TrainHook[];
  readonly trainingChiefHooks: readonly TrainHook[];

  constructor(options: TrainingHooksOptions) {
    checkOptions('TrainingHooksHelper', options, [
      'enableSync',
      'numWorkers',
      'workerIndex',
      'kv',
      'timeoutSeconds',
      'clock',
    ]);
    const { enableSync, numWorkers, workerIndex, kv, ...chief } = options;
    const helper = new SyncHelper(numWorkers, kv);
    this.trainingHooks = enableSync ? [new WorkerSyncHook(workerIndex, helper, chief.clock)] : [];
    this.trainingChiefHooks = enableSync ? [new ChiefSyncHook(helper, chief)] : [];
  }
}
