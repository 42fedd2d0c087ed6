/**
 * @file What goes on around runs that use queues of the graph: waiting for elements and for room before it is their
 * turn, copies beside their step, and putting afterwards.
 *
 * Nobody waits while it is his turn, so that the run that would end the wait can have its own.
 */
import { MonolithError } from '../../base/errors.js';
import type { Tensor } from '../../graph/graph.js';
import { QUEUES, type TensorQueue } from '../../graph/tensor-queue.js';
import { BATCH } from '../../memory/batch.js';
import type { Program } from '../compile/compiler.js';
import type { QueueUses } from '../compile/queue-uses.js';
import type { Command } from '../pool/thread-pool.js';
import type { CopyList } from './copy-list.js';
import { listElement } from './element-copies.js';
import { isFed, type QueueSlot } from './queue-slot.js';
import type { SessionCore } from './session-core.js';
import { SessionQueue } from './session-queue.js';

/** Commands around that of a step. */
export interface Beside {
  readonly before: readonly Command[];
  readonly after: readonly Command[];
}

/** The slots of one run. */
export interface Entry {
  readonly taken: readonly QueueSlot[];
  readonly put: readonly { readonly slot: QueueSlot; readonly tensors: readonly Tensor[] }[];
}

export class SessionQueues {
  readonly #core: SessionCore;
  readonly #queues: ReadonlyMap<TensorQueue, SessionQueue>;
  /** What was taken before its run, by the address of its batch. */
  readonly #taken = new Map<number, Entry>();

  constructor(core: SessionCore, timeoutMs: number) {
    this.#core = core;
    const queues = core.graph.getCollection(QUEUES);
    this.#queues = new Map(queues.map((queue) => [queue, new SessionQueue(core, queue, timeoutMs)]));
  }

  of(queue: TensorQueue): SessionQueue {
    const known = this.#queues.get(queue);
    if (known !== undefined) return known;
    const name = queue?.name ?? String(queue);
    throw new MonolithError('ML_QUEUE_ELEMENT', { queue: name, reason: 'the graph of the session has no such queue' });
  }

  /** The oldest elements of queues that a program takes from together: the address of their batch, until `give`. */
  take(queues: readonly TensorQueue[]): number | Promise<number> {
    const own = queues.map((queue) => this.of(queue));
    if (own.every(({ size }) => size > 0)) return this.#lend({ taken: own.map((queue) => queue.takeNow()), put: [] });
    return this.#enter({ takes: queues, puts: [], closes: [] }).then((entry) => this.#lend(entry));
  }

