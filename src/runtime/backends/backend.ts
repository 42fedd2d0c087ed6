/**
 * @file What a backend is: how a session of it is opened and sliced, where the newest values of its variables and
 * tables are, and how a thread joins. There are three, in the folders beside this file; pool/load-backend.ts finds them
 * by name.
 *
 * What a session shares is one memory. A backend may compute in another memory of its own; then values in the session's
 * can be old, which is called away from home here.
 */

import type { MonolithError } from '../../base/errors.js';
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import type { Arena } from '../../memory/arena.js';
import type { WhenFull } from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import type { TraceNames } from '../../trace/trace-names.js';
import type { LaidOutProgram } from '../compile/compiler.js';
import type { CallableBank, CallerMemory } from './bank-calls.js';

/** `Told` is what the main thread tells those that join; it survives `postMessage`. */
export interface Backend<Options = unknown, Told = unknown> {
  readonly name: string;
  /** In the main thread: the backend, or what keeps this machine from running it. */
  open(options: Options): OpenBackend<Told> | MonolithError;
  /** In a thread of the pool. */
  join(thread: JoiningThread, told: Told): ThreadSteps | Promise<ThreadSteps>;
  /** The error of a session of another backend that was given options of this one. */
  misplaced?(backend: string): MonolithError;
}

export interface OpenBackend<Told = unknown> {
  readonly name: string;
  /** What steps run on, as people call it: the name of the processor, or of what it hands steps to. */
  readonly device: string;
  /** Whether the host runs the plain kernels, whatever else the engine could run. */
  readonly plainKernels: boolean;
  /** How a batch is cut. */
  slice(asked: AskedSlices): Slices;
  /** In the memory of a session that has its variables and no programs yet. */
  settle(place: SessionPlace): SettledBackend<Told>;
}

export interface AskedSlices {
  readonly threads: number;
  /** The same numbers whatever the number of threads. */
  readonly deterministic: boolean;
}

export interface Slices {
  readonly threads: number;
  readonly slices: number;
}

export interface SessionPlace {
  readonly views: Views;
  readonly arena: Arena;
  /** Addresses of the variables. */
  readonly variables: readonly number[];
  readonly trace: {
    readonly names: TraceNames;
    /** A ring for one more timeline; null when nothing is traced. */
    addThread(name: string): { readonly ptr: number } | null;
  };
}

/** What a backend has of one session, in the main thread. */
export interface SettledBackend<Told = unknown> {
  readonly told: Told;
  /** Whether products leave rows out that repeat. */
  readonly skipsRepeats: boolean;
  /** For a backend that changes variables in another memory. */
  readonly variables?: VariableHomes;
  /** For one that keeps tables in another memory. */
  readonly tables?: TableHomes;
  /** Writes down what its threads must know of a program beyond the program, and gives the address. */
  describe?(program: LaidOutProgram): number;
  /** The threads are about to leave. */
  close?(): void;
}

/** Variables whose newest values may be away; each is known by its address. */
export interface VariableHomes {
  isAway(address: number): boolean;
  /** Brings the values home when they are away; no step may run meanwhile. */
  bringHome(address: number, values: Float32Array | BigInt64Array): Promise<void>;
  /** The same at once: the thread waits. */
  bringHomeNow(address: number, values: Float32Array | BigInt64Array): void;
  /** The values at home were written: those away are old. */
  changed(address: number): void;
}

/** Tables whose newest rows may be away. */
export interface TableHomes {
  /** Throws with what the backend cannot do of such a table. */
  check(table: TableTraits): void;
  /** Of the empty table whose control block is at `address`. */
  add(name: string, address: number, first: FirstValues): TableHome;
}

export interface TableHome {
  readonly isHome: boolean;
  /** Rows of a table that is away; the counts of the one at home follow. */
  count(): number;
  /** All rows of a table that is away. A row is good until the next one is taken. */
  rows(): Iterable<AwayRow>;
  /** The table at home has all rows now. */
  cameHome(): void;
  /** It was written, or is about to be: what is away is old. */
  changed(): void;
  /** Throws: other threads know nothing of rows away. */
  refuseHandle(): never;
}

/** What a backend may have to refuse of a table. */
export interface TableTraits {
  readonly name: string;
  readonly serving: boolean;
  /** An admission filter keeps ids out. */
  readonly isFiltered: boolean;
  readonly recordsTouched: boolean;
  readonly whenFull: WhenFull;
  /** Its rows are in other memories than the session's. */
  readonly isApart: boolean;
  readonly segments: readonly {
    readonly optimizer: string;
    readonly roundsToHalf: boolean;
    readonly compressor: string;
  }[];
}

/** What new rows of a table begin with; of the length of a row. */
export interface FirstValues {
  readonly first: Float32Array;
  /** Where not 0, a value is drawn from `first` to `first + range`. */
  readonly range: Float32Array;
}

export interface AwayRow {
  readonly id: bigint;
  readonly lastUpdateSec: number;
  /** Weights, state, and what fills the row up. */
  readonly floats: Float32Array;
}

/** A thread as it joins a session. */
export interface JoiningThread {
  readonly thread: number;
  readonly memory: WasmMemory;
  readonly views: Views;
  readonly module: WasmModule;
  /** Memories of tables that are not in the session's own. */
  readonly banks: readonly CallableBank[];
  /**
   * Sets of touched pairs have one form in memory, which threads of whatever backend share: the kernel that inserts.
   */
  pairInsertion(): CallerMemory['kernels']['insertTouchedPairs'];
}

/** Runs one step of a thread: 0, or a STATUS of memory/program-layout.ts. */
export type RunStep = (context: number, batch: number, command: number, quiet: number) => number;

/** The steps of a thread, and what it does when there are no more. */
export interface ThreadSteps {
  readonly run: RunStep;
  close?(): void;
  /** In place of `close` after a failure. */
  abandon?(): void;
}
