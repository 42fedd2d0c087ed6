/**
 * @file Saves checkpoints while training and at its end.
 *
 * Mirrors NoFirstSaveCheckpointSaverHook as far as one host needs it: nothing is saved for the step the session
 * starts at, a save happens every `everySteps` steps, and at the end when the step moved since. A save on the way that fails is
 * told of and tried again `everySteps` steps later: a disk that is full for a while must not end the run. The last save
 * has no later one, so it fails the run.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { saveCheckpoint } from '../../checkpoint/on-demand.js';
import type { SavedCheckpoint } from '../../checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../checkpoint/session-snapshot.js';
import type { Settings } from '../../checkpoint/snapshot.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-core.js';
import type { RunContext, TrainHook } from './hook.js';

export interface CheckpointSaverOptions {
  readonly modelDir: string;
  readonly modelName: string;
  readonly everySteps?: number;
  readonly settings?: Settings;
  readonly onSaved?: (step: number, saved: SavedCheckpoint, ms: number) => void;
  /** What to do about a save on the way that failed. Default: a warning of the process. */
  readonly onSaveFailed?: (step: number, error: MonolithError) => void;
}

/** Saves every so many steps and at the end, never before the first step. */
export class CheckpointSaverHook implements TrainHook {
  readonly #options: CheckpointSaverOptions;
  #savedStep = -1;
  /** Of the last save, whether or not it worked. */
  #triedStep = -1;

  constructor(options: CheckpointSaverOptions) {
    checkOptions('CheckpointSaverHook', options, [
      'modelDir',
      'modelName',
      'everySteps',
      'settings',
      'onSaved',
      'onSaveFailed',
    ]);
    this.#options = options;
  }

  afterCreateSession(session: Session): void {
    this.#savedStep = session.globalStep;
    this.#triedStep = session.globalStep;
  }

  quietSteps(globalStep: number): number {
    const { everySteps } = this.#options;
    return everySteps === undefined ? Number.POSITIVE_INFINITY : this.#triedStep + everySteps - globalStep;
  }

  afterRun(context: RunContext): Promise<void> | undefined {
    const { everySteps } = this.#options;
    if (everySteps === undefined || context.globalStep - this.#triedStep < everySteps) return undefined;
    return this.#trySave(context);
  }

  /** The last save comes after every hook has ended: what they still changed belongs to it. */
  async afterEnd(session: Session): Promise<void> {
    if (session.globalStep !== this.#savedStep) await this.#save(session);
  }

  /** Saves at once; a failure is the caller's. */
  async triggerSave(context: RunContext): Promise<void> {
    await context.drain();
    await this.#save(context.session);
  }

  async #trySave(context: RunContext): Promise<void> {
    // What a step has pushed belongs to its checkpoint; a run that goes on is then as one that begins here.
    await context.drain();
    try {
      await this.#save(context.session);
    } catch (error) {
      // Anything else, such as a directory that another run has by now, will not pass.
      if (!(error instanceof MonolithError) || error.code !== 'ML_CKPT_WRITE') throw error;
      const { onSaveFailed = warn } = this.#options;
      onSaveFailed(this.#triedStep, error);
    }
  }

  async #save(session: Session): Promise<void> {
    const { modelDir, modelName, settings, onSaved } = this.#options;
    const step = session.globalStep;
    this.#triedStep = step;
    const start = performance.now();
    const { main: io, names } = coreOf(session).trace;
    const began = io?.now() ?? 0;
    const saved = await saveCheckpoint(modelDir, snapshotSession(session, modelName, settings));
    io?.span(names.id('save checkpoint', 'io'), began, io.now());
    this.#savedStep = step;
    onSaved?.(step, saved, performance.now() - start);
  }
}

function warn(step: number, { message, code, hint }: MonolithError): void {
  process.emitWarning(`step ${step} was not saved: ${message}`, { code, ...(hint !== undefined && { detail: hint }) });
}
