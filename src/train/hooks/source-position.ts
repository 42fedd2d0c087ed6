/**
 * @file Where the source that fills a queue of a graph stands, without the elements that nobody has taken yet: what
 * checkpoints keep, so that a run that goes on trains on every element once.
 */
import { setImmediate } from 'node:timers/promises';
import { MonolithError } from '../../base/errors.js';
import type { InputState, Positioned } from '../../base/input-state.js';
import type { TensorQueue } from '../../graph/tensor-queue.js';
import type { Session } from '../../runtime/session/session.js';
import { inputStateOf, setInputState } from './input-state.js';
import { type FeedSource, iteratorOf } from './multi-queue-runner.js';

type PositionedSource = FeedSource & Required<Positioned>;

const positions = new WeakMap<Session, SourcePosition>();

/** The source of a queue, counted: the position of the session's input is that of it. */
export class SourcePosition {
  readonly #session: Session;
  readonly #queue: TensorQueue;
  readonly #source: PositionedSource;
  readonly #begin: InputState | undefined;
  /** Elements that the source has given. */
  #given = 0;

  private constructor(session: Session, queue: TensorQueue, source: PositionedSource, begin?: InputState) {
    this.#session = session;
    this.#queue = queue;
    this.#source = source;
    this.#begin = begin;
  }

  /** Has the source go on from where the restored input stood, and saves keep where it is. */
  static async take(session: Session, queue: TensorQueue, source: PositionedSource): Promise<SourcePosition> {
    if (positions.has(session)) {
      const reason = 'the source of another queue of the session has a position already';
      throw new MonolithError('ML_FEED', { name: queue.name, reason });
    }
    const begin = await inputStateOf(session);
    if (begin !== undefined) await source.restoreState(begin);
    const position = new SourcePosition(session, queue, source, begin);
    positions.set(session, position);
    setInputState(session, () => position.saveState(0));
    return position;
  }

  /** That of the source that fills `queue`, if it has one. */
  static of(session: Session, queue: TensorQueue): SourcePosition | undefined {
    const position = positions.get(session);
    return position !== undefined && position.#queue === queue ? position : undefined;
  }

  /** The elements of the source. */
  get elements(): FeedSource {
    const counted = () => {
      const iterator = iteratorOf(this.#source);
      const next = async () => {
        const step = await iterator.next();
        if (!step.done) this.#given++;
        return step;
      };
      return { next, return: async () => (await iterator.return?.()) ?? { done: true as const, value: undefined } };
    };
    return { [Symbol.asyncIterator]: counted };
  }

  /** Where the source goes on from when the last `unused` elements that were taken are left out too. */
  async saveState(unused: number): Promise<InputState> {
    // An element that the source has counted by now is counted here in the same turn of the event loop.
    await setImmediate();
    return this.#source.saveState(this.#given - this.#session.queue(this.#queue).taken + unused);
  }

  /** The source was set when it began to fill the queue: another place than that one comes too late. */
  checkBegin(state: InputState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#begin)) return;
    const reason = 'its source went on from another place than the input is to';
    const hint = 'put the hook that restores the place of the input before the EnqueueHook';
    throw new MonolithError('ML_FEED', { name: this.#queue.name, reason }, { hint });
  }
}
