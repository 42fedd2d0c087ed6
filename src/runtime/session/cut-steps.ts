/**
 * @file Steps that are cut where rows come in and where gradients go out: prefetch and postpush.
 *
 * With a prefetch of c the rows of a batch are read c steps before the batch is trained on; with postpush its gradients
 * go to the tables in the step after it. Step n, whose batch is n, is:
 *
 *   1. ids and rows of batch n + c,
 *   2. with postpush, the gradients of step n - 1,
 *   3. the step itself: forward, backward, update of variables,
 *   4. without postpush, its gradients.
 *
 * So rows miss the last c updates, with postpush c + 1. This order is kept whoever brings the rows, and for any number
 * of threads. Where the threads bring them, all of a group of steps is one list of commands, and the main thread
 * sleeps.
 */
import { MonolithError } from '../../base/errors.js';
import { nextCommand } from '../../memory/control-layout.js';
import { PREFETCH_MAX } from '../../memory/limits.js';
import { checkBatch } from '../compile/check-batch.js';
import type { Cut } from '../compile/compile-environment.js';
import type { Program } from '../compile/compiler.js';
import { type Command, STEPS_AHEAD_MAX } from '../pool/thread-pool.js';
import { LocalRows, type RowLease, type RowStore } from './row-store.js';
import type { SessionCore } from './session-core.js';
import { commandOf, type StepRunner } from './step-runner.js';

export interface CutOptions {
  /** Steps before its use that the rows of a batch are read. */
  readonly prefetch: number;
  readonly postpush: boolean;
  /** Default: the tables of the session, on its threads. */
  readonly rows?: RowStore | undefined;
}

/** How a session with these options cuts its steps; undefined when nothing asks for it. */
export function cutOf({ prefetch = 0, postpush = false, rows }: Partial<CutOptions>): CutOptions | undefined {
  if (!Number.isInteger(prefetch) || prefetch < 0 || prefetch > PREFETCH_MAX) {
    throw new MonolithError('ML_FLAG', {
      flag: 'prefetch',
      reason: `${String(prefetch)} is no whole number from 0 to ${PREFETCH_MAX}`,
    });
  }
  if (prefetch === 0 && !postpush && rows === undefined) return undefined;
  return { prefetch, postpush, ...(!(rows instanceof LocalRows) && { rows }) };
}

/** What programs are compiled for. */
export function planOf({ prefetch, postpush, rows }: CutOptions): Cut {
  return { leases: prefetch + (postpush ? 2 : 1), isServed: rows !== undefined };
}

/** A batch in flight. */
interface Flight {
  readonly program: Program;
  readonly batch: number;
  readonly lease: number;
  /** Of a store: its rows are there. */
  readonly pulled?: Promise<void>;
}

/** Commands of a step at the most: the ids of a later one, the step, a push. */
const COMMANDS_PER_STEP = 3;

export class CutSteps {
  readonly options: CutOptions;
  readonly #leases: number;
  readonly #core: SessionCore;
  readonly #runner: StepRunner;
  readonly #free = new Map<Program, number[]>();
  /** What was read ahead, the next step first. */
  #ahead: Flight[] = [];
  /** Whose gradients are still to be pushed. */
  #waiting: Flight | undefined;
  /** The push that a store has under way. */
  #pushing: Promise<void> | undefined;
  readonly #aheadName: number;
  readonly #rowsName: number;
  readonly #pushName: number;
  /** What the threads are to do next, and which of it are steps. */
  #commands: (Command & { readonly isStep?: boolean })[] = [];
  #failure: unknown;

  constructor(core: SessionCore, runner: StepRunner, options: CutOptions) {
    this.#core = core;
    this.#runner = runner;
    this.options = options;
    this.#leases = planOf(options).leases;
    const { names } = core.trace;
    this.#aheadName = names.id('batches ahead');
    this.#rowsName = names.id('wait for rows', 'wait');
    this.#pushName = names.id('wait for a push', 'wait');
  }

  /** Steps that can be one list of commands. */
  get stepsAheadMax(): number {
    if (this.options.rows !== undefined) return 1;
    return Math.floor((STEPS_AHEAD_MAX - this.options.prefetch - 1) / COMMANDS_PER_STEP);
  }

