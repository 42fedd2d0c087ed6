/**
 * @file Hooks of a training session, as tf.estimator's SessionRunHook: what they are told and when is in
 * monitored-session.ts.
 */
import type { Graph } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';

type Awaitable<T> = T | Promise<T>;

/** Stops the loop. An error given here is thrown by the loop. */
export interface Coordinator {
  readonly shouldStop: boolean;
  requestStop(): void;
}

export interface RunContext {
  readonly session: Session;
  /** Steps trained up to and including the run at hand. */
  readonly globalStep: number;
  requestStop(): void;
}

export interface TrainHook {
  /** The graph may still be added to; afterwards it is final. */
  begin?(graph: Graph): Awaitable<void>;
  /** Variables are initialised or restored. */
  afterCreateSession?(session: Session, coordinator: Coordinator): Awaitable<void>;
  /**
   * How many steps may run, from `globalStep` on, before this hook has to act. The threads then run them without a pause,
   * and afterRun is told of each of them in order, but only afterwards. A hook without this method is told after every
   * step, before the next one begins.
   */
  quietSteps?(globalStep: number): number;
  /** Fetches to add to this run; asked for once per group of quiet steps. Return the same array every time: a new one means a new program. */
  beforeRun?(context: RunContext): readonly Fetch[] | undefined;
  /** The values of the fetches this hook asked for. */
  afterRun?(context: RunContext, values: readonly FetchValue[]): Awaitable<void>;
  /** After a clean stop only. */
  end?(session: Session): Awaitable<void>;
}
