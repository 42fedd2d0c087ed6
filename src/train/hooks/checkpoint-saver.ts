/**
 * @file Saves checkpoints while training and at its end.
 *
 * Mirrors NoFirstSaveCheckpointSaverHook: nothing is saved for the step the session starts at, a save happens by steps
 * or by seconds, and at the end when the step moved since. A save is tried twice. One on the way that fails all the
 * same is told of and comes again later: a disk that is full for a while must not end the run. The last save has no
 * later one, so it fails the run.
 */
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { systemClock } from '../../base/clock.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { fileSystemOf } from '../../base/files/file-systems.js';
import { getMetaGraphFileName } from '../../base/files/paths.js';
import { log } from '../../base/log.js';
import { noMetrics } from '../../base/metrics-client.js';
import type { KeepEveryHours } from '../../checkpoint/keep-every.js';
import { MODEL_BASE } from '../../checkpoint/names.js';
import { keepEveryHours, saveCheckpoint, touchMonolithState } from '../../checkpoint/on-demand.js';
import type { SavedCheckpoint } from '../../checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../checkpoint/session-snapshot.js';
import type { Graph } from '../../graph/graph.js';
import { graphToJson } from '../../graph/graph-description.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import { type CheckpointSaverOptions, SAVER_OPTIONS } from './checkpoint-saver-options.js';
import type { RunContext, TrainHook } from './hook.js';
import { inputStateOf } from './input-state.js';
import { guarded } from './saver-listener.js';
import { SecondOrStepTimerWithTideSetting, type TideTimerOptions } from './tide-timer.js';

export type { CheckpointSaverOptions } from './checkpoint-saver-options.js';

const ATTEMPTS = 2;

/** Saves by steps or seconds and at the end, never before the first step. */
export class CheckpointSaverHook implements TrainHook {
  readonly #options: CheckpointSaverOptions;
  readonly #timer: SecondOrStepTimerWithTideSetting;
  #keepEvery: KeepEveryHours | undefined;
  #savedStep = -1;
  #metaGraph = '';
  /** The save under way, or the last one: they take turns. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: CheckpointSaverOptions) {
    checkOptions('CheckpointSaverHook', options, SAVER_OPTIONS);
    this.#options = options;
    this.#timer = options.timer ?? saveTimer(options);
  }

  /** Step of the last save that worked. */
  get savedStep(): number {
    return this.#savedStep;
  }

  async begin(graph: Graph): Promise<void> {
    for (const listener of this.#listeners) await listener.begin?.(graph);
  }

  async afterCreateSession(session: Session): Promise<void> {
    const { modelDir, keepCheckpointEveryNHours: hours, noFirstSave = true, denseOnly = false } = this.#options;
    const { clock = systemClock } = this.#options;
    this.#metaGraph = graphToJson(session.graph);
    if (hours !== undefined) this.#keepEvery = await keepEveryHours(hours, clock);
    this.#timer.updateLastTriggeredStep(session.globalStep);
    if (noFirstSave) this.#savedStep = session.globalStep;
    // What comes beside checkpoints comes before the first of them.
    if (!denseOnly) await beside(modelDir, () => fileSystemOf(modelDir).makeDirectory(modelDir));
    if (!denseOnly) await this.#describe(getMetaGraphFileName(modelDir));
    await this.#touchState(false);
    if (!noFirstSave) await this.#trySave(session, () => undefined);
  }

  quietSteps(globalStep: number): number {
    const { everySteps } = this.#options;
    if (everySteps === undefined) return Number.POSITIVE_INFINITY;
    const last = this.#timer.lastTriggeredStep;
    return last === null ? 1 : Math.max(1, last + everySteps - globalStep);
  }

  afterRun(context: RunContext): Promise<void> | undefined {
    const { everySteps } = this.#options;
    if (everySteps === undefined) return undefined;
    // Null: it was reset, and saves at once.
    const last = this.#timer.lastTriggeredStep;
    return last !== null && context.globalStep - last < everySteps ? undefined : this.#saveWhenDue(context);
  }

  /** Seconds are looked at once per group of steps. */
  poll(context: RunContext): Promise<void> | undefined {
    const { everySecs, tideEverySecs } = this.#options;
    return everySecs === undefined && tideEverySecs === undefined ? undefined : this.#saveWhenDue(context);
  }

  /** The last save comes after every hook has ended: what they still changed belongs to it. */
  async afterEnd(session: Session): Promise<void> {
    const { denseOnly = false, ignoreSaveErrors = false } = this.#options;
    const step = session.globalStep;
    if (!denseOnly && step !== this.#savedStep) {
      if (ignoreSaveErrors) await this.#trySave(session, () => undefined);
      else await this.#save(session);
    }
    for (const listener of this.#listeners) await listener.end?.(session, step);
  }

  /** Saves at once; a failure is the caller's unless it is told to ignore it. */
  async triggerSave(context: RunContext, { ignoreSaveErrors = false } = {}): Promise<void> {
    await context.drain();
    this.#timer.reset();
    const stop = () => context.requestStop();
    if (ignoreSaveErrors) await this.#trySave(context.session, stop, true);
    else await this.#save(context.session, stop);
  }

  get #listeners() {
    return this.#options.listeners ?? [];
  }

  #saveWhenDue(context: RunContext): Promise<void> | undefined {
    const { globalStep } = context.session;
    return this.#timer.shouldTriggerForStep(globalStep) ? this.#saveDrained(context) : undefined;
  }

