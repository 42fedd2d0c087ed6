/**
 * @file Saves checkpoints while training and at its end.
 *
 * Mirrors NoFirstSaveCheckpointSaverHook as far as one host needs it: nothing is saved for the step the session
 * starts at, a save happens every `everySteps` steps, and at the end when the step moved since.
 */
import { type SavedCheckpoint, saveCheckpoint } from '../../checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../checkpoint/session-snapshot.js';
import type { Settings } from '../../checkpoint/snapshot.js';
import type { Session } from '../../runtime/session.js';
import type { RunContext, TrainHook } from '../hook.js';

export interface CheckpointSaverOptions {
  readonly modelDir: string;
  readonly modelName: string;
  readonly everySteps?: number;
  readonly settings?: Settings;
  readonly onSaved?: (step: number, saved: SavedCheckpoint, ms: number) => void;
}

export class CheckpointSaverHook implements TrainHook {
  readonly #options: CheckpointSaverOptions;
  #savedStep = -1;

  constructor(options: CheckpointSaverOptions) {
    this.#options = options;
  }

  afterCreateSession(session: Session): void {
    this.#savedStep = session.globalStep;
  }

  quietSteps(globalStep: number): number {
    const { everySteps } = this.#options;
    return everySteps === undefined ? Number.POSITIVE_INFINITY : this.#savedStep + everySteps - globalStep;
  }

  afterRun({ session, globalStep }: RunContext): Promise<void> | undefined {
    const { everySteps } = this.#options;
    if (everySteps === undefined || globalStep - this.#savedStep < everySteps) return undefined;
    return this.#save(session);
  }

  async end(session: Session): Promise<void> {
    if (session.globalStep !== this.#savedStep) await this.#save(session);
  }

  async #save(session: Session): Promise<void> {
    const { modelDir, modelName, settings, onSaved } = this.#options;
    const step = session.globalStep;
    const start = performance.now();
    const io = session.trace.main;
    const began = io?.now() ?? 0;
    const saved = await saveCheckpoint(modelDir, snapshotSession(session, modelName, settings));
    io?.span(session.traceNames.id('save checkpoint', 'io'), began, io.now());
    this.#savedStep = step;
    onSaved?.(step, saved, performance.now() - start);
  }
}
