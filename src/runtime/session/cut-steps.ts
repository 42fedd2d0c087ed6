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
import type { Program } from '../compile/compiler.js';
import { copyLeased } from '../compile/leased-batches.js';
import { STEPS_AHEAD_MAX } from '../pool/thread-pool.js';
import { type CutOptions, planOf } from './cut-options.js';
import { type Flight, goesOn } from './flight.js';
import { RowLeases, type TakenLease } from './row-leases.js';
import type { RowStore } from './row-store.js';
import type { SessionCore } from './session-core.js';
import type { Beside } from './session-queues.js';
import { commandOf, type StepCommand, type StepRunner, stepsOf } from './step-runner.js';

/** Steps that run one after the other. */
interface Group {
  readonly program: Program;
  readonly count: number;
  /** The numbers of the commands that ran them. */
  readonly steps: number[];
  /** Where the words that follow the step are written down for each; empty for a single one. */
  foreseen: readonly number[];
  /** Commands around each step. */
  readonly beside: readonly Beside[] | undefined;
}

/** Commands of a step at the most: the ids of a later one, the step, a push. */
const COMMANDS_PER_STEP = 3;

export class CutSteps {
  readonly options: CutOptions;
  readonly #leases: RowLeases;
  readonly #core: SessionCore;
  readonly #runner: StepRunner;
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
  #commands: StepCommand[] = [];
  #failure: unknown;

  constructor(core: SessionCore, runner: StepRunner, options: CutOptions) {
    this.#core = core;
    this.#runner = runner;
    this.options = options;
    this.#leases = new RowLeases(core, runner, planOf(options).leases);
    const { names } = core.trace;
    this.#aheadName = names.id('batches ahead');
    this.#rowsName = names.id('wait for rows', 'wait');
    this.#pushName = names.id('wait for a push', 'wait');
  }

  /** Steps that can be one list of commands, with so many copies beside each. */
  stepsAheadMax(copies: number): number {
    if (this.options.rows !== undefined) return 1;
    return Math.floor((STEPS_AHEAD_MAX - this.options.prefetch - 1) / (COMMANDS_PER_STEP + copies));
  }

