/**
 * @file What a session is made of: its memory, variables, tables, trace and backend. The compiler and the rooms above
 * build on it through `coreOf`; users see `Session`.
 *
 * Memory: a null page, an arena that the main thread lays out, and a heap that tables grow in.
 */

import { MonolithError } from '../../base/errors.js';
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import type { Graph, Tensor } from '../../graph/graph.js';
import { GLOBAL_STEP } from '../../graph/ops/state.js';
import { Arena } from '../../memory/arena.js';
import type { BatchSchema } from '../../memory/batch.js';
import { CONTROL_BYTES } from '../../memory/control-layout.js';
import { NULL_PAGE_BYTES } from '../../memory/shared-memory.js';
import { Views } from '../../memory/views.js';
import type { TraceNames } from '../../trace/trace-names.js';
import type { OpenBackend, SettledBackend } from '../backends/backend.js';
import { instantiateKernels } from '../backends/wasm/instantiate-kernels.js';
import type { WasmKernels } from '../backends/wasm/wasm-kernels.js';
import type { SlicePlan, StepUpdate, StepWord } from '../compile/compile-environment.js';
import type { CompileTarget, LaidOutProgram } from '../compile/compiler.js';
import { queueFeeds } from '../compile/queue-uses.js';
import { checkThreads, usualThreads } from '../pool/thread-count.js';
import { layHeapOut, TableMemory, type TablePolicy } from '../tables/table-memory.js';
import { CoreOfSession } from './core-of-session.js';
import { ForeseenWords } from './foreseen-words.js';
import { type SessionOptions, specsOf } from './session-options.js';
import { SessionTrace } from './session-trace.js';
import { SessionVariables } from './session-variables.js';

/** What a core is made with; `Session.create` finds it. */
export interface CoreParts {
  readonly graph: Graph;
  readonly options: SessionOptions;
  readonly backend: OpenBackend;
  readonly memory: WasmMemory;
  readonly module: WasmModule;
  /** Memories of their own for tables. Default: the heap of `memory`. */
  readonly tables?: TableMemory | undefined;
}

export class SessionCore extends CoreOfSession implements CompileTarget {
  readonly graph: Graph;
  readonly schema: BatchSchema;
  readonly feeds: BatchSchema;
  readonly batchSize: number;
  readonly plan: SlicePlan;
  readonly seed: number;
  readonly memory: WasmMemory;
  readonly views: Views;
  readonly arena: Arena;
  /** Kernels as the main thread calls them. */
  readonly kernels: WasmKernels;
  readonly control: number;
  readonly trace: SessionTrace;
  readonly variables: SessionVariables;
  readonly tables: TableMemory;
  readonly tablePolicy: TablePolicy;
  readonly backend: SettledBackend;
  readonly #resources = new Map<object, unknown>();
  readonly #rooms = new Map<string, number>();
  readonly #onStep: { readonly update: StepUpdate; readonly words: (() => readonly StepWord[]) | undefined }[] = [];
  #foreseen: ForeseenWords | undefined;

  constructor({ graph, options, backend, memory, module, tables }: CoreParts) {
    super();
    this.graph = graph;
    this.schema = specsOf(options.schema);
    this.feeds = [...this.schema, ...queueFeeds(graph)];
    this.batchSize = options.batchSize;
    this.plan = planOf(options, backend);
    this.seed = options.seed ?? 0;
    this.memory = memory;
    this.views = new Views(memory.buffer);
    this.kernels = instantiateKernels(module, memory);
    const bytes = memory.buffer.byteLength;
    const heap = NULL_PAGE_BYTES + Math.floor((bytes - NULL_PAGE_BYTES) / 2 / 64) * 64;
    this.arena = new Arena('session', NULL_PAGE_BYTES, heap);
    layHeapOut(this.views, heap, Math.min(bytes, heap + (options.tableBytes ?? bytes)));
    const { views, kernels, arena } = this;
    this.tables = tables ?? TableMemory.of(module, { memory, views, kernels, heap });
    this.tablePolicy = options.tablePolicy ?? {};
    this.control = arena.alloc(CONTROL_BYTES, 'control');
    this.trace = new SessionTrace(views, arena, this.plan.threads, options.traceEvents ?? 0);
    this.variables = new SessionVariables(graph, views, arena);
    this.backend = backend.settle({ views, arena, trace: this.trace, variables: this.variables.addresses });
    if (this.backend.variables !== undefined) this.variables.follow(this.backend.variables);
  }

  get traceNames(): TraceNames {
    return this.trace.names;
  }

  get traceRings(): readonly number[] {
    return this.trace.poolRings;
  }

  get skipsRepeats(): boolean {
    return this.backend.skipsRepeats;
  }

  describe(program: LaidOutProgram): number {
    return this.backend.describe?.(program) ?? 0;
  }

  roomOf(feed: string): number {
    return this.#rooms.get(feed) ?? 0;
  }

  /** Has programs that are made from now on have room for so many values of ragged feeds in a slice. */
  makeRoom(rooms: ReadonlyMap<string, number>): void {
    for (const [feed, values] of rooms) this.#rooms.set(feed, Math.max(this.roomOf(feed), values));
  }

  variable(tensor: Tensor): number {
    return this.variables.address(tensor.op.name);
  }

  resource<T>(key: object, make: () => T): T {
    if (!this.#resources.has(key)) this.#resources.set(key, make());
    return this.#resources.get(key) as T;
  }

  onStep(update: StepUpdate, words?: () => readonly StepWord[]): void {
    this.#onStep.push({ update, words });
  }

  /** Whether something must be brought up to the global step before every step. */
  get followsStep(): boolean {
    return this.#onStep.length > 0;
  }

  /** Whether what follows the step can be written down for several steps at once. */
  get foreseesSteps(): boolean {
    return this.variables.has(GLOBAL_STEP) && this.#onStep.every(({ words }) => words !== undefined);
  }

  /** What follows the step, for `count` steps that count `by` each from the one at hand: a record for each command. */
  foreseeSteps(count: number, by: number): number[] {
    const { views, arena, tables, globalStep } = this;
    this.#foreseen ??= new ForeseenWords(views, arena, tables.banks);
    const words = this.#onStep.flatMap((follower) => follower.words?.() ?? []);
    return this.#foreseen.write(words, count, (step) => {
      for (const { update } of this.#onStep) update(globalStep + step * by, true);
    });
  }

  /**
   * Brings rates and what else follows the global step up to it; every step begins with that, and so does who sets the
   * step.
   */
  followGlobalStep(): void {
    const isCounted = this.variables.has(GLOBAL_STEP);
    for (const { update } of this.#onStep) update(this.globalStep, isCounted);
  }

  /** Steps trained so far; 0 when the graph has no counter. */
  get globalStep(): number {
    return this.variables.has(GLOBAL_STEP) ? Number(this.variables.read(GLOBAL_STEP)[0]) : 0;
  }
}

function planOf({ threads: asked, deterministic = false, batchSize }: SessionOptions, backend: OpenBackend): SlicePlan {
  const { threads, slices } = backend.slice({ threads: asked ?? usualThreads(), deterministic });
  checkThreads(threads);
  if (!Number.isInteger(batchSize) || batchSize < 1) {
    throw new MonolithError('ML_FLAG', { flag: 'batchSize', reason: `${batchSize} is not a number of examples` });
  }
  return { slices, threads, sliceRows: Math.ceil(batchSize / slices) };
}