  #lend(entry: Entry): number {
    const batch = this.bind(entry, 0) || entry.taken[0]!.batch;
    this.#taken.set(batch, entry);
    return batch;
  }

  give(batch: number): void {
    const entry = this.#taken.get(batch);
    this.#taken.delete(batch);
    this.#give(entry?.taken ?? []);
  }

  /**
   * What steps of the program on `batches` have of queues: elements that were taken already, or, of a single step, some
   * that are still to be taken. Undefined for a program without queues.
   */
  entriesOf(program: Program, batches: readonly number[]): readonly Entry[] | 'to take' | undefined {
    const { queues } = program;
    if (queues === undefined) return undefined;
    const entries = batches.map((batch) => this.#taken.get(batch));
    const isTaken = (entry: Entry | undefined) =>
      queues.takes.every((queue) => entry?.taken.some((slot) => slot.queue === queue));
    if (queues.puts.length + queues.closes.length === 0 && entries.every(isTaken)) return entries as Entry[];
    if (batches.length === 1) return 'to take';
    const reason = `${batches.length} steps at once, of elements that were not taken before`;
    throw new MonolithError('ML_FEED', { name: 'batches', reason }, { hint: 'take them with takeElement' });
  }

  /** Runs `body` between what comes before its turn and what comes after; it calls `leave` while it still has it. */
  async around<T>(uses: QueueUses, body: (entry: Entry, leave: () => void) => Promise<T>): Promise<T> {
    const entry = await this.#enter(uses);
    let isDone = false;
    try {
      return await body(entry, () => {
        this.#leave(uses, entry);
        isDone = true;
      });
    } finally {
      if (!isDone) this.#giveUp(entry);
    }
  }

  /** Waits for what a run takes, and for room for what it puts. */
  async #enter(uses: QueueUses): Promise<Entry> {
    const taken: QueueSlot[] = [];
    try {
      for (const queue of uses.takes) taken.push(await this.#take(queue, uses));
      return { taken, put: await this.#reserve(uses) };
    } catch (error) {
      this.#give(taken);
      throw error;
    }
  }

  #take(queue: TensorQueue, { puts }: QueueUses): Promise<QueueSlot> {
    const own = this.of(queue);
    if (own.size === 0 && !own.isAwaited && puts.some((put) => put.queue === queue)) {
      const hint = 'run its enqueue op once before, or by an EnqueueHook';
      throw new MonolithError('ML_QUEUE_SELF', { queue: queue.name }, { hint });
    }
    return own.take();
  }

  async #reserve({ puts }: QueueUses): Promise<Entry['put']> {
    const put: { slot: QueueSlot; tensors: readonly Tensor[] }[] = [];
    try {
      for (const { queue, tensors } of puts) put.push({ slot: await this.of(queue).reserve(), tensors });
      return put;
    } catch (error) {
      for (const { slot } of put) this.of(slot.queue).giveUp(slot);
      throw error;
    }
  }

  /** The batch that the run is fed: what was taken, with the feeds that were given. */
  bind({ taken }: Entry, fed: number): number {
    const [first, ...others] = taken.filter(({ isBatch }) => isBatch);
    if (first === undefined) return fed;
    for (const { batch } of others) this.#join(first, batch);
    if (fed !== 0) this.#join(first, fed);
    return first.batch;
  }

  #join(slot: QueueSlot, batch: number): void {
    const rows = this.#core.views.u32[batch / 4 + BATCH.rows]!;
    if (rows !== slot.rows) {
      const reason = `it has ${slot.rows} rows, and what is fed beside it ${rows}`;
      throw new MonolithError('ML_FEED', { name: slot.queue.name, reason });
    }
    slot.join(batch);
  }

  /** The copies of a step for each of `batches`: to variables before it, and to slots. */
  beside(program: Program, batches: readonly number[], entries: readonly Entry[]): Promise<Beside[]> {
    return Promise.all(batches.map((batch, step) => this.#besideStep(program, batch, entries[step]!)));
  }

  async #besideStep(program: Program, batch: number, { taken, put }: Entry): Promise<Beside> {
    const core = this.#core;
    if (core.variables.leaveHome) {
      const variables = put.flatMap(({ tensors }) => tensors.filter(({ op }) => core.variables.has(op.name)));
      await core.variables.bringHome(variables.map(({ op }) => op.name));
    }
    for (const each of put) listElement(core, program, batch, each);
    const before = [...taken.map(({ out }) => out), ...put.map((each) => each.slot.before)];
    const after = put.map((each) => each.slot.after);
    if (!core.variables.leaveHome) return { before: commandsOf(before), after: commandsOf(after) };
    for (const list of before) list.runHere(core.kernels);
    for (const { queue } of taken) for (const value of queue.values) if (!isFed(value)) core.variables.changed(value);
    return { before: [], after: [] };
  }

  /** After the run: what was put waits now, what was taken is free again. */
  #leave(uses: QueueUses, { taken, put }: Entry): void {
    for (const { slot } of put) {
      if (this.#core.variables.leaveHome) slot.after.runHere(this.#core.kernels);
      this.of(slot.queue).put(slot);
    }
    this.#give(taken);
    for (const { queue, cancels } of uses.closes) this.of(queue).close(cancels);
  }

  /** After a run that failed: nothing was put, and what was taken is lost. */
  #giveUp({ taken, put }: Entry): void {
    for (const { slot } of put) this.of(slot.queue).giveUp(slot);
    this.#give(taken);
  }

  #give(taken: readonly QueueSlot[]): void {
    for (const slot of taken) this.of(slot.queue).give(slot);
  }

  /** Ends all waiting. */
  close(): void {
    for (const queue of this.#queues.values()) {
      queue.fail(new MonolithError('ML_CLOSED', { what: 'the session' }));
      queue.cancel();
    }
  }
}

function commandsOf(lists: readonly CopyList[]): Command[] {
  return lists.filter(({ isEmpty }) => !isEmpty).map(({ command }) => command);
}