  /**
   * Runs a step for each of `batches`; of `ahead`, the batches after those, as many are read as the prefetch says. The
   * numbers of the commands that ran the steps.
   */
  run(
    program: Program,
    batches: readonly number[],
    ahead: readonly number[],
    beside?: readonly Beside[],
  ): Promise<number[]> {
    const upcoming = [...batches, ...ahead].slice(0, batches.length + this.options.prefetch);
    return this.#orFail(async () => {
      const group: Group = { program, count: batches.length, steps: [], foreseen: [], beside };
      for (let n = 0; n < batches.length; n++) {
        const flight = await this.#step(group, n, upcoming.slice(n, n + 1 + this.options.prefetch));
        if (this.options.postpush) this.#waiting = flight;
        else await this.#push(flight, group.steps);
      }
      await this.#flush(group.steps);
      return group.steps;
    });
  }

  /** Step `n` of the group, on the first of `upcoming`; reads the rows of the others. */
  async #step(group: Group, n: number, upcoming: readonly number[]): Promise<Flight> {
    const { program, steps } = group;
    await this.#settle();
    await this.#read(program, upcoming);
    await this.#pushWaiting();
    if (n === 0 && this.#core.followsStep) await this.#followSteps(group);
    const flight = this.#ahead.shift()!;
    flight.step = this.#stepOf(program, n);
    const { main } = this.#core.trace;
    main?.counter(this.#aheadName, this.#ahead.length, main.now());
    if (flight.pulled !== undefined) {
      await this.#flush(steps);
      await this.#within(flight.pulled, 'the rows of a step', this.#rowsName);
    }
    const foreseen = group.foreseen[n] ?? 0;
    const step = { ...commandOf(program, 'step', flight.lease, flight.batch), foreseen, isStep: true };
    const { before = [], after = [] } = group.beside?.[n] ?? {};
    this.#commands.push(...before, step, ...after);
    return flight;
  }

  /** Brings rates and the like up to the first step of the group, and writes down those of each. */
  async #followSteps(group: Group): Promise<void> {
    // What was waiting is pushed at the rates of its own step.
    await this.#flush(group.steps);
    await this.#runner.untilIdle();
    if (group.count === 1) this.#core.followGlobalStep();
    else group.foreseen = this.#core.foreseeSteps(group.count, group.program.steps!);
  }

  /** Sees to it that what was read ahead is `batches`, in this order. */
  async #read(program: Program, batches: readonly number[]): Promise<void> {
    const good = this.#ahead.findIndex((flight, n) => !goesOn(flight, program) || flight.batch !== batches[n]);
    if (good >= 0) await this.#drop(good);
    for (const flight of this.#ahead) await this.#handOver(flight, program);
    for (const [later, batch] of batches.entries()) {
      if (later < this.#ahead.length) continue;
      const step = this.#stepOf(program, later);
      const lease = this.#leases.take(program);
      this.#commands.push(commandOf(program, 'ids', lease, batch));
      const flight: Flight = { program, batch, lease, step, leases: new Map([[program, lease]]) };
      const { rows } = this.options;
      if (rows === undefined) {
        this.#ahead.push(flight);
        continue;
      }
      await this.#flush();
      const pulled = this.#call(rows, 'pull', { program, lease, step });
      pulled.catch(() => undefined); // Who awaits it hears of it.
      this.#ahead.push({ ...flight, pulled });
    }
  }

  /**
   * Lets `program` go on with what another one has read. The rows may be where that one had them put, so that its lease
   * stays taken, and serves again when it is its turn.
   */
  async #handOver(flight: Flight, program: Program): Promise<void> {
    if (flight.program === program) return;
    let lease = flight.leases.get(program);
    if (lease === undefined) {
      if (flight.pulled !== undefined) await this.#within(flight.pulled, 'the rows of a step', this.#rowsName);
      await this.#flush();
      await this.#runner.untilIdle();
      lease = this.#leases.take(program);
      copyLeased(this.#core.views, flight.program.leasedBatches!, program.leasedBatches!, [flight.lease, lease]);
      flight.leases.set(program, lease);
    }
    Object.assign(flight, { program, lease });
  }

  #giveBack({ leases }: Flight): void {
    for (const [program, lease] of leases) this.#leases.give(program, lease);
  }

  /** Gives back what was read ahead, from the `first` on: it is read again when it is wanted. */
  async #drop(first: number): Promise<void> {
    for (const flight of this.#ahead.splice(first)) {
      const { pulled } = flight;
      if (pulled !== undefined) await this.#within(pulled, 'rows that are not wanted any more', this.#rowsName);
      this.#giveBack(flight);
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

  async #push(flight: Flight, steps?: number[]): Promise<void> {
    const { program, lease } = flight;
    const { rows, postpush } = this.options;
    if (rows === undefined) {
      this.#commands.push(commandOf(program, 'push', lease, 0));
      this.#giveBack(flight);
      return;
    }
    await this.#flush(steps);
    this.#pushing = this.#call(rows, 'push', flight).then(() => this.#giveBack(flight));
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
    const first = await this.#runner.run(commands);
    steps?.push(...stepsOf(commands, first));
  }

  /** A store may answer at once, too, and throw at once. */
  async #call(rows: RowStore, method: 'pull' | 'push', taken: TakenLease): Promise<void> {
    await rows[method](this.#leases.of(taken), performance.now() + this.#runner.timeoutMs);
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

  /** The global step of the batch that comes after `later` others: only a store asks. */
  #stepOf({ steps }: Program, later: number): number {
    return this.options.rows === undefined ? 0 : this.#core.globalStep + later * (steps ?? 0);
  }
}