  /**
   * Runs a step for each of `batches`; of `ahead`, the batches after those, as many are read as the prefetch says. The
   * numbers of the commands that ran the steps.
   */
  run(program: Program, batches: readonly number[], ahead: readonly number[]): Promise<number[]> {
    const upcoming = [...batches, ...ahead].slice(0, batches.length + this.options.prefetch);
    // Every batch is looked at before the first is trained on.
    if (program.needsBatch) {
      for (const batch of upcoming) checkBatch(this.#core.views, batch, this.#core, program);
    }
    return this.#orFail(async () => {
      const steps: number[] = [];
      for (let n = 0; n < batches.length; n++) {
        const flight = await this.#step(program, upcoming.slice(n, n + 1 + this.options.prefetch), steps);
        if (this.options.postpush) this.#waiting = flight;
        else await this.#push(flight, steps);
      }
      await this.#flush(steps);
      return steps;
    });
  }

  /** Steps the first of `upcoming` and reads the rows of the others. */
  async #step(program: Program, upcoming: readonly number[], steps: number[]): Promise<Flight> {
    await this.#settle();
    await this.#read(program, upcoming);
    await this.#pushWaiting();
    if (this.#core.followsStep) {
      // What was waiting is pushed at the rates of its own step.
      await this.#flush(steps);
      await this.#runner.untilIdle();
      this.#core.followGlobalStep();
    }
    const flight = this.#ahead.shift()!;
    const { main } = this.#core.trace;
    main?.counter(this.#aheadName, this.#ahead.length, main.now());
    if (flight.pulled !== undefined) {
      await this.#flush(steps);
      await this.#within(flight.pulled, 'the rows of a step', this.#rowsName);
    }
    this.#commands.push({ ...commandOf(program, 'step', flight.lease, flight.batch), isStep: true });
    return flight;
  }

  /** Sees to it that what was read ahead is `batches`, in this order. */
  async #read(program: Program, batches: readonly number[]): Promise<void> {
    const good = this.#ahead.findIndex((flight, n) => flight.program !== program || flight.batch !== batches[n]);
    if (good >= 0) await this.#drop(good);
    for (const batch of batches.slice(this.#ahead.length)) {
      const lease = this.#take(program);
      this.#commands.push(commandOf(program, 'ids', lease, batch));
      const { rows } = this.options;
      if (rows === undefined) {
        this.#ahead.push({ program, batch, lease });
        continue;
      }
      await this.#flush();
      const pulled = rows.pull(this.#leaseOf(program, lease), this.#deadline);
      pulled.catch(() => undefined); // Who awaits it hears of it.
      this.#ahead.push({ program, batch, lease, pulled });
    }
  }

  /** Gives back what was read ahead, from the `first` on: it is read again when it is wanted. */
  async #drop(first: number): Promise<void> {
    for (const { program, lease, pulled } of this.#ahead.splice(first)) {
      if (pulled !== undefined) await this.#within(pulled, 'rows that are not wanted any more', this.#rowsName);
      this.#give(program, lease);
    }
  }

  /** Waits for the push that a store has under way. */
  async #settle(): Promise<void> {
    if (this.#pushing === undefined) return;
    await this.#within(this.#pushing, 'a push of gradients', this.#pushName);
    this.#pushing = undefined;
  }

  /** Begins the push of the step before. */
  async #pushWaiting(): Promise<void> {
    const flight = this.#waiting;
    if (flight === undefined) return;
    this.#waiting = undefined;
    await this.#push(flight);
  }

  async #push({ program, lease }: Flight, steps?: number[]): Promise<void> {
    const { rows, postpush } = this.options;
    if (rows === undefined) {
      this.#commands.push(commandOf(program, 'push', lease, 0));
      this.#give(program, lease);
      return;
    }
    await this.#flush(steps);
    this.#pushing = rows.push(this.#leaseOf(program, lease), this.#deadline).then(() => this.#give(program, lease));
    this.#pushing.catch(() => undefined); // Who awaits it hears of it.
    if (!postpush) await this.#settle();
  }

  /** Pushes what waits; afterwards the tables have all updates of the steps that were run. */
  finish(): Promise<void> {
    return this.#orFail(async () => {
      await this.#settle();
      await this.#pushWaiting();
      await this.#flush();
      await this.#settle();
    });
  }

  /** As `finish`, and forgets what was read ahead: the next step reads tables as they are then. */
  async drain(): Promise<void> {
    await this.finish();
    await this.#orFail(() => this.#drop(0));
  }

  /** After a failure nobody knows which updates were made. */
  async #orFail<T>(body: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await body();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Has the threads do what is listed; adds the numbers of steps to `steps`. */
  async #flush(steps?: number[]): Promise<void> {
    const commands = this.#commands;
    if (commands.length === 0) return;
    this.#commands = [];
    let number = await this.#runner.run(commands);
    for (const { isStep } of commands) {
      if (isStep) steps?.push(number);
      number = nextCommand(number);
    }
  }

  get #deadline(): number {
    return performance.now() + this.#runner.timeoutMs;
  }

  /** Awaits what a store does, not for ever. */
  async #within(promise: Promise<void>, what: string, traceName: number): Promise<void> {
    const { timeoutMs } = this.#runner;
    const { main } = this.#core.trace;
    const start = main?.now() ?? 0;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new MonolithError('ML_TIMEOUT', { what, timeoutMs })), timeoutMs);
    });
    try {
      await Promise.race([promise, limit]);
    } finally {
      clearTimeout(timer);
      main?.span(traceName, start, main.now());
    }
  }

  #take(program: Program): number {
    let free = this.#free.get(program);
    if (free === undefined) {
      free = Array.from({ length: this.#leases }, (_, lease) => this.#leases - 1 - lease);
      this.#free.set(program, free);
    }
    return free.pop()!;
  }

  #give(program: Program, lease: number): void {
    this.#free.get(program)!.push(lease);
  }

  #leaseOf(program: Program, lease: number): RowLease {
    const run = async (part: 'pull' | 'push') => void (await this.#runner.run([commandOf(program, part, lease, 0)]));
    return {
      index: lease,
      tables: program.leased(lease),
      pullHere: () => run('pull'),
      pushHere: () => run('push'),
    };
  }
}
