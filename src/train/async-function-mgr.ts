/**
 * @file Functions of a step that run beside the next one, such as pushes of gradients.
 *
 * Mirrors AsyncFunctionMgr and AsyncPushHook of native_training/prefetch_queue. A step puts the arguments in a queue of
 * one place; from the next step on, each run also calls the function on what the step before has put there, and the end
 * of training calls it on the rest: after n steps it has run n - 1 times, after the end n times.
 */
import { checkOptions } from '../base/check-options.js';
import { PrefetchQueue } from '../queue/prefetch-queue.js';
import type { TrainHook } from './hooks/hook.js';

type Target<A extends readonly unknown[]> = (...args: A) => unknown;

export class AsyncPushHook<A extends readonly unknown[] = readonly unknown[]> implements TrainHook {
  readonly #queue: PrefetchQueue<A>;
  readonly #target: Target<A>;
  #running: Promise<void> | undefined;
  #queueInit = false;

  constructor(queue: PrefetchQueue<A>, target: Target<A>) {
    this.#queue = queue;
    this.#target = target;
  }

  /** The call goes on while the step runs. */
  beforeRun(): undefined {
    if (!this.#queueInit || this.#queue.size === 0) return;
    this.#running = this.#call();
    // It is awaited after the step; a failure before that is not one that nobody handles.
    this.#running.catch(() => undefined);
  }

  async afterRun(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running;
    this.#queueInit ||= this.#queue.size > 0;
  }

  async end(): Promise<void> {
    while (this.#queue.size > 0) await this.#call();
    this.#queue.destroy();
  }

  async #call(): Promise<void> {
    await this.#target(...(await this.#queue.dequeue()));
  }
}

export interface AsyncFunctionOptions {
  /** As the manager has it unless told. */
  readonly isAsync?: boolean;
  readonly queueName?: string;
}

/**
 * ```ts
 * const functions = new AsyncFunctionMgr();
 * const push = functions.addAsyncFunction(async (grads: Tensor) => table.apply(grads));
 * const trainer = await LocalTrainer.create({ ...options, hooks: functions.hooks }); // a step calls: await push(grads)
 * ```
 */
export class AsyncFunctionMgr {
  readonly #isAsync: boolean;
  readonly #hooks: TrainHook[] = [];

  constructor(isAsync = true) {
    this.#isAsync = isAsync;
  }

  /** What a step calls in place of `target`. Arguments are tensors and lists or dictionaries of them, or kept as they are. */
  addAsyncFunction<A extends readonly unknown[]>(
    target: Target<A>,
    options: AsyncFunctionOptions = {},
  ): (...args: A) => Promise<void> {
    checkOptions('addAsyncFunction', options, ['isAsync', 'queueName']);
    const { isAsync = this.#isAsync, queueName = 'async_queue' } = options;
    if (!isAsync) {
      return async (...args) => {
        await target(...args);
      };
    }
    const queue = new PrefetchQueue<A>({ capacity: 1, name: queueName });
    this.#hooks.push(new AsyncPushHook(queue, target));
    return (...args) => queue.enqueue(args);
  }

  /** Hooks to train with. */
  get hooks(): readonly TrainHook[] {
    return this.#hooks;
  }
}
