/**
 * @file The threads of a session: piscina workers that follow a shared command ring.
 *
 * Piscina spawns the threads and tells us when one dies; a step itself is no piscina task but a word in shared memory
 * and a wake-up. The main thread never blocks: it awaits `Atomics.waitAsync`.
 */

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { fromWireError } from '../../base/error-wire.js';
import { MonolithError } from '../../base/errors.js';
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import {
  ABORT,
  COMMAND,
  COMMAND_CAPACITY,
  COMMAND_KIND,
  COMMAND_WORDS,
  CONTROL,
  CONTROL_BYTES,
  nextCommand,
} from '../../memory/control-layout.js';
import { Views } from '../../memory/views.js';
import { WAIT_MS_MAX } from '../../memory/wait-for-change.js';
import type { TableMemoryHandle } from '../tables/table-banks.js';
import { abortSession } from './join-session.js';
import type { BackendName } from './load-backend.js';
import type { JoinMessage, JoinResult } from './protocol.js';
import { startTogether } from './start-together.js';
import { checkThreads } from './thread-count.js';
import { threadError } from './thread-error.js';

const WORKER_FILE = fileURLToPath(new URL('../../../workers/pool-worker.js', import.meta.url));
/** Steps that can be under way at once. */
export const STEPS_AHEAD_MAX = COMMAND_CAPACITY - 1;
/**
 * Looks at the barrier, about 1.5 ns each. Going to sleep and being woken costs tens of microseconds, more than a small
 * step: with a core for every thread it pays to wait about 100 us awake, which sped batches of 512 up by 1.7. Where
 * threads share cores, the one that is waited for may need the core of the one that waits.
 */
const BARRIER_SPINS = 60_000;
const BARRIER_SPINS_CROWDED = 1_000;
const JOIN_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 60_000;

export interface ThreadPoolOptions {
  readonly threads: number;
  readonly backend: BackendName;
  /** What the backend has to say to threads that join. */
  readonly told?: unknown;
  readonly memory: WasmMemory;
  readonly module: WasmModule;
  /** Memories of tables that are not in the session's own. */
  readonly tables?: TableMemoryHandle;
  /** Where the control block is: CONTROL_BYTES bytes, which the pool clears. */
  readonly control: number;
  readonly traceRings?: readonly number[];
  readonly traceWait?: number;
  /** Turns the status of a failed step into its error. */
  readonly explain?: (result: Extract<JoinResult, { kind: 'step-failed' }>, thread: number) => MonolithError;
}

/** What all threads are to run: their step contexts, and the batch, 0 for none. */
export interface Command {
  /** Of thread 0; the others follow at `contextStride`. */
  readonly contexts: number;
  readonly contextStride: number;
  readonly batch: number;
  /** Words that threads write before it, see FORESEEN; 0 or nothing for none. */
  readonly foreseen?: number;
}
const NOTHING: Command = { contexts: 0, contextStride: 0, batch: 0 };

export class ThreadPool {
  readonly threads: number;
  readonly #options: ThreadPoolOptions;
  readonly #views: Views;
  readonly #at: number;
  readonly #piscina: Piscina;
  readonly #tasks: Promise<void>[] = [];
  /**
   * Neither waitAsync nor a thread whose task has ended keeps the process alive; while somebody awaits a step, this
   * does.
   */
  readonly #alive = setInterval(() => {}, KEEP_ALIVE_MS).unref();
  #command = 0;
  #failure: MonolithError | undefined;
  #closing = false;
  #closed: Promise<void> | undefined;

