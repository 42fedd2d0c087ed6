/**
 * @file A session runs programs of one graph on a thread pool over one shared memory.
 *
 * Mirrors tf.Session as far as hooks and savers need it: variables live here, `run(fetches, feeds)` runs what the fetches
 * need. Memory: a null page, an arena that the main thread lays out, and a heap that tables grow in.
 */

import { availableParallelism } from 'node:os';
import { withCaller } from '../../base/call-place.js';
import { MonolithError } from '../../base/errors.js';
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import { type Graph, misfit, Op, Tensor } from '../../graph/graph.js';
import { GLOBAL_STEP } from '../../graph/ops/state.js';
import { Arena } from '../../memory/arena.js';
import { type BatchSchema, type FeedData, schemaProblem } from '../../memory/batch.js';
import { CONTROL_BYTES, nextCommand } from '../../memory/control-layout.js';
import type { Floats, Ids } from '../../memory/given-arrays.js';
import { createSharedMemory, reserveSharedMemory } from '../../memory/shared-memory.js';
import { TABLE_BYTES_MIN } from '../../memory/table-layout.js';
import { Views } from '../../memory/views.js';
import type { CudaDriver } from '../backends/cuda/driver.js';
import { noDeviceTables, ResidentTables } from '../backends/cuda/resident-tables.js';
import type { ResidentVariables } from '../backends/cuda/resident-variables.js';
import { openBackend } from '../backends/cuda/try-init-cuda.js';
import { chooseKernels } from '../backends/wasm/choose-kernels.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import { instantiateKernels } from '../backends/wasm/load-kernels.js';
import type { WasmKernels } from '../backends/wasm/wasm-kernels.js';
import { checkBatch } from '../compile/check-batch.js';
import { type CompileTarget, compile, type Program } from '../compile/compiler.js';
import type { CompileEnvironment, Plan, StepUpdate } from '../compile/lowering.js';
import type { BackendName } from '../pool/protocol.js';
import { checkThreads, STEPS_AHEAD_MAX, THREADS_MAX, ThreadPool } from '../pool/thread-pool.js';
import { layHeapOut, TableMemory, type TablePolicy } from '../tables/table-memory.js';
import { explainFailure } from './explain-failure.js';
import { copyOf, type FeedMap, type FeedValue, FeedWriter } from './feed-writer.js';
import { type FetchValue, outlivesStep, readFetch } from './fetch.js';
import { type Fetch, type Fetched, type FetchTree, flattenFetches, isFlat, notAFetch } from './nested-fetches.js';
import { checkSessionOptions, type SessionOptions } from './session-options.js';
import { SessionTrace } from './session-trace.js';
import { SessionVariables } from './session-variables.js';

export type { Fetch, Fetched, FetchTree } from './nested-fetches.js';
export type { SessionOptions } from './session-options.js';
/** A batch in shared memory by address, or the values of each feed by its name or its placeholder. */
export type Feeds = number | FeedMap | ReadonlyMap<Tensor, FeedValue>;

const NULL_PAGE_BYTES = 65536;
/** Slices of a batch when results must not depend on the number of threads. */
const DETERMINISTIC_SLICES = 16;

