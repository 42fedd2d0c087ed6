/**
 * @file Single-host training: the loop around a monitored session.
 *
 * Mirrors local_train of native_training as far as the engine goes: restore the newest checkpoint of the model
 * directory, train a number of steps, save. What the input is and what is reported is up to the caller.
 */
import { join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import type { KeptModelDir } from '../checkpoint/model-dir-turns.js';
import { keepModelDir, latestCheckpoint, loadCheckpoint, prepareModelDir } from '../checkpoint/on-demand.js';
import type { RestoreOptions } from '../checkpoint/restore-options.js';
import type { RestoreReport } from '../checkpoint/restore-report.js';
import { restoreSession } from '../checkpoint/restore-session.js';
import { snapshotSession } from '../checkpoint/session-snapshot.js';
import { checkSettings, type Settings } from '../checkpoint/snapshot.js';
import { type Fetch, Session, type SessionOptions } from '../runtime/session/session.js';
import { CheckpointSaverHook, type CheckpointSaverOptions } from './hooks/checkpoint-saver.js';
import { EvictionHook } from './hooks/eviction.js';
import type { TrainHook } from './hooks/hook.js';
import { NanTensorHook, type NanTensorOptions } from './hooks/nan-tensor.js';
import { QueryActionHook } from './hooks/query-action.js';
import { StopAtStepHook } from './hooks/stop-at-step.js';
import type { ModelSpec } from './model-spec.js';
import { MonitoredSession } from './monitored-session.js';
import { BatchQueue, checkInput, type TrainInput } from './train-input.js';

export type { TrainInput } from './train-input.js';

/** How a run begins: from the newest checkpoint of its model directory, and without one from another place, if told. */
export interface LocalRestoreOptions extends RestoreOptions {
  /** Prefix of a checkpoint, or a model directory, that a run begins with when its own directory has no checkpoint. */
  readonly from?: string;
  /** Base name of a checkpoint of the model directory to go on from in place of the newest one, once per directory. */
  readonly ckpt?: string | null;
  /**
   * Model directory whose checkpoint an empty one begins with and then keeps, without a copy: `restore_dir` of the
   * reference.
   */
  readonly dir?: string | null;
}

/** Options of the saver that the trainer does not give it itself. */
export type LocalSaverOptions = Omit<
  CheckpointSaverOptions,
  | 'modelDir'
  | 'modelName'
  | 'everySteps'
  | 'settings'
  | 'denseOnly'
  | 'fullSaver'
  | 'clock'
  | 'onSaved'
  | 'onSaveFailed'
>;

export interface LocalTrainOptions {
  /** The model, or what makes it: a session that is lost (ML_ABORTED) is made again from a model that is made again. */
  readonly model: ModelSpec | (() => ModelSpec);
  readonly session: SessionOptions;
  /** Without it nothing is saved or restored. */
  readonly modelDir: string | null;
  /**
   * Steps to train, on top of those of a restored checkpoint; with `until` what comes first. One of the two is needed.
   */
  readonly steps?: number | null;
  /** Global step to train up to: a run that is started again does not go past it. */
  readonly until?: number | null;
  readonly saveEverySteps?: number | null;
  /** More for the saver: seconds, tide, listeners, how many are kept. */
  readonly saver?: LocalSaverOptions;
  /** Saves of variables alone in between, to `<modelDir>/dense_only`: by steps or by seconds. */
  readonly denseOnly?: Pick<
    CheckpointSaverOptions,
    'everySteps' | 'everySecs' | 'listeners' | 'guardListeners' | 'keep'
  >;
  /** What may differ between the model and a checkpoint it is restored from. Default: nothing. */
  readonly restore?: LocalRestoreOptions;
  readonly onSaved?: CheckpointSaverOptions['onSaved'];
  readonly onSaveFailed?: CheckpointSaverOptions['onSaveFailed'];
  /** Kept with checkpoints; see `changedSettings`. */
  readonly settings?: Settings;
  /** What a loss that is not a number does. Default: it fails the run. */
  readonly nanLoss?: NanTensorOptions;
  readonly hooks?: readonly TrainHook[];
  /** Whether to look for `monolith_action` in the model directory: see QueryActionHook. Default: false. */
  readonly queryActions?: boolean;
  readonly signal?: AbortSignal;
  /** What hooks wait by. Default: the system's. */
  readonly clock?: Clock;
}

/** An input, or what makes one for a session that was made again. */
export type TrainInputOf = TrainInput | ((session: Session) => TrainInput | Promise<TrainInput>);

/**
 * Steps run in groups of about this length where the hooks allow it: long enough that waking up the main thread costs
 * little, short enough that nobody notices. Between groups the threads idle for a millisecond or so, which long steps
 * feel too: a few of them make a group all the same, unless that would keep a signal waiting.
 */
const GROUP_MS = 50;
const GROUP_STEPS = 4;
const GROUP_MS_MAX = 500;
/** How often a session is made again without getting any further. */
const RECREATIONS_MAX = 3;

/** A model with its session, and how they were restored. */
interface Opened {
  readonly model: ModelSpec;
  readonly monitored: MonitoredSession;
  readonly stop: StopAtStepHook;
  readonly restored: Restored | null;
}

interface Restored {
  readonly report: RestoreReport;
  readonly settings?: Settings | undefined;
}

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
  readonly #kept: KeptModelDir | undefined;
  readonly #options: LocalTrainOptions;
  #opened: Opened;
  #fetches: readonly Fetch[];
  readonly #queues = new WeakMap<TrainInput, BatchQueue>();
  #training: 'not yet' | 'now' | 'ended' = 'not yet';

  private constructor(options: LocalTrainOptions, opened: Opened, kept: KeptModelDir | undefined) {
    const { model, restored, stop } = opened;
    this.#options = options;
    this.#kept = kept;
    this.#opened = opened;
    this.#fetches = [model.trainOp];
    this.startStep = this.session.globalStep;
    this.lastStep = stop.lastStep;
    this.restored = restored?.report.path ?? null;
    this.restoreReport = restored?.report ?? null;
    this.changedSettings = changes(restored?.settings ?? {}, options.settings ?? {});
  }

  /**
   * Builds the session and restores it; nothing was trained yet. The model directory is this trainer's until `close`:
   * ML_DIR names the process that has it already.
   */
  static async create(options: LocalTrainOptions): Promise<LocalTrainer> {
    checkOptions('LocalTrainer.create', options, [
      'model',
      'session',
      'modelDir',
      'steps',
      'until',
      'saveEverySteps',
      'saver',
      'denseOnly',
      'restore',
      'onSaved',
      'onSaveFailed',
      'settings',
      'nanLoss',
      'hooks',
      'queryActions',
      'signal',
      'clock',
    ]);
    const { modelDir, settings } = options;
    checkSteps(options);
    if (modelDir === null) return new LocalTrainer(options, await open(options), undefined);
    checkSettings(settings, modelDir);
    await prepareModelDir(modelDir);
    const kept = await keepModelDir(modelDir);
    try {
      await adopt(modelDir, options.restore);
      return new LocalTrainer(options, await open(options), kept);
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
    const refuse = (reason: string, hint: string): never => {
      throw new MonolithError('ML_CANCELLED', { what: 'training', reason }, { hint });
    };
    if (this.#training === 'now') refuse('it is under way', 'await the call of train before');
    if (this.#monitored.failed) refuse('it failed before', 'make a new trainer: it goes on from the newest checkpoint');
    if (this.session.globalStep >= this.lastStep) {
      refuse(`step ${this.lastStep}, its last one, is reached`, 'steps counts those of all calls: give more, or until');
    }
    this.#monitored.resume();
  }

  /** Runs the loop, and goes on with a new session where one was lost and can be made again. */
  async #loopOn(input: TrainInputOf): Promise<void> {
    let [without, reached] = [0, this.session.globalStep];
    for (;;) {
      try {
        await this.#loop(typeof input === 'function' ? await input(this.session) : input);
        return;
      } catch (error) {
        if (!isAborted(error) || typeof input !== 'function' || typeof this.#options.model !== 'function') throw error;
        without = this.session.globalStep > reached ? 1 : without + 1;
        reached = Math.max(reached, this.session.globalStep);
        if (without > RECREATIONS_MAX) throw error;
        await this.#recreate();
      }
    }
  }

  /** A new graph and a new session from the newest checkpoint, with the same hooks and the same last step. */
  async #recreate(): Promise<void> {
    this.#monitored.fail();
    await this.#monitored.close();
    this.#opened = await open(this.#options, this.lastStep);
    this.#fetches = [this.#opened.model.trainOp];
  }

  async #loop(input: TrainInput): Promise<void> {
    const { signal } = this.#options;
    const fetches = this.#fetches;
    const queue = this.#queueOf(input);
    const { prefetch } = this.session;
    const { batchesAhead = 1 } = input;
    if (batchesAhead <= prefetch) throw tooFewAhead(batchesAhead, prefetch);
    let wanted = 1;
    while (!this.#monitored.shouldStop && !signal?.aborted) {
      const count = Math.min(wanted, batchesAhead - prefetch, await this.#monitored.stepsAheadMax(fetches));
      const { batches, ahead } = await queue.take(count, prefetch);
      if (batches.length === 0) break;
      const before = this.session.globalStep;
      const start = performance.now();
      await this.#monitored.runSteps(fetches, batches, ahead);
      wanted = groupSize((performance.now() - start) / batches.length);
      if (this.session.globalStep === before) throw uncounted(this.#opened.model);
    }
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

/** The model and its session, restored; `lastStep` is where a run that is made again stops. */
async function open(options: LocalTrainOptions, lastStep?: number): Promise<Opened> {
  const { steps, until, hooks = [], clock = systemClock } = options;
  const model = typeof options.model === 'function' ? options.model() : options.model;
  const stop = new StopAtStepHook({
    ...(typeof steps === 'number' && lastStep === undefined && { steps }),
    ...(typeof (lastStep ?? until) === 'number' && { maxSteps: (lastStep ?? until)! }),
  });
  let restored: Restored | null = null;
  const monitored = await MonitoredSession.create({
    graph: model.graph,
    clock,
    // The guard comes first, though the reference has it near the end: a step that went wrong must not be saved, or
    // every later run would go on from it.
    hooks: [
      new NanTensorHook(model.loss, options.nanLoss),
      new EvictionHook(),
      ...saverOf(options, model),
      ...hooks,
      stop,
    ],
    createSession: async () => {
      const session = await Session.create(model.graph, options.session);
      try {
        restored = await restoreLatest(session, model, options);
        return session;
      } catch (error) {
        await session.close();
        throw error;
      }
    },
  });
  return { model, monitored, stop, restored };
}

function saverOf(options: LocalTrainOptions, { name: modelName }: ModelSpec): readonly TrainHook[] {
  const { modelDir, saveEverySteps, settings, onSaved, onSaveFailed, queryActions, clock = systemClock } = options;
  if (modelDir === null) return [];
  const saver = new CheckpointSaverHook({
    ...options.saver,
    modelDir,
    modelName,
    clock,
    ...(saveEverySteps && { everySteps: saveEverySteps }),
    ...(settings && { settings }),
    ...(onSaved && { onSaved }),
    ...(onSaveFailed && { onSaveFailed }),
  });
  const savers = [saver, ...denseSaver(options, modelName, saver)];
  if (!queryActions) return savers;
  return [...savers, new QueryActionHook({ modelDir, clock, triggerSave: (context) => saver.triggerSave(context) })];
}

function denseSaver(options: LocalTrainOptions, modelName: string, fullSaver: CheckpointSaverHook) {
  const { modelDir, denseOnly, clock = systemClock } = options;
  if (modelDir === null || denseOnly === undefined) return [];
  const dir = join(modelDir, 'dense_only');
  return [new CheckpointSaverHook({ ...denseOnly, modelDir: dir, modelName, denseOnly: true, fullSaver, clock })];
}

const isAborted = (error: unknown) => error instanceof MonolithError && error.code === 'ML_ABORTED';

/** The stop rule counts global steps: a model that does not would train for ever. */
function uncounted(model: ModelSpec): MonolithError {
  return new MonolithError(
    'ML_GRAPH',
    { op: model.trainOp.name, reason: 'a run of it does not count the global step' },
    { hint: 'make increment(globalStep(graph)) a part of the train op' },
  );
}

function tooFewAhead(batchesAhead: number, prefetch: number): MonolithError {
  return new MonolithError(
    'ML_FLAG',
    {
      flag: 'prefetch',
      reason: `the input keeps ${batchesAhead} of its batches, and ${prefetch + 1} are needed at once`,
    },
    { hint: 'give the input batchesAhead, or a smaller prefetch' },
  );
}

/** One of `steps` and `until` is needed: a run that never ends would be a slip. */
function checkSteps({ steps, until, saveEverySteps }: LocalTrainOptions): void {
  for (const [flag, value] of Object.entries({ steps, until, saveEverySteps })) {
    if (value === undefined || value === null || value === Number.POSITIVE_INFINITY) continue;
    if (Number.isInteger(value) && value >= 0) continue;
    throw new MonolithError('ML_FLAG', { flag, reason: `${String(value)} is not a number of steps` });
  }
  if (typeof steps === 'number' || typeof until === 'number') return;
  throw new MonolithError('ML_FLAG', { flag: 'steps', reason: 'neither it nor until is given' });
}

/** Steps of a group when one takes `stepMs`. */
function groupSize(stepMs: number): number {
  const few = Math.min(GROUP_STEPS, GROUP_MS_MAX / stepMs);
  return Math.max(1, Math.floor(Math.max(GROUP_MS / stepMs, few)));
}

async function adopt(modelDir: string, { dir, ckpt }: LocalRestoreOptions = {}): Promise<void> {
  if (!dir) return;
  const { copyCkptFile } = await import('../checkpoint/adopt-checkpoint.js');
  await copyCkptFile({ restoreDir: dir, modelDir, restoreCkpt: ckpt ?? null });
}

/**
 * Restores the newest checkpoint, or what the options name for a run without one; null when there is nothing to
 * restore.
 */
async function restoreLatest(
  session: Session,
  model: ModelSpec,
  { modelDir, clock = systemClock, restore: { from, ckpt, dir: _dir, ...restore } = {} }: LocalTrainOptions,
): Promise<Restored | null> {
  const path = modelDir === null ? null : await latestCheckpoint(modelDir, { restoreCkpt: ckpt ?? null, clock });
  if (path === null) return from === undefined ? null : { report: await restoreSession(session, from, restore) };
  if (restore.mode === 'foreign') return { report: await restoreSession(session, path, restore) };
  const isExact = (restore.mode ?? 'exact') === 'exact';
  const loaded = await loadCheckpoint(path, isExact ? { expect: snapshotSession(session, model.name) } : {});
  return { report: await restoreSession(session, loaded, restore), settings: loaded.settings };
}

function changes(before: Settings, now: Settings): string[] {
  return Object.entries(before).flatMap(([name, value]) => {
    return now[name] === undefined || now[name] === value ? [] : [`${name} ${value}, now ${now[name]}`];
  });
}
