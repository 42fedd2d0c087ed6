/**
 * @file A session runs programs of one graph on a thread pool over one shared memory.
 *
 * Mirrors tf.Session as far as hooks and savers need it: variables live here, `run(fetches, feeds)` runs what the fetches
 * need. What it is made of is in session-core.ts.
 */
import { withCaller } from '../../base/call-place.js';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { type Graph, Tensor } from '../../graph/graph.js';
import { checkMode, type Mode } from '../../graph/mode.js';
import type { BatchSchema, FeedData } from '../../memory/batch.js';
import { nextCommand } from '../../memory/control-layout.js';
import type { Floats, Ids } from '../../memory/given-arrays.js';
import { chooseKernels } from '../backends/wasm/choose-kernels.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import { checkBatch } from '../compile/check-batch.js';
import type { Program } from '../compile/compiler.js';
import type { BackendName } from '../pool/load-backend.js';
import { STEPS_AHEAD_MAX, ThreadPool } from '../pool/thread-pool.js';
import { checkSession } from './check-session.js';
import { type CutOptions, CutSteps, cutOf, planOf } from './cut-steps.js';
import { explainFailure } from './explain-failure.js';
import { copyOf, type FeedMap, type FeedValue, FeedWriter } from './feed-writer.js';
import { type FetchValue, outlivesStep, readFetch } from './fetch.js';
import { type Fetch, type Fetched, type FetchTree, flattenFetches, isFlat } from './nested-fetches.js';
import { type OpenedBackend, openBackend } from './open-backend.js';
import type { Programs } from './programs.js';
import { SessionCore, SessionHandle } from './session-core.js';
import { reserveMemories } from './session-memories.js';
import type { SessionOptions } from './session-options.js';
import type { SessionTrace } from './session-trace.js';
import { commandOf, StepRunner } from './step-runner.js';
import { Turns } from './turns.js';

export type { Fetch, Fetched, FetchTree } from './nested-fetches.js';
export type { SessionOptions, TypedSchema } from './session-options.js';
/** A batch in shared memory by address, or the values of the feeds that the fetches need, by name or by placeholder. */
export type Feeds<Values = FeedMap> = number | Partial<Values> | ReadonlyMap<Tensor, FeedValue>;

const STEP_TIMEOUT_MS = 300_000;
export interface RunOptions {
  /** Default: that of the graph; of a graph without one, `train` for what updates something and `eval` for all else. */
  readonly mode?: Mode;
}

/** The parts of a session that runs. */
interface RunningParts {
  readonly core: SessionCore;
  readonly programs: Programs;
  readonly pool: ThreadPool;
  readonly backend: OpenedBackend;
  readonly kernelVariant: KernelVariant;
  readonly options: SessionOptions;
  readonly cut: CutOptions | undefined;
}

/**
 * Runs programs of a graph on a pool of threads, and keeps its variables and tables. One that was made with a schema knows what
 * is fed to it: `Values` are those of its features.
 */
export class Session<Values extends FeedMap = FeedMap> extends SessionHandle {
  readonly backend: BackendName;
  /** Why `auto` took this backend; null when it was asked for by name. */
  readonly backendWhy: string | null;
  /** What steps run on: a name for people, that of the processor for example. */
  readonly device: string;
  /** The build of the kernels that products are computed with. */
  readonly kernelVariant: KernelVariant;
  readonly #core: SessionCore;
  readonly #pool: ThreadPool;
  readonly #runner: StepRunner;
  /** Undefined when every step is in one piece. */
  readonly #cut: CutSteps | undefined;
  readonly #feeds: FeedWriter;
  readonly #programs: Programs;
  readonly #turns = new Turns();

  private constructor({ core, programs, pool, backend, kernelVariant, options, cut }: RunningParts) {
    super(core);
    this.backend = backend.name;
    this.backendWhy = backend.why;
    this.device = backend.opened.device;
    this.kernelVariant = kernelVariant;
    this.#core = core;
    this.#pool = pool;
    this.#runner = new StepRunner(core, pool, options.stepTimeoutMs ?? STEP_TIMEOUT_MS);
    this.#cut = cut && new CutSteps(core, this.#runner, cut);
    this.#feeds = new FeedWriter(core.views, core.arena, core.schema, core.graph);
    this.#programs = programs;
  }

