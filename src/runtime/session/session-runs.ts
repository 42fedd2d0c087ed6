/** @file Runs of a session, one after the other: whole and cut steps, with feeds, batches or elements of queues. */
import { MonolithError } from '../../base/errors.js';
import { Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import { QUEUES } from '../../graph/tensor-queue.js';
import type { FeedData } from '../../memory/batch.js';
import { checkBatch } from '../compile/check-batch.js';
import type { Program } from '../compile/compiler.js';
import { STEPS_AHEAD_MAX, type ThreadPool } from '../pool/thread-pool.js';
import type { CutOptions } from './cut-options.js';
import { CutSteps } from './cut-steps.js';
import { copyOf, type FeedMap, type FeedValue, FeedWriter } from './feed-writer.js';
import { type FetchValue, outlivesStep, readFetch } from './fetch.js';
import type { Fetch } from './nested-fetches.js';
import type { Programs } from './programs.js';
import type { SessionCore } from './session-core.js';
import { type Beside, type Entry, SessionQueues } from './session-queues.js';
import { StepRunner } from './step-runner.js';
import { Turns } from './turns.js';
import { runWholeSteps } from './whole-steps.js';

/** A batch in shared memory by address, or the values of the feeds that the fetches need, by name or by placeholder. */
export type Feeds<Values = FeedMap> = number | Partial<Values> | ReadonlyMap<Tensor, FeedValue>;

/** Feeds of a run: a batch by address, or values for one. */
type GivenBatch = number | readonly (FeedData | undefined)[] | undefined;

export class SessionRuns {
  readonly #core: SessionCore;
  readonly #runner: StepRunner;
  /** Undefined when every step is in one piece. */
  readonly #cut: CutSteps | undefined;
  readonly #feeds: FeedWriter;
  readonly #programs: Programs;
  readonly #turns = new Turns();
  /** Undefined for a graph without queues. */
  readonly #queues: SessionQueues | undefined;

  constructor(
    core: SessionCore,
    pool: ThreadPool,
    programs: Programs,
    { cut, timeoutMs }: { readonly cut: CutOptions | undefined; readonly timeoutMs: number },
  ) {
    this.#core = core;
    this.#runner = new StepRunner(core, pool, timeoutMs);
    if (core.graph.getCollection(QUEUES).length > 0) this.#queues = new SessionQueues(core, timeoutMs);
    this.#cut = cut && new CutSteps(core, this.#runner, cut);
    this.#feeds = new FeedWriter(core.views, core.arena, core.schema, core.graph);
    this.#programs = programs;
  }

  /** Those of the graph; one that is not among them is told by their error. */
  get queues(): SessionQueues {
    return this.#queues ?? new SessionQueues(this.#core, this.#runner.timeoutMs);
  }

  get prefetch(): number {
    return this.#cut?.options.prefetch ?? 0;
  }

  /** Makes the program in a turn of its own, since it may make tables, which no step may be at work on. */
  async prepare(fetches: readonly Fetch[], mode?: Mode): Promise<void> {
    if (!this.#programs.has(fetches, mode)) await this.#turns.take(async () => void this.#programs.of(fetches, mode));
  }

  stepsAheadMax(fetches: readonly Fetch[]): number {
    // Making the program is what asks for rates that follow the step.
    const program = this.#programs.of(fetches);
    const outlives = fetches.every((fetch) => outlivesStep(program, fetch));
    const { takes, puts } = program.queues ?? { takes: [], puts: [] };
    if (program.steps === null || !outlives || puts.length > 0) return 1;
    if (this.#core.followsStep && !this.#core.foreseesSteps) return 1;
    if (program.cut !== undefined) return this.#cut!.stepsAheadMax(takes.length);
    return Math.floor(STEPS_AHEAD_MAX / (1 + takes.length));
  }

  /** One step; feeds are read at the call. */
  run(fetches: readonly Fetch[], feeds: Feeds | undefined, mode: Mode | undefined): Promise<FetchValue[]> {
    if (this.#queues !== undefined && !this.#turns.isClosed) {
      const data = typeof feeds === 'object' ? this.#feeds.read(feeds).map(copyOf) : feeds;
      if (!this.#programs.has(fetches, mode) && !this.#turns.isIdle) return this.#runNew(fetches, data, mode);
      const program = this.#programs.of(fetches, mode);
      if (program.queues !== undefined) return this.#runQueued(program, fetches, data);
    }
    const batch = this.#batchOf(feeds);
    return this.#turns.take(() => this.#runFed(this.#programs.of(fetches, mode), fetches, batch));
  }

  /** The first run of these fetches, while others are under way: only its program says whether it uses queues. */
  async #runNew(fetches: readonly Fetch[], given: GivenBatch, mode: Mode | undefined): Promise<FetchValue[]> {
    const values = await this.#turns.take(async () => {
      const program = this.#programs.of(fetches, mode);
      return program.queues === undefined ? this.#runFed(program, fetches, given) : undefined;
    });
    return values ?? this.#runQueued(this.#programs.of(fetches, mode), fetches, given);
  }

  async #runFed(program: Program, fetches: readonly Fetch[], given: GivenBatch): Promise<FetchValue[]> {
    if (given === undefined) needBatch(program);
    const at = typeof given === 'object' ? this.#feeds.write(given) : (given ?? 0);
    return (await this.#run(program, fetches, [at]))[0]!;
  }

  /** A run that takes elements out of queues, or puts some in: it waits for them before it is its turn. */
  #runQueued(program: Program, fetches: readonly Fetch[], given: GivenBatch): Promise<FetchValue[]> {
    const queues = this.#queues!;
    return queues.around(program.queues!, (entry, leave) =>
      this.#turns.take(async () => {
        const batch = queues.bind(entry, typeof given === 'object' ? this.#feeds.write(given) : (given ?? 0));
        if (batch === 0) needBatch(program);
        const [values] = await this.#run(program, fetches, [batch], { queued: [entry] });
        leave();
        return values!;
      }),
    );
  }

  /**
   * Feeds are read at the call, so that the caller may use its arrays again: into the batch they become, or, where a
   * run before this one still reads that memory, into a copy.
   */
  #batchOf(feeds: Feeds | undefined): GivenBatch {
    if (typeof feeds !== 'object' || this.#turns.isClosed) return typeof feeds === 'object' ? undefined : feeds;
    const data = this.#feeds.read(feeds);
    return this.#turns.isIdle ? this.#feeds.write(data) : data.map(copyOf);
  }

  /** A step per batch. */
  async runSteps(
    fetches: readonly Fetch[],
    batches: readonly number[],
    ahead: readonly number[],
  ): Promise<FetchValue[][]> {
    const isQueued = this.#queues !== undefined && !this.#turns.isClosed;
    if (isQueued && !this.#turns.isIdle) await this.prepare(fetches);
    const queued = isQueued ? this.#queues!.entriesOf(this.#programs.of(fetches), batches) : undefined;
    if (queued === 'to take') return [await this.#runQueued(this.#programs.of(fetches), fetches, batches[0])];
    return await this.#turns.take(() => {
      const max = this.stepsAheadMax(fetches);
      if (batches.length > max) {
        const reason = `${batches.length} steps at once, of these fetches ${max} can be`;
        throw new MonolithError('ML_FEED', { name: 'batches', reason });
      }
      return this.#run(this.#programs.of(fetches), fetches, batches, { ahead, queued });
    });
  }

  /** Runs `body` when all that was asked for before has run. */
  inTurn<T>(body: () => Promise<T>): Promise<T> {
    return this.#turns.take(body);
  }

  /** Pushes the gradients that postpush has kept back, and forgets the rows that were read ahead. */
  drain(): Promise<void> {
    return this.#turns.take(async () => this.#cut?.drain());
  }

  /** Runs `body` drained, with all variables at home and no step under way. */
  hold<T>(body: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      await this.#cut?.drain();
      await this.#core.variables.bringHome(this.#core.variables.names);
      return body();
    });
  }

  async #run(
    given: Program,
    fetches: readonly Fetch[],
    batches: readonly number[],
    { ahead = [], queued }: { readonly ahead?: readonly number[]; readonly queued?: readonly Entry[] | undefined } = {},
  ): Promise<FetchValue[][]> {
    const core = this.#core;
    // Every batch is looked at before the first is trained on, those among them whose rows are read ahead.
    const upcoming =
      given.cut === undefined ? batches : [...batches, ...ahead].slice(0, batches.length + this.prefetch);
    if (given.needsBatch) for (const batch of upcoming) checkBatch(core.views, batch, core, given);
    const program = this.#programs.withRoom(given, upcoming);
    const beside = queued && (await this.#queues!.beside(program, batches, queued));
    const commands =
      program.cut === undefined
        ? await this.#runWhole(program, batches, beside)
        : await this.#cut!.run(program, batches, ahead, beside);
    if (core.variables.leaveHome) await core.variables.bringHome(variablesOf(fetches));
    return batches.map((batch, index) => {
      return fetches.map((fetch) => readFetch(core, program, fetch, commands[index]!, batch));
    });
  }

  /** Steps in one piece; the numbers of their commands. */
  async #runWhole(program: Program, batches: readonly number[], beside?: readonly Beside[]): Promise<number[]> {
    if (program.readsRows) await this.#cut?.finish();
    return runWholeSteps(this.#core, this.#runner, program, { batches, beside });
  }

  /** Waits for a step that is running; nothing begins any more. */
  async close(): Promise<void> {
    this.#queues?.close();
    await this.#turns.close();
  }
}

function needBatch({ needsBatch }: Program): void {
  if (needsBatch) throw new MonolithError('ML_FEED', { name: 'batch', reason: 'these fetches need a batch' });
}

function variablesOf(fetches: readonly Fetch[]): string[] {
  return fetches.flatMap((fetch) => {
    return fetch instanceof Tensor && fetch.op.type === 'Variable' ? [fetch.op.name] : [];
  });
}
