/**
 * @file A session with hooks: begin → create and restore → afterCreateSession → (beforeRun, run, afterRun)* → end.
 *
 * Mirrors tf.train.MonitoredSession. Hooks are called in the order given. A stop request ends the loop after the
 * step at hand; end of input does too; after an error `end` is not called and the error goes to the caller.
 */
import { MonolithError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { FetchValue } from '../runtime/session/fetch.js';
import { flattenFetches, isFlat } from '../runtime/session/nested-fetches.js';
import type { Feeds, Fetch, Fetched, FetchTree, Session } from '../runtime/session/session.js';
import type { Coordinator, RunContext, TrainHook } from './hooks/hook.js';

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
  readonly #context: RunContext & { globalStep: number };
  #stop = false;
  #failed = false;
  #ended = false;
  #closed = false;
  /** Fetches of the caller and of each hook at the last run, and all of them in one list. */
  #parts: (readonly Fetch[])[] = [];
  #all: Fetch[] = [];
  /** The hooks were asked for the fetches of the next run already. */
  #asked = false;

  private constructor(session: Session, hooks: readonly TrainHook[]) {
    this.session = session;
    this.#hooks = hooks;
    this.#context = {
      session,
      globalStep: session.globalStep,
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

  /** One step with the hooks around it; the values of `fetches`, in lists and dictionaries as they are. */
  run(fetches: readonly Fetch[], feeds?: Feeds): Promise<readonly FetchValue[]>;
  run<const F extends FetchTree>(fetches: F, feeds?: Feeds): Promise<Fetched<F>>;
  async run(tree: FetchTree, feeds?: Feeds): Promise<unknown> {
    const nested = isFlat(tree) ? undefined : flattenFetches(tree, this.session.graph);
    const fetches = nested?.fetches ?? (tree as readonly Fetch[]);
    const [values] = await this.#guarded(fetches, async (all) => [await this.session.run(all, feeds)]);
    return nested === undefined ? values! : nested.rebuild(values!);
  }

  /** Makes what a run of `fetches` with those of the hooks needs, so that want of memory shows before the first step. */
  prepare(fetches: readonly Fetch[]): void {
    const all = this.#gather(fetches);
    this.#asked = true;
    this.session.prepare(all);
  }

  /** Steps that may run at once: the hooks allow it and the values they fetch outlive it. */
  stepsAheadMax(fetches: readonly Fetch[]): number {
    const { globalStep } = this.session;
    let steps = Number.POSITIVE_INFINITY;
    for (const hook of this.#hooks) steps = Math.min(steps, hook.quietSteps?.(globalStep) ?? 1);
    if (steps <= 1) return 1;
    const all = this.#gather(fetches);
    this.#asked = true;
    return Math.min(steps, this.session.stepsAheadMax(all));
  }

  /** A step per batch, at most `stepsAheadMax`, with the hooks around them; the values of `fetches` for each. */
  runSteps(fetches: readonly Fetch[], batches: readonly number[]): Promise<readonly (readonly FetchValue[])[]> {
    return this.#guarded(fetches, (all) => this.session.runSteps(all, batches));
  }

  async #guarded(
    fetches: readonly Fetch[],
    run: (all: readonly Fetch[]) => Promise<readonly (readonly FetchValue[])[]>,
  ): Promise<readonly (readonly FetchValue[])[]> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the monitored session' });
    if (this.#stop) throw new MonolithError('ML_CANCELLED', { what: 'a run', reason: 'a stop was requested' });
    try {
      return await this.#run(fetches, run);
    } catch (error) {
      this.fail();
      throw error;
    }
  }

  async #run(
    fetches: readonly Fetch[],
    run: (all: readonly Fetch[]) => Promise<readonly (readonly FetchValue[])[]>,
  ): Promise<readonly (readonly FetchValue[])[]> {
    const context = this.#context;
    const before = this.session.globalStep;
    context.globalStep = before;
    const all = this.#gather(fetches);
    this.#asked = false;
    const steps = await run(all);
    const perStep = (this.session.globalStep - before) / steps.length;
    for (let step = 0; step < steps.length; step++) {
      context.globalStep = before + perStep * (step + 1);
      const told = this.#tell(steps[step]!, fetches.length);
      if (told !== undefined) await told;
    }
    return steps.map((values) => values.slice(0, fetches.length));
  }

  /** The caller's fetches and those of all hooks, the same array as long as nobody asks for something else. */
  #gather(fetches: readonly Fetch[]): readonly Fetch[] {
    let changed = this.#keepPart(0, fetches);
    if (!this.#asked) {
      this.#hooks.forEach((hook, index) => {
        changed = this.#keepPart(index + 1, hook.beforeRun?.(this.#context) ?? NO_FETCHES) || changed;
      });
    }
    if (changed) this.#all = this.#parts.flat();
    return this.#all;
  }

  /** Hands each hook its values; a promise only when some hook returned one. */
  #tell(values: readonly FetchValue[], from: number, first = 0): Promise<void> | undefined {
    for (let i = first; i < this.#hooks.length; i++) {
      const { length } = this.#parts[i + 1]!;
      const own = length === 0 ? NO_VALUES : values.slice(from, from + length);
      const done = this.#hooks[i]!.afterRun?.(this.#context, own);
      if (done !== undefined) return done.then(() => this.#tell(values, from + length, i + 1));
      from += length;
    }
    return undefined;
  }

  #keepPart(index: number, fetches: readonly Fetch[]): boolean {
    if (this.#parts[index] === fetches) return false;
    this.#parts[index] = fetches;
    return true;
  }

  /** Tells of an error outside of a run, such as one of the input: the loop stops and hooks will not be ended. */
  fail(): void {
    this.#failed = true;
    this.#stop = true;
  }

  /** Whether an error ended it. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Goes on after a clean end: more steps may run, and the hooks are ended again after them. */
  resume(): void {
    if (this.#failed) return;
    this.#stop = false;
    this.#ended = false;
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