  /** Makes the memory, initialises the variables and starts the threads. */
  static async create<Values extends FeedMap = FeedMap>(
    graph: Graph,
    options: SessionOptions<Values>,
  ): Promise<Session<Values>> {
    checkSession(graph, options);
    const backend = await openBackend(options);
    const { name, opened } = backend;
    const { variant, module } = await chooseKernels(opened.plainKernels ? { kernels: 'plain' } : options);
    const cut = cutOf(options);
    // The compiler is a tenth of the package: who only imports it does not wait for that.
    const { Programs } = await import('./programs.js');
    const { memory, tables } = await reserveMemories(options, module);
    const core = new SessionCore({ graph, options, backend: opened, memory, module, tables });
    const pool = await ThreadPool.start({
      threads: core.plan.threads,
      backend: name,
      told: core.backend.told,
      memory,
      module,
      ...(tables !== undefined && { tables: tables.handle }),
      control: core.control,
      traceRings: core.trace.poolRings,
      traceWait: core.trace.waitName,
      explain: (result, thread) => explainFailure(core, result, thread),
    });
    const programs = new Programs(core, cut && planOf(cut));
    return new Session<Values>({ core, programs, pool, backend, kernelVariant: variant, options, cut });
  }

  get graph(): Graph {
    return this.#core.graph;
  }

  /** What a batch holds, in this order. */
  get schema(): BatchSchema {
    return this.#core.schema;
  }

  /** Examples a batch has at the most. */
  get batchSize(): number {
    return this.#core.batchSize;
  }

  get threads(): number {
    return this.#core.plan.threads;
  }

  /** The events of all threads, and their names; `writeChromeTrace` writes them. */
  get trace(): Pick<SessionTrace, 'on' | 'names' | 'threads'> {
    return this.#core.trace;
  }

  // --- variables -----------------------------------------------------------------------------------------------------

  get variableNames(): readonly string[] {
    return this.#core.variables.names;
  }

  /**
   * The values of a variable, in place: a copy is up to the caller. Those that a backend has changed in another memory and
   * that `bringVariablesHome` has not brought yet are copied here first, while the thread waits.
   */
  readVariable(name: string): Float32Array | BigInt64Array {
    return this.#core.variables.read(name);
  }

  /**
   * Copies what a backend has changed in another memory of these variables, or of all; the thread stays free meanwhile.
   * Reading them costs nothing then, until the next step. On the CPU there is nothing to do.
   */
  bringVariablesHome(names: readonly string[] = this.variableNames): Promise<void> {
    const { variables } = this.#core;
    return variables.leaveHome ? this.#turns.take(() => variables.bringHome(names)) : Promise.resolve();
  }

  /** All values of a variable. */
  writeVariable(name: string, values: Floats | Ids): void {
    this.#core.variables.write(name, values);
  }

  /** Steps trained so far; 0 when the graph has no counter. */
  get globalStep(): number {
    return this.#core.globalStep;
  }

  // --- running ---------------------------------------------------------------------------------------------------------

  /** Compiles what `fetches` need; a later `run` of the same fetches finds it. */
  prepare(fetches: readonly Fetch[], options: RunOptions = {}): void {
    this.#programs.of(fetches, modeIn('Session.prepare', options));
  }

  /** How many steps of these fetches `runSteps` takes at once: one when a value or a rate must be seen to in between. */
  stepsAheadMax(fetches: readonly Fetch[]): number {
    // Making the program is what asks for rates that follow the step.
    const program = this.#programs.of(fetches);
    const outlives = fetches.every((fetch) => outlivesStep(program, fetch));
    if (program.steps === null || !outlives) return 1;
    if (this.#core.followsStep && (program.cut !== undefined || !this.#core.foreseesSteps)) return 1;
    return program.cut === undefined ? STEPS_AHEAD_MAX : this.#cut!.stepsAheadMax;
  }

  /** Batches that `runSteps` reads the rows of before it is their turn. */
  get prefetch(): number {
    return this.#cut?.options.prefetch ?? 0;
  }

  /**
   * Runs one step and returns the value of each fetch: a number for a scalar, an array otherwise, `undefined` for an op.
   * Fetches in lists and dictionaries give their values in the same structure, and a fetch may be the name of a tensor or
   * an op, such as `loss:0`. Calls run one after the other.
   *
   * ```ts
   * const { loss, scores } = await session.run({ loss: lossTensor, scores: [click, like], trainOp }, { features });
   * ```
   */
  run<const F extends FetchTree>(fetches: F, feeds?: Feeds<Values>, options?: RunOptions): Promise<Fetched<F>>;
  async run(fetches: FetchTree, feeds?: Feeds, options: RunOptions = {}): Promise<unknown> {
    try {
      const mode = modeIn('Session.run', options);
      if (isFlat(fetches)) return await this.#runFlat(fetches, feeds, mode);
      const flat = flattenFetches(fetches, this.graph);
      return flat.rebuild(await this.#runFlat(flat.fetches, feeds, mode));
    } catch (error) {
      throw withCaller(error);
    }
  }

  #runFlat(fetches: readonly Fetch[], feeds: Feeds | undefined, mode: Mode | undefined): Promise<FetchValue[]> {
    const batch = this.#batchOf(feeds);
    return this.#turns.take(async () => {
      const program = this.#programs.of(fetches, mode);
      if (batch === undefined && program.needsBatch) {
        throw new MonolithError('ML_FEED', { name: 'batch', reason: 'these fetches need a batch' });
      }
      const at = typeof batch === 'object' ? this.#feeds.write(batch) : (batch ?? 0);
      return (await this.#run(program, fetches, [at]))[0]!;
    });
  }