/** Runs programs of a graph on a pool of threads, and keeps its variables and tables. */
export class Session implements CompileTarget {
  readonly graph: Graph;
  readonly plan: Plan;
  readonly schema: BatchSchema;
  readonly batchSize: number;
  readonly backend: BackendName;
  /** The build of the kernels that products are computed with. */
  readonly kernelVariant: KernelVariant;
  readonly seed: number;
  readonly memory: WasmMemory;
  readonly views: Views;
  readonly arena: Arena;
  readonly heap: number;
  readonly tables: TableMemory;
  readonly tablePolicy: TablePolicy;
  readonly control: number;
  readonly kernels: WasmKernels;
  readonly trace: SessionTrace;
  /** Tables that live on a GPU, when they are to. */
  readonly deviceTables?: ResidentTables;
  readonly #variables: SessionVariables;
  readonly #resources = new Map<object, unknown>();
  readonly #programs = new Map<string, Program>();
  readonly #programsOfArrays = new WeakMap<readonly Fetch[], Program>();
  readonly #onStep: StepUpdate[] = [];
  readonly #stepTimeoutMs: number;
  readonly #feeds: FeedWriter;
  #pool: ThreadPool | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  /** Runs and holds that were asked for and have not ended. */
  #asked = 0;
  readonly #ended = (): void => {
    this.#asked--;
  };
  #closed = false;

  private constructor(
    graph: Graph,
    options: SessionOptions & { readonly backend: BackendName; readonly kernels: KernelVariant },
    driver: CudaDriver | undefined,
    memory: WasmMemory,
    module: WasmModule,
    tables: TableMemory | undefined,
  ) {
    const kernels = instantiateKernels(module, memory);
    // One thread drives a GPU: it launches, looks ids up and steps rows, all in one slice.
    const threads = driver ? 1 : (options.threads ?? Math.min(availableParallelism(), THREADS_MAX));
    checkThreads(threads);
    if (!Number.isInteger(options.batchSize) || options.batchSize < 1) {
      throw new MonolithError('ML_FLAG', {
        flag: 'batchSize',
        reason: `${options.batchSize} is not a number of examples`,
      });
    }
    const slices = options.deterministic && !driver ? DETERMINISTIC_SLICES : threads;
    this.graph = graph;
    this.schema = options.schema;
    this.batchSize = options.batchSize;
    this.backend = options.backend;
    this.kernelVariant = options.kernels;
    this.seed = options.seed ?? 0;
    this.tablePolicy = options.tablePolicy ?? {};
    this.plan = { slices, threads, sliceRows: Math.ceil(options.batchSize / slices) };
    this.memory = memory;
    this.kernels = kernels;
    this.views = new Views(memory.buffer);
    const bytes = memory.buffer.byteLength;
    this.heap = NULL_PAGE_BYTES + Math.floor((bytes - NULL_PAGE_BYTES) / 2 / 64) * 64;
    this.arena = new Arena('session', NULL_PAGE_BYTES, this.heap);
    layHeapOut(this.views, this.heap, Math.min(bytes, this.heap + (options.tableBytes ?? bytes)));
    this.tables = tables ?? TableMemory.of(module, { memory, views: this.views, kernels, heap: this.heap });
    this.control = this.arena.alloc(CONTROL_BYTES, 'control');
    this.trace = new SessionTrace(this.views, this.arena, threads, options.traceEvents ?? 0);
    this.#feeds = new FeedWriter(this.views, this.arena, options.schema, graph);
    this.#stepTimeoutMs = options.stepTimeoutMs ?? 300_000;
    this.#variables = new SessionVariables(graph, this.views, this.arena, driver);
    if (driver === undefined) return;
    const { useGpuEmbTable: rows = false } = options;
    if (rows) this.deviceTables = new ResidentTables(this.views, this.arena, driver, rows === true ? {} : rows);
  }

  /** Makes the memory, initialises the variables and starts the threads. */
  static async create(graph: Graph, options: SessionOptions): Promise<Session> {
    checkArguments(graph, options);
    const { backend, driver } = openBackend(options.backend ?? 'wasm', options.cuda);
    if (options.useGpuEmbTable && driver === undefined) throw noDeviceTables(backend);
    const { variant, module } = await chooseKernels(backend === 'reference' ? { kernels: 'plain' } : options);
    const memory = options.memoryBytes === undefined ? reserveSharedMemory() : createSharedMemory(options.memoryBytes);
    const tables = await tablesApart(options, memory.buffer.byteLength, module);
    const session = new Session(graph, { ...options, backend, kernels: variant }, driver, memory, module, tables);
    session.#pool = await ThreadPool.start({
      threads: session.plan.threads,
      backend: session.backend,
      memory,
      module,
      ...(tables !== undefined && { tables: tables.handle }),
      control: session.control,
      traceRings: session.trace.poolRings,
      traceWait: session.trace.waitName,
      ...(driver && { cuda: session.trace.cudaJoin(driver.path, options.cuda?.device ?? 0) }),
      explain: (result, thread) => explainFailure(session, result, thread),
    });
    return session;
  }

  // --- what the compiler and the layers above build on ---------------------------------------------------------------

  /** Variables that a GPU may have newer values of; for the cuda backend. */
  get residents(): ResidentVariables | undefined {
    return this.#variables.residents;
  }

  get traceNames() {
    return this.trace.names;
  }

  get skipsRepeats(): boolean {
    return this.residents === undefined;
  }

  get traceRings(): readonly number[] {
    return this.trace.poolRings;
  }

  variable(tensor: Tensor): number {
    return this.#variables.address(tensor.op.name);
  }

  resource<T>(key: object, make: (session: CompileEnvironment) => T): T {
    if (!this.#resources.has(key)) this.#resources.set(key, make(this));
    return this.#resources.get(key) as T;
  }

  onStep(update: StepUpdate): void {
    this.#onStep.push(update);
  }

  /** Brings rates and what else follows the global step up to it; every step begins with that, and so does who sets the step. */
  followGlobalStep(): void {
    const isCounted = this.#variables.has(GLOBAL_STEP);
    for (const update of this.#onStep) update(this.globalStep, isCounted);
  }

  // --- variables -----------------------------------------------------------------------------------------------------

  get variableNames(): readonly string[] {
    return this.#variables.names;
  }

  /**
   * The values of a variable, in place: a copy is up to the caller. Those that a GPU has changed and that
   * `bringVariablesHome` has not brought yet are copied here first, while the thread waits.
   */
  readVariable(name: string): Float32Array | BigInt64Array {
    return this.#variables.read(name);
  }

  /**
   * Copies what a GPU has changed of these variables, or of all, to the host; the thread stays free meanwhile. Reading them
   * costs nothing then, until the next step. Without a GPU there is nothing to do.
   */
  bringVariablesHome(names: readonly string[] = this.variableNames): Promise<void> {
    return this.residents === undefined ? Promise.resolve() : this.#inTurn(() => this.#variables.bringHome(names));
  }

  /** All values of a variable. */
  writeVariable(name: string, values: Floats | Ids): void {
    this.#variables.write(name, values);
  }

  /** Steps trained so far; 0 when the graph has no counter. */
  get globalStep(): number {
    return this.#variables.has(GLOBAL_STEP) ? Number(this.#variables.read(GLOBAL_STEP)[0]) : 0;
  }

  // --- running ---------------------------------------------------------------------------------------------------------

  /** Compiles what `fetches` need; a later `run` of the same fetches finds it. */
  prepare(fetches: readonly Fetch[]): Program {
    // A training loop passes the same array every time: then nothing is built to look the program up.
    let program = this.#programsOfArrays.get(fetches);
    if (program === undefined) {
      const odd = fetches.find((fetch) => !(fetch instanceof Tensor || fetch instanceof Op));
      if (odd !== undefined) throw notAFetch(odd);
      const stranger = fetches.find((fetch) => fetch.graph !== this.graph);
      if (stranger !== undefined) throw misfit(stranger, 'it is of another graph than the session');
      const key = fetches.map((fetch) => fetch.name).join('\n');
      program = this.#programs.get(key) ?? compile(this, fetches);
      this.#programs.set(key, program);
      this.#programsOfArrays.set(fetches, program);
    }
    return program;
  }

  /** How many steps of these fetches `runSteps` takes at once: one when a value or a rate must be seen to in between. */
  stepsAheadMax(fetches: readonly Fetch[]): number {
    // Making the program is what asks for rates that follow the step.
    const program = this.prepare(fetches);
    if (this.#onStep.length > 0) return 1;
    return fetches.every((fetch) => outlivesStep(program, fetch)) ? STEPS_AHEAD_MAX : 1;
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
  run(fetches: readonly Fetch[], feeds?: Feeds): Promise<FetchValue[]>;
  run<const F extends FetchTree>(fetches: F, feeds?: Feeds): Promise<Fetched<F>>;
  async run(fetches: FetchTree, feeds?: Feeds): Promise<unknown> {
    try {
      if (isFlat(fetches)) return await this.#runFlat(fetches, feeds);
      const flat = flattenFetches(fetches, this.graph);
      return flat.rebuild(await this.#runFlat(flat.fetches, feeds));
    } catch (error) {
      throw withCaller(error);
    }
  }

  #runFlat(fetches: readonly Fetch[], feeds: Feeds | undefined): Promise<FetchValue[]> {
    const batch = this.#batchOf(feeds);
    return this.#inTurn(async () => {
      if (batch === undefined && this.prepare(fetches).needsBatch) {
        throw new MonolithError('ML_FEED', { name: 'batch', reason: 'these fetches need a batch' });
      }
      const at = typeof batch === 'object' ? this.#feeds.write(batch) : (batch ?? 0);
      return (await this.#run(fetches, [at]))[0]!;
    });
  }

  /**
   * Feeds are read at the call, so that the caller may use its arrays again: into the batch they become, or, where a run before
   * this one still reads that memory, into a copy.
   */
  #batchOf(feeds: Feeds | undefined): number | readonly FeedData[] | undefined {
    if (typeof feeds !== 'object' || this.#closed) return typeof feeds === 'object' ? undefined : feeds;
    const data = this.#feeds.read(feeds);
    return this.#asked === 0 ? this.#feeds.write(data) : data.map(copyOf);
  }

  /** Runs a step per batch, one right after the other, and returns the values of each; see `stepsAheadMax`. */
  async runSteps(fetches: readonly Fetch[], batches: readonly number[]): Promise<FetchValue[][]> {
    try {
      return await this.#inTurn(() => {
        const max = this.stepsAheadMax(fetches);
        if (batches.length > max) {
          const reason = `${batches.length} steps at once, of these fetches ${max} can be`;
          throw new MonolithError('ML_FEED', { name: 'batches', reason });
        }
        return this.#run(fetches, batches);
      });
    } catch (error) {
      throw withCaller(error);
    }
  }

  /**
   * Runs `body`, which saves or restores, with all variables at home and no step under way: those asked for before have run,
   * those asked for meanwhile wait. It must not wait for a run of its own.
   */
  hold<T>(body: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#variables.bringHome(this.variableNames);
      return body();
    });
  }

  /** Runs `body` after what was asked for before. */
  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    this.#asked++;
    const result = this.#tail.then(() => {
      if (this.#closed || this.#pool === undefined) throw new MonolithError('ML_CLOSED', { what: 'the session' });
      return body();
    });
    this.#tail = result.then(this.#ended, this.#ended);
    return result;
  }

  async #run(fetches: readonly Fetch[], batches: readonly number[]): Promise<FetchValue[][]> {
    const program = this.prepare(fetches);
    if (program.needsBatch) for (const batch of batches) checkBatch(this.views, batch, this, program);
    this.followGlobalStep();
    const { main, stepName } = this.trace;
    const start = main?.now() ?? 0;
    let command = await this.#runPool(program, batches);
    main?.span(stepName, start, main.now());
    for (const fetch of this.residents === undefined ? [] : fetches) {
      if (fetch instanceof Tensor && fetch.op.type === 'Variable') await this.#variables.bringHome([fetch.op.name]);
    }
    return batches.map((batch) => {
      const values = fetches.map((fetch) => readFetch(this, program, fetch, command, batch));
      command = nextCommand(command);
      return values;
    });
  }

  async #runPool({ contexts, contextStride }: Program, batches: readonly number[]): Promise<number> {
    this.tables.setInStep(true);
    try {
      return await this.#pool!.run(contexts, contextStride, batches, this.#stepTimeoutMs);
    } finally {
      this.tables.setInStep(false);
    }
  }

  /** Stops the threads. Waits for a step that is running. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#tail;
    this.deviceTables?.close();
    await this.#pool?.close();
  }
}

/** Memories of their own for tables that the session's memory would not hold. */
async function tablesApart(
  options: SessionOptions,
  memoryBytes: number,
  module: WasmModule,
): Promise<TableMemory | undefined> {
  const { tableBytes, bankBytes } = options;
  if (tableBytes === undefined) return undefined;
  if (tableBytes <= memoryBytes / 2 - NULL_PAGE_BYTES && tableBytes >= TABLE_BYTES_MIN) return undefined;
  return TableMemory.create({ budgetBytes: tableBytes, module, ...(bankBytes !== undefined && { bankBytes }) });
}

/** Programs in JavaScript get no help from the compiler: what a session cannot do without is looked at first. */
function checkArguments(graph: unknown, options: SessionOptions | null | undefined): void {
  const refuse = (flag: string, reason: string, hint: string): never => {
    throw new MonolithError('ML_FLAG', { flag, reason }, { hint });
  };
  if (typeof graph !== 'object' || graph === null) refuse('graph', 'there is none', 'Session.create(graph, options)');
  if (typeof options === 'object' && options !== null) checkSessionOptions(options);
  const problem = schemaProblem(options?.schema);
  if (problem !== null) {
    refuse(
      'schema',
      problem,
      "say what a batch holds: schema: [{ name: 'x', kind: 'dense', width: 3 }], or [] for nothing",
    );
  }
}
