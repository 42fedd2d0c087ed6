/**
 * @file A session runs programs of one graph on a thread pool over one shared memory.
 *
 * Mirrors tf.Session as far as hooks and savers need it: variables live here, `run(fetches, feeds)` runs what the
 * fetches need. What it is made of is in session-core.ts.
 */
import { withCaller } from '../../base/call-place.js';
import { checkOptions } from '../../base/check-options.js';
import type { Graph } from '../../graph/graph.js';
import { checkMode, type Mode } from '../../graph/mode.js';
import type { TensorQueue } from '../../graph/tensor-queue.js';
import type { BatchSchema } from '../../memory/batch.js';
import type { Floats, Ids } from '../../memory/given-arrays.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import type { BackendName } from '../pool/load-backend.js';
import type { ThreadPool } from '../pool/thread-pool.js';
import type { FeedMap } from './feed-writer.js';
import type { FetchValue } from './fetch.js';
import { type Fetch, type Fetched, type FetchTree, flattenFetches, isFlat } from './nested-fetches.js';
import type { SessionCore } from './session-core.js';
import { SessionHandle } from './session-handle.js';
import type { SessionOptions } from './session-options.js';
import type { SessionQueue } from './session-queue.js';
import type { Feeds, SessionRuns } from './session-runs.js';
import type { SessionTrace } from './session-trace.js';
import type { RunningParts } from './start-session.js';

export type { Fetch, Fetched, FetchTree } from './nested-fetches.js';
export type { SessionOptions, TypedSchema } from './session-options.js';
export type { Feeds } from './session-runs.js';

export interface RunOptions {
  /** Default: that of the graph; of a graph without one, `train` for what updates something and `eval` for all else. */
  readonly mode?: Mode;
}

/**
 * Runs programs of a graph on a pool of threads, and keeps its variables and tables. One that was made with a schema
 * knows what is fed to it: `Values` are those of its features.
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
  readonly #runs: SessionRuns;

  private constructor({ core, pool, runs, backend, kernelVariant }: RunningParts) {
    super(core);
    this.backend = backend.name;
    this.backendWhy = backend.why;
    this.device = backend.opened.device;
    this.kernelVariant = kernelVariant;
    this.#core = core;
    this.#pool = pool;
    this.#runs = runs;
  }

  /** Makes the memory, initialises the variables and starts the threads. */
  static async create<Values extends FeedMap = FeedMap>(
    graph: Graph,
    options: SessionOptions<Values>,
  ): Promise<Session<Values>> {
    // Compiler, kernels and pool are a fifth of the package: who only imports it does not wait for them.
    const { startSession } = await import('./start-session.js');
    return new Session<Values>(await startSession(graph, options));
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
   * The values of a variable, in place: a copy is up to the caller. Those that a backend has changed in another memory
   * and that `bringVariablesHome` has not brought yet are copied here first, while the thread waits.
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
    return variables.leaveHome ? this.#runs.inTurn(() => variables.bringHome(names)) : Promise.resolve();
  }

  /** All values of a variable. */
  writeVariable(name: string, values: Floats | Ids): void {
    this.#core.variables.write(name, values);
  }

  /** Steps trained so far; 0 when the graph has no counter. */
  get globalStep(): number {
    return this.#core.globalStep;
  }

  // --- running -------------------------------------------------------------------------------------------------------

  /** Compiles what `fetches` need, when it is its turn; a later `run` of the same fetches finds it. */
  async prepare(fetches: readonly Fetch[], options: RunOptions = {}): Promise<void> {
    await this.#runs.prepare(fetches, modeIn('Session.prepare', options));
  }

  /**
   * Steps of these fetches that `runSteps` takes at once: one when something must be seen to in between. `prepare` them
   * before, where others run in the session meanwhile.
   */
  stepsAheadMax(fetches: readonly Fetch[]): number {
    return this.#runs.stepsAheadMax(fetches);
  }

  /** Batches that `runSteps` reads the rows of before it is their turn. */
  get prefetch(): number {
    return this.#runs.prefetch;
  }

  /**
   * Runs one step and returns the value of each fetch: a number for a scalar, an array otherwise, `undefined` for an
   * op. Fetches in lists and dictionaries give their values in the same structure, and a fetch may be the name of a
   * tensor or an op, such as `loss:0`. Calls run one after the other.
   *
   * ```ts
   * const { loss, scores } = await session.run({ loss: lossTensor, scores: [click, like], trainOp }, { features });
   * ```
   */
  run<const F extends FetchTree>(fetches: F, feeds?: Feeds<Values>, options?: RunOptions): Promise<Fetched<F>>;
  async run(fetches: FetchTree, feeds?: Feeds, options: RunOptions = {}): Promise<unknown> {
    try {
      const mode = modeIn('Session.run', options);
      if (isFlat(fetches)) return await this.#runs.run(fetches, feeds, mode);
      const flat = flattenFetches(fetches, this.graph);
      return flat.rebuild(await this.#runs.run(flat.fetches, feeds, mode));
    } catch (error) {
      throw withCaller(error);
    }
  }

  /**
   * A queue of the graph as it is in this session: how many elements wait, and its end.
   *
   * ```ts
   * session.queue(queue).close(); // what waits can still be taken
   * ```
   */
  queue(queue: TensorQueue): Pick<SessionQueue, 'size' | 'taken' | 'close' | 'fail' | 'cancel'> {
    return this.#runs.queues.of(queue);
  }

  /**
   * Takes the oldest element of each of these queues, for a run that uses them: the address of its batch, which is good
   * until `giveElement`. ML_OUT_OF_RANGE at the end of their input. A run that is given none takes one by itself. Not a
   * promise where they are there.
   */
  takeElement(queues: readonly TensorQueue[]): number | Promise<number> {
    return this.#runs.queues.take(queues);
  }

  /** Lets the queues use the memory of an element again. */
  giveElement(batch: number): void {
    this.#runs.queues.give(batch);
  }

  /**
   * Runs a step per batch, one right after the other, and returns the values of each; see `stepsAheadMax`. `ahead` are
   * the batches of the next call: a session with a prefetch reads the rows of the first of them already.
   */
  async runSteps(
    fetches: readonly Fetch[],
    batches: readonly number[],
    ahead: readonly number[] = [],
  ): Promise<FetchValue[][]> {
    try {
      return await this.#runs.runSteps(fetches, batches, ahead);
    } catch (error) {
      throw withCaller(error);
    }
  }

  /**
   * Pushes the gradients that postpush has kept back, and forgets the rows that were read ahead. A save does it first,
   * so that a run that goes on from there and one that is restored see the same.
   */
  drain(): Promise<void> {
    return this.#runs.drain();
  }

  /**
   * Runs `body`, which saves or restores, drained, with all variables at home and no step under way: those asked for
   * before have run, those asked for meanwhile wait. It must not wait for a run of its own.
   */
  hold<T>(body: () => Promise<T>): Promise<T> {
    return this.#runs.hold(body);
  }

  /** Stops the threads. Waits for a step that is running. */
  async close(): Promise<void> {
    await this.#runs.close();
    this.#core.backend.close?.();
    await this.#pool.close();
    this.#core.trace.close();
  }
}

function modeIn(where: string, options: RunOptions): Mode | undefined {
  const { mode } = checkOptions(where, options, ['mode']);
  return mode === undefined ? undefined : checkMode(where, mode);
}