  /**
   * Feeds are read at the call, so that the caller may use its arrays again: into the batch they become, or, where a run before
   * this one still reads that memory, into a copy.
   */
  #batchOf(feeds: Feeds | undefined): number | readonly (FeedData | undefined)[] | undefined {
    if (typeof feeds !== 'object' || this.#turns.isClosed) return typeof feeds === 'object' ? undefined : feeds;
    const data = this.#feeds.read(feeds);
    return this.#turns.isIdle ? this.#feeds.write(data) : data.map(copyOf);
  }

  /**
   * Runs a step per batch, one right after the other, and returns the values of each; see `stepsAheadMax`. `ahead` are the
   * batches of the next call: a session with a prefetch reads the rows of the first of them already.
   */
  async runSteps(
    fetches: readonly Fetch[],
    batches: readonly number[],
    ahead: readonly number[] = [],
  ): Promise<FetchValue[][]> {
    try {
      return await this.#turns.take(() => {
        const max = this.stepsAheadMax(fetches);
        if (batches.length > max) {
          const reason = `${batches.length} steps at once, of these fetches ${max} can be`;
          throw new MonolithError('ML_FEED', { name: 'batches', reason });
        }
        return this.#run(this.#programs.of(fetches), fetches, batches, ahead);
      });
    } catch (error) {
      throw withCaller(error);
    }
  }

  /**
   * Pushes the gradients that postpush has kept back, and forgets the rows that were read ahead. A save does it first, so that a
   * run that goes on from there and one that is restored see the same.
   */
  drain(): Promise<void> {
    return this.#turns.take(async () => this.#cut?.drain());
  }

  /**
   * Runs `body`, which saves or restores, drained, with all variables at home and no step under way: those asked for before have
   * run, those asked for meanwhile wait. It must not wait for a run of its own.
   */
  hold<T>(body: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      await this.#cut?.drain();
      await this.#core.variables.bringHome(this.variableNames);
      return body();
    });
  }

  async #run(
    program: Program,
    fetches: readonly Fetch[],
    batches: readonly number[],
    ahead: readonly number[] = [],
  ): Promise<FetchValue[][]> {
    const core = this.#core;
    const commands =
      program.cut === undefined
        ? await this.#runWhole(program, batches)
        : await this.#cut!.run(program, batches, ahead);
    if (core.variables.leaveHome) await core.variables.bringHome(variablesOf(fetches));
    return batches.map((batch, index) => {
      return fetches.map((fetch) => readFetch(core, program, fetch, commands[index]!, batch));
    });
  }

  /** Steps in one piece; the numbers of their commands. */
  async #runWhole(program: Program, batches: readonly number[]): Promise<number[]> {
    const core = this.#core;
    if (program.needsBatch) for (const batch of batches) checkBatch(core.views, batch, core, program);
    await this.#cut?.finish();
    const isGroup = batches.length > 1 && core.followsStep;
    const foreseen = isGroup ? core.foreseeSteps(batches.length, program.steps!) : [];
    if (!isGroup) core.followGlobalStep();
    const commands = batches.map((batch, step) => {
      return { ...commandOf(program, 'step', 0, batch), foreseen: foreseen[step] ?? 0 };
    });
    let command = await this.#runner.run(commands);
    return batches.map(() => {
      const own = command;
      command = nextCommand(command);
      return own;
    });
  }

  /** Stops the threads. Waits for a step that is running. */
  async close(): Promise<void> {
    await this.#turns.close();
    this.#core.backend.close?.();
    await this.#pool.close();
    this.#core.trace.close();
  }
}

function modeIn(where: string, options: RunOptions): Mode | undefined {
  const { mode } = checkOptions(where, options, ['mode']);
  return mode === undefined ? undefined : checkMode(where, mode);
}

function variablesOf(fetches: readonly Fetch[]): string[] {
  return fetches.flatMap((fetch) => {
    return fetch instanceof Tensor && fetch.op.type === 'Variable' ? [fetch.op.name] : [];
  });
}
