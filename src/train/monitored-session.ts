/**
 * @file A session with hooks: begin → create and restore → afterCreateSession → (beforeRun, run, afterRun)* → end.
 *
 * Mirrors tf.train.MonitoredSession (§3.1). Hooks are called in the order given. A stop request ends the loop after the
 * step at hand; end of input does too; after an error `end` is not called and the error goes to the caller.
 */
import { MonolithError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { FetchValue } from '../runtime/fetch.js';
import type { Feeds, Fetch, Session } from '../runtime/session.js';
import type { Coordinator, RunContext, TrainHook } from './hook.js';

export interface MonitoredSessionOptions {
  readonly graph: Graph;
  readonly hooks: readonly TrainHook[];
  /** Makes the session, with variables initialised or restored. */
  readonly createSession: () => Promise<Session>;
}

const NO_FETCHES: readonly Fetch[] = [];
const NO_VALUES: readonly FetchValue[] = [];

export class MonitoredSession implements Coordinator {
  readonly session: Session;
  readonly #hooks: readonly TrainHook[];
  readonly #context: RunContext;
  #stop = false;
  #failed = false;
  #ended = false;
  #closed = false;
  /** Fetches of the caller and of each hook at the last run, and all of them in one list. */
  #parts: (readonly Fetch[])[] = [];
  #all: Fetch[] = [];

  private constructor(session: Session, hooks: readonly TrainHook[]) {
    this.session = session;
    this.#hooks = hooks;
    this.#context = {
      session,
      get globalStep() {
        return session.globalStep;
      },
      requestStop: () => this.requestStop(),
    };
  }

  static async create({ graph, hooks, createSession }: MonitoredSessionOptions): Promise<MonitoredSession> {
    for (const hook of hooks) await hook.begin?.(graph);
    graph.finalize();
    const session = await createSession();
    const monitored = new MonitoredSession(session, hooks);
    try {
      for (const hook of hooks) await hook.afterCreateSession?.(session, monitored);
    } catch (error) {
      await session.close();
      throw error;
    }
    return monitored;
  }

  get shouldStop(): boolean {
    return this.#stop;
  }

  requestStop(): void {
    this.#stop = true;
  }

  /** One step with the hooks around it; the values of `fetches`. */
  async run(fetches: readonly Fetch[], feeds?: Feeds): Promise<readonly FetchValue[]> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the monitored session' });
    if (this.#stop) throw new MonolithError('ML_CANCELLED', { what: 'a run', reason: 'a stop was requested' });
    try {
      return await this.#run(fetches, feeds);
    } catch (error) {
      this.#failed = true;
      this.#stop = true;
      throw error;
    }
  }

  async #run(fetches: readonly Fetch[], feeds: Feeds | undefined): Promise<readonly FetchValue[]> {
    const hooks = this.#hooks;
    let changed = this.#keepPart(0, fetches);
    for (let i = 0; i < hooks.length; i++) {
      changed = this.#keepPart(i + 1, hooks[i]!.beforeRun?.(this.#context) ?? NO_FETCHES) || changed;
    }
    if (changed) this.#all = this.#parts.flat();
    const values = await this.session.run(this.#all, feeds);
    let from = fetches.length;
    for (let i = 0; i < hooks.length; i++) {
      const { length } = this.#parts[i + 1]!;
      const done = hooks[i]!.afterRun?.(this.#context, length === 0 ? NO_VALUES : values.slice(from, from + length));
      if (done !== undefined) await done;
      from += length;
    }
    return values.slice(0, fetches.length);
  }

  #keepPart(index: number, fetches: readonly Fetch[]): boolean {
    if (this.#parts[index] === fetches) return false;
    this.#parts[index] = fetches;
    return true;
  }

  /** Ends the hooks after a clean stop; nothing after an error. The session stays usable for evaluation. */
  async end(): Promise<void> {
    if (this.#ended || this.#failed) return;
    this.#ended = true;
    this.#stop = true;
    for (const hook of this.#hooks) await hook.end?.(this.session);
  }

  /** Ends the hooks, unless that was done or a step failed, and closes the session. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.end();
    } finally {
      await this.session.close();
    }
  }
}
