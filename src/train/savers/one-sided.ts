/** @file One side of a listener of saves: what it does before them, or after. */
import type { Session } from '../../runtime/session/session.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';

/** Forwards what comes before a save, and nothing else. */
export class BeforeSaveListener implements CheckpointSaverListener {
  readonly #listener: CheckpointSaverListener;

  constructor(listener: CheckpointSaverListener) {
    this.#listener = listener;
  }

  async beforeSave(session: Session, step: number): Promise<void> {
    await this.#listener.beforeSave?.(session, step);
  }
}

/** Forwards what comes after a save, with its wish to stop, and nothing else. */
export class AfterSaveListener implements CheckpointSaverListener {
  readonly #listener: CheckpointSaverListener;

  constructor(listener: CheckpointSaverListener) {
    this.#listener = listener;
  }

  async afterSave(session: Session, step: number): Promise<unknown> {
    return this.#listener.afterSave?.(session, step);
  }
}
