/**
 * @file Updates of a step that run with the next one, such as those of dense variables: postpush.
 *
 * Mirrors AsyncFunctionMgr and AsyncPushHook of native_training/prefetch_queue. The arguments of a function go into a
 * queue of one place at the end of a step. From the next step on, each run also runs what the function made of the
 * element of the step before, and a drain runs it on the rest: after n steps it has run n - 1 times, after the end n
 * times. All of it is in the graph, so steps still run in groups, and no order of hooks makes one wait for another.
 */
import { MonolithError } from '../base/errors.js';
import { toList } from '../base/lists.js';
import { checkOpsDependence } from '../graph/check-ops-dependence.js';
import { Op, Tensor } from '../graph/graph.js';
import { group } from '../graph/ops/state.js';
import { SlotQueue } from '../graph/slot-queue.js';
import { GRAPH_LEAVES, noRagged } from '../queue/enqueue-dicts.js';
import type { Session } from '../runtime/session/session.js';
import { NestedTensors } from '../tensor/nested.js';
import type { RunContext, TrainHook } from './hooks/hook.js';

/** Builds ops of its arguments; keyword arguments come last, when there are any. */
// biome-ignore lint/suspicious/noExplicitAny: arguments are what the caller passes on, of any type
export type AsyncTarget = (...args: any[]) => Op | Tensor | readonly (Op | Tensor)[];

/** Runs `ops` with every run that finds an element in the queue, and on the rest when it drains. */
export class AsyncPushHook implements TrainHook {
  readonly #queue: SlotQueue;
  readonly #ops: readonly Op[];
  #session: Session | undefined;

  constructor(queue: SlotQueue, ops: readonly Op[]) {
    this.#queue = queue;
    this.#ops = ops;
  }

  afterCreateSession(session: Session): void {
    this.#session = session;
  }

  /** Every step puts an element in once there is one: only the first step is unlike the others. */
  quietSteps(): number {
    return this.#isFull ? Number.POSITIVE_INFINITY : 1;
  }

  beforeRun(_context: RunContext): readonly Op[] | undefined {
    return this.#isFull ? this.#ops : undefined;
  }

  async drain(session: Session): Promise<void> {
    if (this.#isFull) await session.run(this.#ops);
  }

  get #isFull(): boolean {
    const session = this.#session;
    return session !== undefined && this.#queue.isFull((name) => session.readVariable(name));
  }
}

/**
 * Runs functions beside the next step, and hands out the hooks that drain them.
 *
 * ```ts
 * const functions = new AsyncFunctionMgr();
 * const enqueue = functions.addAsyncFunction((grad) => applyGradients([[grad, weights]], optimizer), [grad]);
 * const trainOp = group(graph, [enqueue, increment(globalStep(graph))]);
 * const trainer = await LocalTrainer.create({ ...options, hooks: functions.hooks });
 * ```
 */
export class AsyncFunctionMgr {
  readonly #isAsync: boolean;
  readonly #hooks: TrainHook[] = [];

  constructor(isAsync = true) {
    this.#isAsync = isAsync;
  }

  /**
   * The op to run in a step: it puts the arguments into the queue, or, when `isAsync` is false, is what `target` made
   * of them. Arguments are tensors that all examples share, in lists and dictionaries too; other values are kept.
   */
  addAsyncFunction(
    target: AsyncTarget,
    args: readonly unknown[] = [],
    kwargs: Readonly<Record<string, unknown>> = {},
    isAsync: boolean = this.#isAsync,
    queueName = 'async_queue',
  ): Op {
    if (!isAsync) return groupOf(call(target, args, kwargs));
    const nested = new NestedTensors<Tensor, never>({ args, kwargs }, GRAPH_LEAVES);
    const tensors = nested.getTensors();
    // Without tensors the graph is known from what the target makes.
    const made = tensors.length === 0 ? call(target, args, kwargs) : undefined;
    const { graph } = (tensors[0] ?? made![0])!;
    const queue = new SlotQueue(graph, queueName, tensors);
    const dequeued = nested.mapResult(queue.values, noRagged) as { args: unknown[]; kwargs: Record<string, unknown> };
    const ops = made ?? call(target, dequeued.args, dequeued.kwargs);
    // What the function made must not run with the step that puts its arguments in: it would run twice.
    checkOpsDependence(
      graph,
      queue.enqueue.name,
      ops.map(({ name }) => name),
    );
    this.#hooks.push(new AsyncPushHook(queue, [queue.take(graph, ops)]));
    return queue.enqueue;
  }

  /** Hooks to train with. */
  get hooks(): readonly TrainHook[] {
    return this.#hooks;
  }
}

function call(target: AsyncTarget, args: readonly unknown[], kwargs: Readonly<Record<string, unknown>>): Op[] {
  const made = target(...args, ...(Object.keys(kwargs).length > 0 ? [kwargs] : []));
  const ops = toList(made).map((item) => (item instanceof Tensor ? item.op : item));
  if (ops.length > 0 && ops.every((op) => op instanceof Op)) return ops;
  throw new MonolithError('ML_GRAPH', {
    op: target.name || 'an asynchronous function',
    reason: 'it made no op to run',
  });
}

function groupOf(ops: readonly Op[]): Op {
  return ops.length === 1 ? ops[0]! : (group(ops[0]!.graph, ops) as Op);
}
