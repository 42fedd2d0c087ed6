/**
 * @file What an op's lowering sees: storage of tensors, registers, and the two instruction lists of a program.
 *
 * The slice code runs once per slice of the batch, over that slice's buffers; after a barrier the thread code runs once
 * per thread and updates what all slices share. Layers above `runtime` register lowerings for their own ops.
 */

import { misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import type { Arena } from '../memory/arena.js';
import type { Views } from '../memory/views.js';
import type { TraceNames } from '../trace/trace-names.js';
import { Code, type Register } from './code.js';
import type { Kernel } from './kernels.js';
import type { Placement } from './placement.js';
import type { TableMemory, TablePolicy } from './table-memory.js';
import type { WasmKernels } from './wasm-kernels.js';

/** A matrix operand of slice code. */
export interface Matrix {
  readonly pointer: Register;
  /** Register of the number of floats between rows. */
  readonly stride: Register;
  readonly columns: number;
}

/** Where a tensor's values are. Addresses are bytes. */
export type Storage =
  | {
      readonly kind: 'slice';
      readonly base: number;
      readonly sliceBytes: number;
      readonly stride: number;
      readonly columns: number;
    }
  | {
      readonly kind: 'feed';
      readonly feed: string;
      readonly stride: number;
      readonly columns: number;
      readonly offset: number;
    }
  | { readonly kind: 'partial'; readonly base: number; readonly sliceBytes: number; readonly count: number }
  | { readonly kind: 'global'; readonly base: number; readonly count: number }
  /** Every slice computes the same value for itself: a shared buffer would be written by several threads at once. */
  | { readonly kind: 'replicated'; readonly base: number; readonly sliceBytes: number; readonly count: number };

export interface RaggedFeed {
  readonly splits: Register;
  readonly values: Register;
  readonly count: Register;
  /** Values a slice can hold. */
  readonly capacity: number;
}

/** What a program is compiled for. */
export interface Plan {
  readonly slices: number;
  readonly threads: number;
  /** Examples a slice can hold. */
  readonly sliceRows: number;
}

/** What the session lends to the compiler. */
export interface CompileEnvironment {
  readonly plan: Plan;
  readonly views: Views;
  readonly arena: Arena;
  readonly traceNames: TraceNames;
  /** Kernels as the main thread calls them. */
  readonly kernels: WasmKernels;
  /** Address of a variable's values. */
  variable(tensor: Tensor): number;
  /** What belongs to the session and not to one program, made on first use. */
  resource<T>(key: object, make: (session: CompileEnvironment) => T): T;
  /** First byte of the heap that tables grow in. */
  readonly heap: number;
  /** Where tables live. */
  readonly tables: TableMemory;
  readonly tablePolicy: TablePolicy;
  readonly seed: number;
  /** Calls `update` with the global step before every run: learning rates and the like. */
  onStep(update: (globalStep: number) => void): void;
}

export type Lower<A> = (op: Op<A>, context: LoweringContext) => void;
const lowerings = new Map<OpDef<unknown>, Lower<unknown>>();

/** Says how an op becomes kernel calls. `accumulates`: it can add to its output. `strided`: its output may be columns of a wider matrix. */
export function registerLowering<A>(
  def: OpDef<A>,
  lower: Lower<A>,
  traits: { accumulates?: boolean; strided?: boolean } = {},
): void {
  lowerings.set(def as OpDef<unknown>, lower as Lower<unknown>);
  if (traits.accumulates) accumulating.add(def as OpDef<unknown>);
  if (traits.accumulates || traits.strided) strided.add(def as OpDef<unknown>);
}
export const accumulating = new Set<OpDef<unknown>>();
export const strided = new Set<OpDef<unknown>>();

export function lowerOp(op: Op, context: LoweringContext): void {
  const lower = lowerings.get(op.def);
  if (lower === undefined) throw misfit(op.name, `the runtime cannot run ops of type ${op.type}`);
  lower(op, context);
}

/** A dense or ragged feed of the program: which registers its address goes to. */
export interface FeedUse {
  readonly tensor: Tensor;
  readonly registers: { register: Register; offset: number }[];
  readonly ragged?: RaggedFeed;
}

export class LoweringContext {
  readonly environment: CompileEnvironment;
  readonly plan: Plan;
  readonly slice = new Code();
  readonly thread = new Code();
  /** Rows of the slice at hand, and 1/rows of the whole batch as f32. */
  readonly rows: Register;
  readonly inverseBatch: Register;
  readonly feeds = new Map<string, FeedUse>();
  readonly ops: readonly Op[];
  readonly #placement: Placement;
  readonly #storage = new Map<Tensor, Storage>();
  readonly #written = new Set<Tensor>();
  readonly #lowered = new Set<Op>();
  readonly #shared = new Map<object, unknown>();
  readonly #computing = new Set<Op>();
  readonly #updating = new Set<Op>();
  #op: Op | undefined;

  constructor(environment: CompileEnvironment, ops: readonly Op[], placement: Placement) {
    this.environment = environment;
    this.plan = environment.plan;
    this.ops = ops;
    this.#placement = placement;
    this.rows = this.slice.each();
    this.inverseBatch = this.slice.each();
  }

  /** Lowers an op once, with instructions named after it. A lowering may call it for ops it needs early. */
  lower(op: Op): void {
    if (this.#lowered.has(op)) return;
    this.#lowered.add(op);
    const outer = this.#op;
    this.#op = op;
    lowerOp(op, this);
    this.#op = outer;
  }

  /** What the lowerings of one program share under a key, made on first use. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }

  emit(kernel: Kernel, operands: readonly Register[], result?: Register): void {
    if (this.#op !== undefined) this.#computing.add(this.#op);
    this.slice.emit(kernel, operands, { traceName: this.#traceName(kernel), ...(result !== undefined && { result }) });
  }

  emitThread(kernel: Kernel, operands: readonly Register[], options: { checked?: boolean } = {}): void {
    if (this.#op !== undefined) this.#updating.add(this.#op);
    this.thread.emit(kernel, operands, { traceName: this.#traceName(kernel), ...options });
  }

  /**
   * Updates run after all slices, so nothing that slices compute can run after an update of the same step. An op that was
   * asked to (by a control dependency) is refused rather than run too early.
   */
  checkPhases(): void {
    const after = new Map<Op, Op>();
    for (const op of this.ops) {
      const before = [...op.inputs.map((input) => input.op), ...op.controlInputs];
      const updates = before.map((input) => (this.#updating.has(input) ? input : after.get(input)));
      const update = updates.find((found) => found !== undefined);
      if (update === undefined) continue;
      after.set(op, update);
      if (this.#computing.has(op) && !this.#updating.has(op)) {
        throw misfit(op.name, `it cannot run after ${update.name} in one step: updates come last`);
      }
    }
  }

  #traceName(kernel: Kernel): number {
    return this.environment.traceNames.id(`${kernel.name} ${this.#op?.name ?? ''}`.trimEnd(), 'kernel');
  }

  alloc(bytes: number, what: string): number {
    return this.environment.arena.alloc(bytes, `${this.#op?.name ?? 'program'}/${what}`);
  }

  /** A buffer of `bytes` for each slice, and the register that points to the slice's own. */
  perSlice(bytes: number, what: string): { base: number; sliceBytes: number; pointer: Register } {
    const sliceBytes = Math.ceil(bytes / 64) * 64;
    const base = this.alloc(sliceBytes * this.plan.slices, what);
    return { base, sliceBytes, pointer: this.slice.each((slice) => base + slice * sliceBytes) };
  }

  storage(tensor: Tensor): Storage {
    const storage = this.#storage.get(tensor);
    if (storage === undefined) throw misfit(tensor.name, 'it is used before it is made');
    return storage;
  }

  setStorage(tensor: Tensor, storage: Storage): void {
    this.#storage.set(tensor, storage);
  }

  /** A tensor as an operand; what has no row per example is one row. */
  matrix(tensor: Tensor): Matrix {
    return this.matrixOf(this.storage(tensor));
  }

  matrixOf(storage: Storage): Matrix {
    switch (storage.kind) {
      case 'slice': {
        const { base, sliceBytes, stride, columns } = storage;
        return {
          pointer: this.slice.each((slice) => base + slice * sliceBytes),
          stride: this.slice.constant(stride),
          columns,
        };
      }
      case 'feed': {
        const pointer = this.slice.each();
        this.feeds.get(storage.feed)!.registers.push({ register: pointer, offset: storage.offset });
        return { pointer, stride: this.slice.constant(storage.stride), columns: storage.columns };
      }
      case 'global':
      case 'partial':
      case 'replicated': {
        const { count } = storage;
        return { pointer: this.#pointerOf(storage), stride: this.slice.constant(count), columns: count };
      }
      default:
        return storage satisfies never;
    }
  }

  /** Rows of the matrix that `matrix` or `output` gives: those of the slice, or one for what has no row per example. */
  rowsOf(tensor: Tensor): Register {
    return tensor.perExample ? this.rows : this.slice.constant(1);
  }

  /** Address of a tensor without rows per example in slice code. */
  pointer(tensor: Tensor): Register {
    const storage = this.storage(tensor);
    if (storage.kind === 'slice' || storage.kind === 'feed') {
      throw misfit(tensor.name, 'a value that all examples share is needed here');
    }
    return this.#pointerOf(storage);
  }

  #pointerOf(storage: Exclude<Storage, { kind: 'slice' | 'feed' }>): Register {
    if (storage.kind === 'global') return this.slice.constant(storage.base);
    const { base, sliceBytes } = storage;
    return this.slice.each((slice) => base + slice * sliceBytes);
  }

  /** Storage for a tensor this op makes: its own, or the place its only consumer wants it in. */
  allocate(tensor: Tensor): Storage {
    const known = this.#storage.get(tensor);
    if (known !== undefined) return known;
    const storage = this.#allocate(tensor);
    this.#storage.set(tensor, storage);
    return storage;
  }

  #allocate(tensor: Tensor): Storage {
    const place = this.#placement.of(tensor);
    if (place !== undefined) {
      const into = this.allocate(place.into);
      if (into.kind !== 'slice') throw new Error('only per-example tensors are placed');
      return { ...into, base: into.base + place.column * 4, columns: tensor.columns };
    }
    const count = tensor.columns;
    if (tensor.perExample) {
      const { base, sliceBytes } = this.perSlice(this.plan.sliceRows * count * 4, tensor.name);
      return { kind: 'slice', base, sliceBytes, stride: count, columns: count };
    }
    const { base, sliceBytes } = this.perSlice(count * 4, tensor.name);
    return { kind: tensor.spec.partial ? 'partial' : 'replicated', base, sliceBytes, count };
  }

  /** The op's output as an operand, and whether it must be added to what is there (1) or overwrite it (0). */
  output(tensor: Tensor): Matrix & { readonly accumulate: Register } {
    const matrix = this.matrixOf(this.allocate(tensor));
    const sum = this.#placement.sumOf(tensor);
    const accumulate = sum !== undefined && this.#written.has(sum) ? 1 : 0;
    if (sum !== undefined) this.#written.add(sum);
    return { ...matrix, accumulate: this.slice.constant(accumulate) };
  }

  /** Whether some placed term of the sum has been written already; afterwards it counts as written. */
  startSum(sum: Tensor): boolean {
    const started = this.#written.has(sum);
    this.#written.add(sum);
    return started;
  }

  isPlaced(tensor: Tensor): boolean {
    return this.#placement.of(tensor) !== undefined;
  }

  useFeed(tensor: Tensor, use: FeedUse): void {
    this.feeds.set(tensor.op.name, use);
  }

  ragged(tensor: Tensor): RaggedFeed {
    const ragged = this.feeds.get(tensor.op.name)?.ragged;
    if (ragged === undefined) throw misfit(tensor.name, 'a ragged placeholder is needed here');
    return ragged;
  }
}

/** Pointer and stride of each matrix, as kernels take them. */
export function operands(...matrices: readonly Matrix[]): Register[] {
  return matrices.flatMap(({ pointer, stride }) => [pointer, stride]);
}

/** The lowering of ops of two inputs whose kernel takes both, the output, rows, columns of a row, and the accumulate flag. */
export function pairwise(kernel: Kernel): (op: Op<unknown>, context: LoweringContext) => void {
  return (op, context) => {
    const [a, b] = [context.matrix(op.inputs[0]!), context.matrix(op.inputs[1]!)];
    const out = context.output(op.output);
    // Rows are as wide as their widest matrix: a dot product has a narrow output, a factor per row is a narrow input.
    const columns = context.slice.constant(Math.max(a.columns, b.columns));
    context.emit(kernel, [...operands(a, b, out), context.rowsOf(op.output), columns, out.accumulate]);
  };
}
