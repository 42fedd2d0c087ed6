/**
 * @file Tells listeners that a session was made, so that each restores its part (native_training/basic_restore_hook).
 */
import { log } from '../../base/log.js';
import type { Graph } from '../../graph/graph.js';
import type { Session } from '../../runtime/session/session.js';
import type { TrainHook } from './hook.js';

type Awaitable<T> = T | Promise<T>;

export interface CheckpointRestorerListener {
  begin?(graph: Graph): Awaitable<void>;
  beforeRestore?(session: Session): Awaitable<void>;
  afterRestore?(session: Session): Awaitable<void>;
  end?(session: Session): Awaitable<void>;
}

/** Restores nothing itself: all listeners are told before, then all are told after, once per session. */
export class CheckpointRestorerHook implements TrainHook {
  readonly #listeners: readonly CheckpointRestorerListener[];

  constructor(listeners: readonly CheckpointRestorerListener[]) {
    this.#listeners = listeners;
  }

  async begin(graph: Graph): Promise<void> {
    for (const listener of this.#listeners) await listener.begin?.(graph);
  }

  async afterCreateSession(session: Session): Promise<void> {
    log.info('Calling checkpoint restorer listeners.', { listeners: this.#listeners.length });
    for (const listener of this.#listeners) await listener.beforeRestore?.(session);
    for (const listener of this.#listeners) await listener.afterRestore?.(session);
  }

  async end(session: Session): Promise<void> {
    for (const listener of this.#listeners) await listener.end?.(session);
  }
}
