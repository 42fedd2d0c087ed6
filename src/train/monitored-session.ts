/**
 * @file A session with hooks: begin → create and restore → afterCreateSession → (beforeRun, run, afterRun)* → drain →
 * end → afterEnd → close.
 *
 * Mirrors tf.train.MonitoredSession. Hooks are called in the order given. A stop request ends the loop after the step
 * at hand; end of input does too. After an error, of a step, a hook or a registered task, hooks are not ended, only
 * closed, and the error goes to the caller.
 */
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { FetchValue } from '../runtime/session/fetch.js';
import { flattenFetches, isFlat } from '../runtime/session/nested-fetches.js';
import type { Feeds, Fetch, Fetched, FetchTree, Session } from '../runtime/session/session.js';
import { Coordinator } from './hooks/coordinator.js';
import type { RunContext, TrainHook } from './hooks/hook.js';

export interface MonitoredSessionOptions {
  readonly graph: Graph;
  readonly hooks: readonly TrainHook[];
  /** Makes the session, with variables initialised or restored. */
  readonly createSession: () => Promise<Session>;
  /** What hooks wait by. Default: the system's. */
  readonly clock?: Clock;
}

const NO_FETCHES: readonly Fetch[] = [];
const NO_VALUES: readonly FetchValue[] = [];
/** Longest wait for registered tasks once they were told to stop. */
const JOIN_MS = 10_000;

/** A session with hooks around every step: the loop is yours. */
export class MonitoredSession {
  readonly session: Session;
  readonly coordinator: Coordinator;
  readonly #hooks: readonly TrainHook[];
  readonly #context: RunContext & { globalStep: number };
  #failed = false;
  #ended = false;
  #closed = false;
  /** Those that are told of steps, by their places among all: most are not. */
  readonly #told: readonly number[];
  /** Fetches of the caller and of each hook at the last run, and all of them, each once. */
  #parts: (readonly Fetch[])[] = [];
  #all: Fetch[] = [];
  /** Of each part, where its values are among those of all. */
  #places: (readonly number[])[] = [];
  /** The hooks were asked for the fetches of the next run already. */
  #asked = false;