  async #saveDrained(context: RunContext): Promise<void> {
    // What a step has pushed belongs to its checkpoint; a run that goes on is then as one that begins here.
    await context.drain();
    await this.#trySave(context.session, () => context.requestStop());
  }

  /** Saves; what may be ignored is told of. */
  async #trySave(session: Session, stop: () => void, ignored = this.#options.ignoreSaveErrors): Promise<void> {
    const step = session.globalStep;
    try {
      await this.#save(session, stop);
    } catch (error) {
      // Anything else, such as a directory that another run has by now, will not pass.
      const passes = ignored ?? (error instanceof MonolithError && error.code === 'ML_CKPT_WRITE');
      if (!passes) throw error;
      const { onSaveFailed = warn } = this.#options;
      onSaveFailed(step, asWriteError(this.#options.modelDir, error));
    }
  }

  #save(session: Session, stop: () => void = () => undefined): Promise<void> {
    const turn = this.#turn.then(() => this.#saveInTurn(session, stop));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #saveInTurn(session: Session, stop: () => void): Promise<void> {
    const { guardListeners = [], denseOnly = false, fullSaver, metrics = noMetrics } = this.#options;
    const step = session.globalStep;
    this.#timer.updateLastTriggeredStep(step);
    // A full checkpoint of this step holds all that a dense one would.
    if (denseOnly && (step === fullSaver?.savedStep || step === this.#savedStep)) return;
    const tags = { mode: denseOnly ? 'dense_only' : 'full' };
    await guarded(guardListeners, session, step, async () => {
      for (let attempt = 1; ; attempt++) {
        const start = performance.now();
        try {
          await this.#saveOnce(session, step, stop);
          metrics.emitCounter('save_checkpoint', 1, tags);
          metrics.emitTimer('save_checkpoint_time', (performance.now() - start) / 1000, tags);
          return;
        } catch (error) {
          metrics.emitCounter('save_checkpoint_failed', 1, tags);
          if (attempt === ATTEMPTS) throw error;
          log.info('Failed to save, retrying ...', { step, reason: messageOf(error) });
        }
      }
    });
  }

  async #saveOnce(session: Session, step: number, stop: () => void): Promise<void> {
    const { onSaved } = this.#options;
    const start = performance.now();
    for (const listener of this.#listeners) await listener.beforeSave?.(session, step);
    const { main: io, names } = coreOf(session).trace;
    const began = io?.now() ?? 0;
    const saved = await this.#write(session, step);
    io?.span(names.id('save checkpoint', 'io'), began, io.now());
    this.#savedStep = step;
    await this.#describe(`${saved.path}.meta`);
    await this.#touchState(true);
    onSaved?.(step, saved, performance.now() - start);
    for (const listener of this.#listeners) if (await listener.afterSave?.(session, step)) stop();
  }

  async #write(session: Session, step: number): Promise<SavedCheckpoint> {
    const { modelDir, modelName, settings, saver, denseOnly = false, keep, exempt } = this.#options;
    if (saver !== undefined) {
      await fileSystemOf(modelDir).makeDirectory(modelDir);
      const before = saver.lastCheckpoints;
      const path = await saver.save(session, join(modelDir, MODEL_BASE), { globalStep: step, writeMetaGraph: false });
      const deleted = before.filter((one) => !saver.lastCheckpoints.includes(one));
      return { path: path ?? modelDir, bytes: 0, deleted, warnings: [] };
    }
    const snapshot = snapshotSession(session, modelName, settings);
    const whole = { ...snapshot, input: await inputStateOf(session) };
    return saveCheckpoint(modelDir, denseOnly ? { ...snapshot, tables: [], filters: [] } : whole, {
      ...(keep !== undefined && { keep }),
      ...(exempt !== undefined && { exempt }),
      ...(this.#keepEvery !== undefined && { keepEvery: this.#keepEvery }),
    });
  }

  /** What comes beside a checkpoint is worth a warning, not the checkpoint. */
  async #describe(file: string): Promise<void> {
    const { isRootNode = true, writeMetaGraph = true } = this.#options;
    if (isRootNode && writeMetaGraph) await beside(file, () => writeFileAtomic(file, this.#metaGraph));
  }

  async #touchState(update: boolean): Promise<void> {
    const { isRootNode = true, modelDir, denseOnly = false, clock = systemClock } = this.#options;
    const { useNativeMultiHashTable = false } = this.#options;
    const type = useNativeMultiHashTable ? 'MULTI_CUCKOO_HASH_MAP' : 'CUCKOO_HASH_MAP';
    if (isRootNode && !denseOnly) await beside(modelDir, () => touchMonolithState(modelDir, { clock, type, update }));
  }
}

/** The timer of a saver, by its options. */
export function saveTimer(options: Pick<CheckpointSaverOptions, (typeof TIMER_OPTIONS)[number]>) {
  const given = TIMER_OPTIONS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  return new SecondOrStepTimerWithTideSetting(Object.fromEntries(given) as TideTimerOptions);
}
const TIMER_OPTIONS = ['everySteps', 'everySecs', 'tide', 'tideEverySecs', 'clock'] as const;

async function beside(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.warn('a file beside the checkpoint could not be written', { file, reason: messageOf(error) });
  }
}

function asWriteError(file: string, error: unknown): MonolithError {
  if (error instanceof MonolithError) return error;
  return new MonolithError('ML_CKPT_WRITE', { file, reason: messageOf(error) }, { cause: error });
}

function warn(step: number, { message, code, hint }: MonolithError): void {
  process.emitWarning(`step ${step} was not saved: ${message}`, { code, ...(hint !== undefined && { detail: hint }) });
}
