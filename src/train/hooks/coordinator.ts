/**
 * @file Stops a training session and whatever works beside it. Mirrors tf.train.Coordinator.
 *
 * A stop is asked for once and holds until the session goes on. An error given with it is thrown by the loop. Tasks
 * that are registered run beside the session: one that fails stops it with its error, and none keeps the process alive.
 */
import { type Clock, systemClock } from '../../base/clock.js';

/** What threads and hooks of a training ask whether to stop, and tell that it should. */
export class Coordinator {
  readonly clock: Clock;
  #abort = new AbortController();
  #failure: { readonly error: unknown } | undefined;
  readonly #tasks = new Set<Promise<void>>();

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  get shouldStop(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Aborted by a stop: what waits should listen to it. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The error a stop came with, in a box. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** The first error is kept. */
  requestStop(error?: unknown): void {
    if (error !== undefined) this.#failure ??= { error };
    this.#abort.abort();
  }

  /** Waits for a stop; false when none came in time. */
  async waitForStop(timeoutMs: number): Promise<boolean> {
    await this.clock.sleep(timeoutMs, this.#abort.signal);
    return this.shouldStop;
  }

  register(task: Promise<unknown>): void {
    const watched: Promise<void> = task
      .then(
        () => undefined,
        (error) => this.requestStop(error),
      )
      .finally(() => this.#tasks.delete(watched));
    this.#tasks.add(watched);
  }

  /** Waits for the tasks, which a stop should have ended; true when all did in time. */
  async join(timeoutMs: number): Promise<boolean> {
    const late = new AbortController();
    const all = Promise.all(this.#tasks).then(() => late.abort());
    await Promise.race([all, this.clock.sleep(timeoutMs, late.signal)]);
    return this.#tasks.size === 0;
  }

  /** Takes a stop back, but not one that came with an error. */
  resume(): void {
    if (this.shouldStop && this.#failure === undefined) this.#abort = new AbortController();
  }
}
