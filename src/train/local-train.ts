/**
 * @file Single-host training: the loop around a monitored session.
 *
 * Mirrors local_train of native_training as far as the engine goes: restore the newest checkpoint of the model
 * directory, train a number of steps, save. What the input is and what is reported is up to the caller.
 */

import type { InputState } from '../base/input-state.js';
import type { KeptModelDir } from '../checkpoint/model-dir-turns.js';
import { keepModelDir, prepareModelDir } from '../checkpoint/on-demand.js';
import type { RestoreReport } from '../checkpoint/restore-report.js';
import { checkSettings } from '../checkpoint/snapshot.js';
import type { Fetch, Session } from '../runtime/session/session.js';
import { setInputState, takeRestoredInputState } from './hooks/input-state.js';
import { checkTrainOptions, type LocalTrainOptions, type TrainInputOf } from './local-train-options.js';
import { LostSessions } from './lost-sessions.js';
import type { MonitoredSession } from './monitored-session.js';
import { type OpenedTraining, openTraining } from './open-training.js';
import { adoptCheckpoint, changedSettings } from './restore-latest.js';
import { BatchQueue, checkInput, goOnFrom, type TrainInput } from './train-input.js';
import * as refusals from './train-refusals.js';

export type { LocalRestoreOptions, LocalTrainOptions, TrainInputOf } from './local-train-options.js';
export type { TrainInput } from './train-input.js';

/**
 * Steps run in groups of about this length where the hooks allow it: long enough that waking up the main thread costs
 * little, short enough that nobody notices. Between groups the threads idle for a millisecond or so, which long steps
 * feel too: a few of them make a group all the same, unless that would keep a signal waiting.
 */
const GROUP_MS = 50;
const GROUP_STEPS = 4;
const GROUP_MS_MAX = 500;

/** Trains a model in this process: restores, runs steps with hooks, saves. */
export class LocalTrainer {
  /** Global step at which training stops. */
  readonly lastStep: number;
  readonly startStep: number;
  /** Checkpoint that was restored. */
  readonly restored: string | null;
  /** What became of each variable and table when it was restored. */
  readonly restoreReport: RestoreReport | null;
  /** Settings the restored checkpoint was made with that are others now, as text: `batch_size 64, now 512`. */
  readonly changedSettings: readonly string[];
  /** Where the input stood when the restored checkpoint was saved; `train` hands it to the input. */
  readonly inputState: InputState | null;
  readonly #kept: KeptModelDir | undefined;
  readonly #options: LocalTrainOptions;
  #opened: OpenedTraining;
  /** Of the restored checkpoint, until an input has it. */
  #position: InputState | undefined;
  #fetches: readonly Fetch[];
  readonly #queues = new WeakMap<TrainInput, BatchQueue>();
  #training: 'not yet' | 'now' | 'ended' = 'not yet';

  private constructor(options: LocalTrainOptions, opened: OpenedTraining, kept: KeptModelDir | undefined) {
    const { model, restored, stop } = opened;
    this.#options = options;
    this.#kept = kept;
    this.#opened = opened;
    this.#fetches = [model.trainOp];
    this.startStep = this.session.globalStep;
    this.lastStep = stop.lastStep;
    this.restored = restored?.report.path ?? null;
    this.restoreReport = restored?.report ?? null;
    this.#position = restored?.input;
    this.inputState = restored?.input ?? null;
    this.changedSettings = changedSettings(restored?.settings ?? {}, options.settings ?? {});
  }

  /**
   * Builds the session and restores it; nothing was trained yet. The model directory is this trainer's until `close`:
   * ML_DIR names the process that has it already.
   */
  static async create(options: LocalTrainOptions): Promise<LocalTrainer> {
    checkTrainOptions(options);
    const { modelDir, settings } = options;
    if (modelDir === null) return new LocalTrainer(options, await openTraining(options), undefined);
    checkSettings(settings, modelDir);
    await prepareModelDir(modelDir);
    const kept = await keepModelDir(modelDir);
    try {
      await adoptCheckpoint(modelDir, options.restore);
      return new LocalTrainer(options, await openTraining(options), kept);
    } catch (error) {
      await kept.release();
      throw error;
    }
  }

  /** The session at hand; another one after it was made again. */
  get session(): Session {
    return this.#monitored.session;
  }

