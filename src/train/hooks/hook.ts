/**
 * @file Hooks of a training session, as tf.estimator's SessionRunHook: what they are told and when is in
 * monitored-session.ts. Every method may wait.
 */
import type { Graph } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import type { Coordinator } from './coordinator.js';

type Awaitable<T> = T | Promise<T>;

export interface RunContext {
  readonly session: Session;
  /** Steps trained up to and including the run at hand. */
  readonly globalStep: number;
  /** The loop stops after the step at hand; an error given here is thrown by it. */
  requestStop(error?: unknown): void;
  /** Has all hooks finish what is under way, as before the end: a save is such a moment. */
  drain(): Promise<void>;
}

export interface TrainHook {
  /** The graph may still be added to; afterwards it is final. */
  begin?(graph: Graph): Awaitable<void>;
  /** Variables are initialised or restored. */
  afterCreateSession?(session: Session, coordinator: Coordinator): Awaitable<void>;
  /**
   * How many steps may run, from `globalStep` on, before this hook has to act. The threads then run them without a
   * pause, and afterRun is told of each of them in order, but only afterwards. A hook that has beforeRun or afterRun
   * and not this method is told after every step, before the next one begins.
   */
  quietSteps?(globalStep: number): number;
  /**
   * Fetches to add to this run; asked for once per group of quiet steps. Return the same array every time: a new one
   * means a new program.
   */
  beforeRun?(context: RunContext): Awaitable<readonly Fetch[] | undefined>;
  /** The values of the fetches this hook asked for. */
  afterRun?(context: RunContext, values: readonly FetchValue[]): Awaitable<void>;
  /**
   * Asked once after each group of steps, which takes about half a second at most: for what goes by time and not by
   * steps.
   */
  poll?(context: RunContext): Awaitable<void>;
  /** Before a save, and before any hook ends after a clean stop: finishes what is under way, such as pushes. */
  drain?(session: Session): Awaitable<void>;
  /** After a clean stop, when all hooks have drained. */
  end?(session: Session): Awaitable<void>;
  /** After a clean stop, when all hooks have ended: the last save, and what follows it. */
  afterEnd?(session: Session): Awaitable<void>;
  /** Last of all and in any case, in the opposite order: gives back what the hook opened. */
  close?(): Awaitable<void>;
}
