/**
 * @file What a program is compiled for and with: the plan of a session, what it lends to the compiler, and feeds in
 * use.
 */
import type { Tensor } from '../../graph/graph.js';
import type { Arena } from '../../memory/arena.js';
import type { Views } from '../../memory/views.js';
import type { TraceNames } from '../../trace/trace-names.js';
import type { Register } from './code.js';

export interface RaggedFeed {
  readonly splits: Register;
  readonly values: Register;
  readonly count: Register;
  /** Values a slice can hold in this program; of a batch that needs more, one with more room is made. */
  readonly capacity: number;
  readonly most: RaggedMost;
}

/** What a batch may have of a ragged feed: so many values per row on average, or so many in one row. */
export type RaggedMost = { readonly perRow: number } | { readonly inRow: number };

/** What a program is compiled for. */
export interface SlicePlan {
  readonly slices: number;
  readonly threads: number;
  /** Examples a slice can hold. */
  readonly sliceRows: number;
}

/** A step that is cut where rows come in and where gradients go out. */
export interface Cut {
  /** Batches that can be in flight: each has a lease of the buffers between the parts. */
  readonly leases: number;
  /** Whether somebody else than the threads brings rows and takes gradients: the part that pulls is then by itself. */
  readonly isServed: boolean;
  /** How many have the rows, then. */
  readonly owners: number;
}

/** `isCounted` is false when the graph counts no steps; the step is then 0 for good. */
/** A word of 32 bits that follows the global step. */
export interface StepWord {
  readonly views: Views;
  readonly address: number;
}

export type StepUpdate = (globalStep: number, isCounted: boolean) => void;

/** Memory that kernels need beside their operands, as they say themselves. */
export interface KernelSizes {
  gemmScratchBytes(m: number, n: number, k: number): number;
  gemmRepeatsScratchBytes(m: number, n: number, k: number, fields: number, widest: number): number;
  gemmRepeatsGradScratchBytes(m: number, n: number, k: number, fields: number, widest: number): number;
  uniqueTableCells(ids: number): number;
}

/** What the session lends to the compiler. */
export interface CompileEnvironment {
  readonly plan: SlicePlan;
  readonly views: Views;
  readonly arena: Arena;
  readonly traceNames: TraceNames;
  readonly kernels: KernelSizes;
  /** Values that a slice of a batch has had of a ragged feed: room for as many is made from the start. */
  roomOf(feed: string): number;
  /** Address of a variable's values. */
  variable(tensor: Tensor): number;
  /** What belongs to the session and not to one program, made on first use. */
  resource<T>(key: object, make: () => T): T;
  /** Whether products leave rows out that repeat. */
  readonly skipsRepeats: boolean;
  readonly seed: number;
  /** Calls `update` with the global step before every run: learning rates and the like. */
  /** `words` are all that it writes: with them known, steps can run in groups. */
  onStep(update: StepUpdate, words?: () => readonly StepWord[]): void;
}

/** A dense or ragged feed of the program: which registers its address goes to. */
export interface FeedUse {
  readonly tensor: Tensor;
  readonly registers: { register: Register; offset: number }[];
  readonly ragged?: RaggedFeed;
}
