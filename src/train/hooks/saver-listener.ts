/** @file What is told of saves, and the order it is told in. */
import { messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Graph } from '../../graph/graph.js';
import type { Session } from '../../runtime/session/session.js';

type Awaitable<T> = T | Promise<T>;

/** Mirrors tf.estimator.CheckpointSaverListener. */
export interface CheckpointSaverListener {
  begin?(graph: Graph): Awaitable<void>;
  /** What it writes belongs to the checkpoint: an error fails the save. */
  beforeSave?(session: Session, step: number): Awaitable<void>;
  /** Something true asks the training to stop. */
  afterSave?(session: Session, step: number): Awaitable<unknown>;
  /** After the last save. */
  end?(session: Session, step: number): Awaitable<void>;
}

/**
 * Runs `save` between the guards: they are told after it too when it failed, the last first, and their own errors are
 * only logged.
 */
export async function guarded<T>(
  guards: readonly CheckpointSaverListener[],
  session: Session,
  step: number,
  save: () => Promise<T>,
): Promise<T> {
  for (const guard of guards) await logged('beforeSave', () => guard.beforeSave?.(session, step));
  try {
    return await save();
  } finally {
    for (const guard of guards.toReversed()) await logged('afterSave', () => guard.afterSave?.(session, step));
  }
}

async function logged(method: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    log.warn('a guard of saves failed', { method, reason: messageOf(error) });
  }
}