  private constructor(session: Session, hooks: readonly TrainHook[], coordinator: Coordinator) {
    this.session = session;
    this.coordinator = coordinator;
    this.#hooks = hooks;
    this.#told = [...hooks.keys()].filter((index) => hooks[index]!.afterRun !== undefined);
    this.#context = {
      session,
      globalStep: session.globalStep,
      requestStop: (error) => coordinator.requestStop(error),
      drain: () => this.#drain(),
    };
  }

  static async create(options: MonitoredSessionOptions): Promise<MonitoredSession> {
    checkOptions('MonitoredSession.create', options, ['graph', 'hooks', 'createSession', 'clock']);
    const { graph, hooks, createSession, clock = systemClock } = options;
    const coordinator = new Coordinator(clock);
    let session: Session | undefined;
    try {
      for (const hook of hooks) await hook.begin?.(graph);
      graph.finalize();
      session = await createSession();
      for (const hook of hooks) await hook.afterCreateSession?.(session, coordinator);
      return new MonitoredSession(session, hooks, coordinator);
    } catch (error) {
      coordinator.requestStop();
      await session?.close();
      await closeHooks(hooks).catch(() => undefined); // The first error is the one to tell of.
      throw error;
    }
  }

  get shouldStop(): boolean {
    return this.coordinator.shouldStop;
  }

  requestStop(error?: unknown): void {
    this.coordinator.requestStop(error);
  }

  /** One step with the hooks around it; the values of `fetches`, in lists and dictionaries as they are. */
  run<const F extends FetchTree>(fetches: F, feeds?: Feeds): Promise<Fetched<F>>;
  async run(tree: FetchTree, feeds?: Feeds): Promise<unknown> {
    const nested = isFlat(tree) ? undefined : flattenFetches(tree, this.session.graph);
    const fetches = nested?.fetches ?? (tree as readonly Fetch[]);
    const [values] = await this.#guarded(fetches, async (all) => [await this.session.run(all, feeds)]);
    return nested === undefined ? values! : nested.rebuild(values!);
  }

  /**
   * Makes what a run of `fetches` with those of the hooks needs, so that want of memory shows before the first step.
   */
  async prepare(fetches: readonly Fetch[]): Promise<void> {
    await this.session.prepare(await this.#ask(fetches));
  }

  /** Steps that may run at once: the hooks allow it and the values they fetch outlive it. */
  async stepsAheadMax(fetches: readonly Fetch[]): Promise<number> {
    const { globalStep } = this.session;
    let steps = Number.POSITIVE_INFINITY;
    for (const hook of this.#hooks) steps = Math.min(steps, quietSteps(hook, globalStep));
    if (steps <= 1) return 1;
    const all = await this.#ask(fetches);
    await this.session.prepare(all);
    return Math.min(steps, this.session.stepsAheadMax(all));
  }

  /** The fetches of the next run, which then does not ask again. */
  async #ask(fetches: readonly Fetch[]): Promise<readonly Fetch[]> {
    const all = await this.#gather(fetches);
    this.#asked = true;
    return all;
  }

  /**
   * A step per batch, at most `stepsAheadMax`, with the hooks around them; the values of `fetches` for each. `ahead`
   * are the batches that come next, for a session with a prefetch.
   */
  runSteps(
    fetches: readonly Fetch[],
    batches: readonly number[],
    ahead: readonly number[] = [],
  ): Promise<readonly (readonly FetchValue[])[]> {
    return this.#guarded(fetches, (all) => this.session.runSteps(all, batches, ahead));
  }

  async #guarded(
    fetches: readonly Fetch[],
    run: (all: readonly Fetch[]) => Promise<readonly (readonly FetchValue[])[]>,
  ): Promise<readonly (readonly FetchValue[])[]> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the monitored session' });
    this.#throwFailure();
    if (this.shouldStop) throw new MonolithError('ML_CANCELLED', { what: 'a run', reason: 'a stop was requested' });
    try {
      const values = await this.#run(fetches, run);
      this.#throwFailure();
      return values;
    } catch (error) {
      // The end of a queue is the end of the input.
      if (error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE') this.requestStop();
      else this.fail();
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
    const all = await this.#gather(fetches);
    this.#asked = false;
    const steps = await run(all);
    const perStep = (this.session.globalStep - before) / steps.length;
    for (let step = 0; step < steps.length; step++) {
      context.globalStep = before + perStep * (step + 1);
      const told = this.#tell(steps[step]!);
      if (told !== undefined) await told;
    }
    for (const hook of this.#hooks) {
      const polled = hook.poll?.(context);
      if (polled !== undefined) await polled;
    }
    return steps.map((values) => valuesAt(values, this.#places[0]!));
  }

  /** The caller's fetches and those of all hooks, the same array as long as nobody asks for something else. */
  async #gather(fetches: readonly Fetch[]): Promise<readonly Fetch[]> {
    let changed = this.#keepPart(0, fetches);
    if (!this.#asked) {
      for (const [index, hook] of this.#hooks.entries()) {
        const asked = hook.beforeRun?.(this.#context);
        const wanted = asked instanceof Promise ? await asked : asked;
        changed = this.#keepPart(index + 1, wanted ?? NO_FETCHES) || changed;
      }
    }
    if (changed) {
      this.#all = [...new Set(this.#parts.flat())];
      this.#places = this.#parts.map((part) => part.map((fetch) => this.#all.indexOf(fetch)));
    }
    return this.#all;
  }

  /** Hands each hook its values; a promise only when some hook returned one. */
  #tell(values: readonly FetchValue[], first = 0): Promise<void> | undefined {
    for (let i = first; i < this.#told.length; i++) {
      const index = this.#told[i]!;
      const done = this.#hooks[index]!.afterRun!(this.#context, valuesAt(values, this.#places[index + 1]!));
      if (done !== undefined) return done.then(() => this.#tell(values, i + 1));
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
    this.coordinator.requestStop();
  }

  #throwFailure(): void {
    if (this.coordinator.failure !== undefined) throw this.coordinator.failure.error;
  }

  /** Whether an error ended it. */
  get failed(): boolean {
    return this.#failed || this.coordinator.failure !== undefined;
  }

  /** Goes on after a clean end: more steps may run, and the hooks are ended again after them. */
  resume(): void {
    if (this.failed) return;
    this.coordinator.resume();
    this.#ended = false;
  }

  async #drain(): Promise<void> {
    for (const hook of this.#hooks) await hook.drain?.(this.session);
    await this.session.drain();
    // What hooks fetch may be another list now.
    this.#asked = false;
  }

  /**
   * Ends the hooks after a clean stop; nothing after an error. All drain before any ends, and the last save comes after
   * that, so that nothing that was pushed is missing from it. The session stays usable for evaluation.
   */
  async end(): Promise<void> {
    if (this.#ended || this.failed) return;
    this.#ended = true;
    this.coordinator.requestStop();
    try {
      await this.#drain();
      await this.coordinator.join(JOIN_MS);
      this.#throwFailure();
      for (const hook of this.#hooks) await hook.end?.(this.session);
      for (const hook of this.#hooks) await hook.afterEnd?.(this.session);
    } catch (error) {
      this.fail();
      throw error;
    }
  }

  /** Ends the hooks, unless that was done or a step failed, closes the session and then the hooks. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.end();
    } finally {
      this.coordinator.requestStop();
      try {
        await this.session.close();
      } finally {
        await closeHooks(this.#hooks);
      }
    }
  }
}

/** The values of these places. */
const valuesAt = (values: readonly FetchValue[], places: readonly number[]): readonly FetchValue[] =>
  places.length === 0 ? NO_VALUES : places.map((place) => values[place]);

/** Steps a hook lets run: one that is told of runs and does not say wants to hear of each. */
function quietSteps(hook: TrainHook, globalStep: number): number {
  if (hook.quietSteps !== undefined) return hook.quietSteps(globalStep);
  return hook.beforeRun === undefined && hook.afterRun === undefined ? Number.POSITIVE_INFINITY : 1;
}

/** Closes all hooks, the last first; the first error of them is thrown in the end. */
async function closeHooks(hooks: readonly TrainHook[]): Promise<void> {
  const errors: unknown[] = [];
  for (const hook of hooks.toReversed()) {
    try {
      await hook.close?.();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