  get #monitored(): MonitoredSession {
    return this.#opened.monitored;
  }

  /**
   * Makes the program of a step. `train` does it too; called before the input is made, a batch too large fails early.
   */
  async prepare(): Promise<void> {
    await this.#monitored.prepare(this.#fetches);
  }

  /**
   * Trains until the stop rule, the end of input, or the signal; then saves. True when the signal ended it. Called
   * again, an epoch later for example, it goes on; once the last step is reached, or a call has failed, that is
   * ML_CANCELLED.
   */
  async train(input: TrainInputOf): Promise<boolean> {
    if (this.#training !== 'not yet') this.#again();
    if (typeof input !== 'function') checkInput(input);
    this.#training = 'now';
    try {
      await this.#loopOn(input);
      await this.#monitored.end();
    } catch (error) {
      this.#monitored.fail();
      throw error;
    } finally {
      this.#training = 'ended';
    }
    return this.#options.signal?.aborted ?? false;
  }

  #again(): void {
    if (this.#training === 'now') throw refusals.underWay();
    if (this.#monitored.failed) throw refusals.failedBefore();
    if (this.session.globalStep >= this.lastStep) throw refusals.lastStepReached(this.lastStep);
    this.#monitored.resume();
  }

  /** Runs the loop, and goes on with a new session where one was lost and can be made again. */
  async #loopOn(input: TrainInputOf): Promise<void> {
    const lost = new LostSessions(this.session.globalStep);
    for (;;) {
      try {
        await this.#loop(typeof input === 'function' ? await input(this.session) : input);
        return;
      } catch (error) {
        if (typeof input !== 'function' || typeof this.#options.model !== 'function') throw error;
        if (!lost.mayGoOn(error, this.session.globalStep)) throw error;
        await this.#recreate();
      }
    }
  }

  /** A new graph and a new session from the newest checkpoint, with the same hooks and the same last step. */
  async #recreate(): Promise<void> {
    this.#monitored.fail();
    await this.#monitored.close();
    this.#opened = await openTraining(this.#options, this.lastStep);
    this.#fetches = [this.#opened.model.trainOp];
    this.#position = this.#opened.restored?.input;
  }

  async #loop(input: TrainInput): Promise<void> {
    const { signal } = this.#options;
    const fetches = this.#fetches;
    const queue = this.#queueOf(input);
    await this.#takeUp(input, queue);
    const { prefetch } = this.session;
    const { batchesAhead = 1 } = input;
    if (batchesAhead <= prefetch) throw refusals.tooFewAhead(batchesAhead, prefetch);
    let wanted = 1;
    while (!this.#monitored.shouldStop && !signal?.aborted) {
      const count = Math.min(wanted, batchesAhead - prefetch, await this.#monitored.stepsAheadMax(fetches));
      const { batches, ahead } = await queue.take(count, prefetch);
      if (batches.length === 0) break;
      const before = this.session.globalStep;
      const start = performance.now();
      await this.#monitored.runSteps(fetches, batches, ahead);
      wanted = groupSize((performance.now() - start) / batches.length);
      if (this.session.globalStep === before) throw refusals.uncounted(this.#opened.model);
    }
  }

  /** Sets the input where the restored run left off, and has saves ask it where it is. */
  async #takeUp(input: TrainInput, queue: BatchQueue): Promise<void> {
    const position = takeRestoredInputState(this.session) ?? this.#position;
    this.#position = undefined;
    if (position !== undefined) await goOnFrom(input, position);
    setInputState(this.session, () => queue.saveState());
  }

  /** Of an input that comes again, what was taken and not trained on belongs to the next call. */
  #queueOf(input: TrainInput): BatchQueue {
    const queue = this.#queues.get(input) ?? new BatchQueue(input);
    this.#queues.set(input, queue);
    return queue;
  }

  /** Saves what was not saved yet, stops the threads and lets others have the model directory. */
  async close(): Promise<void> {
    try {
      await this.#monitored.close();
    } finally {
      await this.#kept?.release();
    }
  }
}

/** Steps of a group when one takes `stepMs`. */
function groupSize(stepMs: number): number {
  const few = Math.min(GROUP_STEPS, GROUP_MS_MAX / stepMs);
  return Math.max(1, Math.floor(Math.max(GROUP_MS / stepMs, few)));
}