  private constructor(options: ThreadPoolOptions, Pool: typeof Piscina) {
    this.threads = options.threads;
    this.#options = options;
    this.#views = new Views(options.memory.buffer);
    this.#at = options.control / 4;
    this.#views.u8.fill(0, options.control, options.control + CONTROL_BYTES);
    this.#views.i32[this.#at + CONTROL.spins] =
      options.threads <= availableParallelism() ? BARRIER_SPINS : BARRIER_SPINS_CROWDED;
    this.#piscina = new Pool({
      filename: WORKER_FILE,
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: 1,
      // The task blocks in shared memory for the length of the session: piscina's own waiting would only get in its
      // way.
      atomics: 'disabled',
      execArgv: [],
    });
  }

  /** Starts the threads; resolves when all of them follow the ring. */
  static async start(options: ThreadPoolOptions): Promise<ThreadPool> {
    const { threads } = options;
    checkThreads(threads);
    const { Piscina } = await import('piscina');
    const pool = await startTogether(() => new ThreadPool(options, Piscina));
    for (let thread = 0; thread < threads; thread++) pool.#tasks.push(pool.#join(thread));
    try {
      await pool.#until(CONTROL.joined, (joined) => joined === threads, JOIN_TIMEOUT_MS, 'the thread pool');
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  /** The worker threads, for those who watch over them. */
  get workers(): readonly import('node:worker_threads').Worker[] {
    return this.#piscina.threads;
  }

  async #join(thread: number): Promise<void> {
    const { backend, told, memory, module, tables, control, traceRings, traceWait } = this.#options;
    const message: JoinMessage = {
      thread,
      backend,
      told: told ?? null,
      memory,
      module,
      tables: tables ?? null,
      control,
      trace: traceRings?.[thread] ?? 0,
      traceWait: traceWait ?? 0,
    };
    try {
      this.#ended(thread, (await this.#piscina.run(message)) as JoinResult);
    } catch (cause) {
      if (!this.#closing) this.#fail(threadError(thread, cause));
    }
  }

  #ended(thread: number, result: JoinResult): void {
    switch (result.kind) {
      case 'stopped':
      case 'aborted':
        return;
      case 'step-failed':
        this.#fail(
          this.#options.explain?.(result, thread) ??
            new MonolithError('ML_WORKER', { thread, reason: `its step ended with status ${result.status}` }),
        );
        return;
      case 'threw':
        this.#fail(threadError(thread, fromWireError(result.error)));
        return;
      default:
        result satisfies never;
    }
  }

  /** The first failure counts; it wakes every waiting thread and whoever awaits a step. */
  #fail(error: MonolithError): void {
    this.#failure ??= error;
    abortSession(this.#views, this.#options.control);
  }

  /**
   * Runs commands on all threads, back to back, and returns the number of the first. At most STEPS_AHEAD_MAX: the
   * threads wake us once, after the last.
   */
  async run(commands: readonly Command[], timeoutMs = 300_000): Promise<number> {
    this.#check();
    const first = nextCommand(this.#command);
    commands.forEach((command, index) => {
      this.#write(COMMAND_KIND.step, command, index < commands.length - 1);
    });
    this.#publish();
    const last = this.#command;
    await this.#until(CONTROL.done, (done) => done === last, timeoutMs * commands.length, 'a training step');
    return first;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closing) throw new MonolithError('ML_CLOSED', { what: 'the thread pool' });
  }

  #write(kind: number, { contexts, contextStride, batch, foreseen = 0 }: Command = NOTHING, quiet = false): void {
    const { u32 } = this.#views;
    this.#command = nextCommand(this.#command);
    const entry = this.#at + CONTROL.commands + (this.#command & (COMMAND_CAPACITY - 1)) * COMMAND_WORDS;
    u32[entry + COMMAND.kind] = kind;
    u32[entry + COMMAND.contexts] = contexts;
    u32[entry + COMMAND.contextStride] = contextStride;
    u32[entry + COMMAND.batch] = batch;
    u32[entry + COMMAND.quiet] = quiet ? 1 : 0;
    u32[entry + COMMAND.foreseen] = foreseen;
  }

  /** Shows the threads all commands written so far. */
  #publish(): void {
    const { i32 } = this.#views;
    Atomics.store(i32, this.#at + CONTROL.command, this.#command);
    Atomics.notify(i32, this.#at + CONTROL.command);
  }

  async #until(word: number, reached: (value: number) => boolean, timeoutMs: number, what: string): Promise<void> {
    this.#alive.ref();
    try {
      await this.#reached(word, reached, timeoutMs, what);
    } finally {
      this.#alive.unref();
    }
  }

  async #reached(word: number, reached: (value: number) => boolean, timeoutMs: number, what: string): Promise<void> {
    const { i32 } = this.#views;
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const value = Atomics.load(i32, this.#at + word);
      if (reached(value)) return;
      if (Atomics.load(i32, this.#at + CONTROL.abort) !== 0) {
        await this.#abortExplained();
        continue;
      }
      // An abort between the check above and the wait below is not lost: its thread's task ends, and that notifies
      // again.
      const left = deadline - performance.now();
      if (left <= 0) {
        this.#fail(new MonolithError('ML_TIMEOUT', { what, timeoutMs }));
        continue;
      }
      const wait = Atomics.waitAsync(i32, this.#at + word, value, Math.min(left, WAIT_MS_MAX));
      if (wait.async) await wait.value;
    }
  }

  /** A thread raised the abort flag; its error arrives with its task. */
  async #abortExplained(): Promise<void> {
    await this.#tasksEnded();
    this.#failure ??= new MonolithError('ML_WORKER', { thread: 'unknown', reason: 'the session was aborted' });
  }

  /** Stops the threads and waits until they are gone. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing = true;
    if (this.#failure === undefined) {
      this.#write(COMMAND_KIND.stop);
      this.#publish();
    } else abortSession(this.#views, this.#options.control, ABORT.closed);
    await this.#tasksEnded();
    clearInterval(this.#alive);
    await this.#piscina.destroy();
  }

  /** Waits for the threads to leave by themselves, but not for long. */
  async #tasksEnded(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([Promise.all(this.#tasks), limit]);
    clearTimeout(timer);
  }
}
