/**
 * @file What an op's lowering sees: storage of tensors, registers, and the instruction lists of a program.
 *
 * Slice code runs once per slice of the batch, over that slice's buffers; thread code runs once per thread, over ranges of
 * what all slices share. `schedule.ts` says in which stage of the step the code of an op runs.
 */

import { located, misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import type { ColumnsAttrs } from '../../graph/ops/columns.js';
import type { Kernel, Operands } from '../kernels/kernels.js';
import { Code, type FloatRegister, type Register } from './code.js';
import type { CompileEnvironment, FeedUse, Plan, RaggedFeed } from './compile-environment.js';
import { type LoweringTraits, setTraits, trains } from './lowering-traits.js';
import type { Placement } from './placement.js';
import type { ExactRegisters, MatrixRegisters, OperandRegisters } from './registers.js';
import type { Schedule } from './schedule.js';
import type { Matrix, Storage } from './storage.js';

export type { CompileEnvironment, FeedUse, Plan, RaggedFeed, StepUpdate } from './compile-environment.js';
export type { LoweringTraits, Phase } from './lowering-traits.js';
export type { Matrix, Storage } from './storage.js';

/**
 * Floats that thread code on completed sums never splits: results of a grain do not depend on the number of threads, and
 * no two threads write one cache line.
 */
export const COMPLETED_GRAIN = 1024;

/** A part of consecutive floats for each thread, in registers of thread code. */
export interface ThreadRange {
  /** Address of the part in what begins at `base`. */
  at(base: number): Register;
  readonly floats: Register;
}

/** How an op becomes kernel calls. */
export type Lower<A> = (op: Op<A>, context: LoweringContext) => void;

const lowerings = new Map<OpDef<unknown>, Lower<unknown>>();

/** Says how ops of a type become kernel calls. Layers above `runtime` do so for ops of their own. */
export function registerLowering<A>(def: OpDef<A>, lower: Lower<A>, traits: LoweringTraits<A> = {}): void {
  setTraits(def, traits);
  lowerings.set(def as OpDef<unknown>, lower as Lower<unknown>);
}

export class LoweringContext {
  readonly environment: CompileEnvironment;
  readonly plan: Plan;
  readonly slice = new Code();
  readonly thread = new Code();
  /** Rows of the slice at hand, and 1/rows of the whole batch as f32. */
  readonly rows: Register;
  readonly inverseBatch: FloatRegister;
  readonly feeds = new Map<string, FeedUse>();
  /** The op behind each trace name of an instruction. */
  readonly instructions = new Map<number, Op>();
  /** Registers that point to the slice's rows of a buffer for the whole batch. */
  readonly fixedRows: { readonly register: Register; readonly base: number; readonly rowBytes: number }[] = [];
  readonly batchRowsRegisters: Register[] = [];
  readonly ops: readonly Op[];
  /** Whether the program updates something. One that does not evaluates or predicts, and dropout is off in it. */
  readonly trains: boolean;
  readonly #placement: Placement;
  readonly #schedule: Schedule;
  readonly #storage = new Map<Tensor, Storage>();
  readonly #written = new Set<Tensor>();
  readonly #lowered = new Set<Op>();
  readonly #shared = new Map<object, unknown>();
  readonly #scratch: { bytes: number; base: number; pointer?: Register } = { bytes: 0, base: 0 };
  #op: Op | undefined;

  constructor(environment: CompileEnvironment, schedule: Schedule, placement: Placement) {
    this.environment = environment;
    this.plan = environment.plan;
    this.ops = schedule.order;
    this.trains = trains(this.ops);
    this.#schedule = schedule;
    this.#placement = placement;
    this.rows = this.slice.each();
    this.inverseBatch = this.slice.eachF32();
  }

  /**
   * Lowers an op once, with instructions named after it. A lowering may call it for ops it needs early. What fails names the
   * op and the line that made it.
   */
  lower(op: Op): void {
    if (this.#lowered.has(op)) return;
    this.#lowered.add(op);
    const outer = this.#op;
    this.#op = op;
    try {
      const lower = lowerings.get(op.def);
      if (lower === undefined) throw misfit(op, `the runtime cannot run ops of type ${op.type}`);
      lower(op, this);
    } catch (error) {
      throw located(error, op);
    }
    this.#op = outer;
  }

  /** What the lowerings of one program share under a key, made on first use. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }

  /** Adds a kernel call to the slice code of the op's stage. */
  emit<O extends Operands, G extends OperandRegisters<O>>(
    kernel: Kernel<O>,
    operands: ExactRegisters<O, G>,
    result?: Register,
  ): void {
    const options = { traceName: this.#traceName(kernel), stage: this.#stages.slice };
    this.slice.emit(kernel, operands, { ...options, ...(result !== undefined && { result }) });
  }

  /** Adds a kernel call to the thread code of the op's stage. */
  emitThread<O extends Operands, G extends OperandRegisters<O>>(
    kernel: Kernel<O>,
    operands: ExactRegisters<O, G>,
    options: { checked?: boolean } = {},
  ): void {
    this.thread.emit(kernel, operands, { traceName: this.#traceName(kernel), stage: this.#stages.thread, ...options });
  }

  get #stages() {
    return this.#op === undefined ? { slice: 0, thread: 1 } : this.#schedule.of(this.#op);
  }

  /**
   * The part of `count` floats that each thread has in thread code: addresses of it, and how many floats. `grain` floats
   * are never split; ranges of one grain are the same in every op. `bytes` is what there is for each float.
   */
  threadRange(count: number, grain = COMPLETED_GRAIN, bytes = 4): ThreadRange {
    const { thread, plan } = this;
    const grains = Math.ceil(count / grain);
    const begin = (index: number) => Math.min(count, Math.floor((grains * index) / plan.threads) * grain);
    return {
      at: (base) => thread.each((index) => base + begin(index) * bytes),
      floats: thread.each((index) => begin(index + 1) - begin(index)),
    };
  }

  #traceName(kernel: Kernel): number {
    const id = this.environment.traceNames.id(`${kernel.name} ${this.#op?.name ?? ''}`.trimEnd(), 'kernel');
    if (this.#op !== undefined) this.instructions.set(id, this.#op);
    return id;
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

  /** The register that points to memory which kernels of slice code may use while they run: one buffer for each thread. */
  scratch(bytes: number): Register {
    const scratch = this.#scratch;
    scratch.bytes = Math.max(scratch.bytes, Math.ceil(bytes / 64) * 64);
    // The largest need is known when registers get their values.
    scratch.pointer ??= this.slice.each((slice) => {
      scratch.base ||= this.alloc(scratch.bytes * this.plan.threads, 'scratch');
      return scratch.base + this.threadOf(slice) * scratch.bytes;
    });
    return scratch.pointer;
  }

  storage(tensor: Tensor): Storage {
    const storage = this.#storage.get(tensor);
    if (storage === undefined) throw misfit(tensor, 'it is used before it is made');
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
      case 'whole': {
        const { base, stride, columns } = storage;
        return { pointer: this.#rowsFrom(base, stride * 4), stride: this.slice.constant(stride), columns };
      }
      case 'global':
      case 'partial':
      case 'replicated':
      case 'copies': {
        const { count } = storage;
        return { pointer: this.#pointerOf(storage), stride: this.slice.constant(count), columns: count };
      }
      default:
        return storage satisfies never;
    }
  }

  /** Number of examples of the whole batch. */
  get batchRows(): Register {
    if (this.batchRowsRegisters.length === 0) this.batchRowsRegisters.push(this.slice.each());
    return this.batchRowsRegisters[0]!;
  }

  /** Index of the slice's first example in the batch. */
  get firstRow(): Register {
    return this.#rowsFrom(0, 1);
  }

  #rowsFrom(base: number, rowBytes: number): Register {
    const known = this.fixedRows.find((fixed) => fixed.base === base && fixed.rowBytes === rowBytes);
    if (known !== undefined) return known.register;
    const register = this.slice.each();
    this.fixedRows.push({ register, base, rowBytes });
    return register;
  }

  /** Rows of the matrix that `matrix` or `output` gives: those of the slice, or one for what has no row per example. */
  rowsOf(tensor: Tensor): Register {
    return tensor.perExample ? this.rows : this.slice.constant(1);
  }

  /** Rows and columns of the matrix that `matrix` or `output` gives, as kernels take them. */
  sizeOf(tensor: Tensor): { readonly rows: Register; readonly cols: Register } {
    return { rows: this.rowsOf(tensor), cols: this.slice.constant(tensor.columns) };
  }

  /** What stands for a matrix that there is not. */
  get noMatrix(): MatrixRegisters {
    const none = this.slice.constant(0);
    return { pointer: none, stride: none };
  }

  /** Address of a tensor without rows per example in slice code, or of the float with that number in it. */
  pointer(tensor: Tensor, from = 0): Register {
    const storage = this.storage(tensor);
    if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
      throw misfit(tensor, 'a value that all examples share is needed here');
    }
    return this.#pointerOf(storage, from);
  }

  #pointerOf(storage: Exclude<Storage, { kind: 'slice' | 'feed' | 'whole' }>, from = 0): Register {
    const base = storage.base + from * 4;
    if (storage.kind === 'global') return this.slice.constant(base);
    if (storage.kind === 'copies') {
      const { threadBytes } = storage;
      return this.slice.each((slice) => base + this.threadOf(slice) * threadBytes);
    }
    const { sliceBytes } = storage;
    return this.slice.each((slice) => base + slice * sliceBytes);
  }

  /** The thread that runs a slice. */
  threadOf(slice: number): number {
    const { slices, threads } = this.plan;
    return Math.floor(((slice + 1) * threads - 1) / slices);
  }

  /** Storage for what thread code makes once for everybody. */
  allocateGlobal(tensor: Tensor): { readonly base: number; readonly count: number } {
    const count = tensor.columns;
    const storage = { kind: 'global', base: this.alloc(count * 4, tensor.name), count } as const;
    this.#storage.set(tensor, storage);
    return storage;
  }

  /** Storage for what every thread makes for itself, and the register of thread code that points to its own. */
  allocateCopies(tensor: Tensor): Register {
    const count = tensor.columns;
    const threadBytes = Math.ceil((count * 4) / 64) * 64;
    const base = this.alloc(threadBytes * this.plan.threads, tensor.name);
    this.#storage.set(tensor, { kind: 'copies', base, threadBytes, count });
    return this.threadPointer(tensor);
  }

  /** Address of a whole tensor in thread code: one that all examples share and that is no sum still to be completed. */
  threadPointer(tensor: Tensor): Register {
    const storage = this.storage(tensor);
    switch (storage.kind) {
      case 'copies':
        return this.thread.each((index) => storage.base + index * storage.threadBytes);
      case 'global':
      case 'replicated':
        return this.thread.constant(storage.base);
      default:
        throw misfit(tensor, 'a value that all examples share is needed here');
    }
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
    const { storage, adds } = this.outputStorage(tensor);
    return { ...this.matrixOf(storage), accumulate: this.slice.constant(adds ? 1 : 0) };
  }

  /** As `output`, for ops that hand addresses to their kernel in memory. */
  outputStorage(tensor: Tensor): { readonly storage: Storage; readonly adds: boolean } {
    const storage = this.allocate(tensor);
    const sum = this.#placement.sumOf(tensor);
    return { storage, adds: sum !== undefined && this.startSum(sum) };
  }

  /** Whether some placed term of the sum has been written already; afterwards it counts as written. */
  startSum(sum: Tensor): boolean {
    const started = this.#written.has(sum);
    this.#written.add(sum);
    return started;
  }

  /** Whether the tensor is written straight into `into`, at that column. */
  isPlaced(tensor: Tensor, into: Tensor, column = 0): boolean {
    const place = this.#placement.of(tensor);
    return place?.into === into && place.column === column;
  }

  /** The Columns that the op of `tensor` writes one by one, or undefined when it writes the tensor. */
  partsOf(tensor: Tensor): readonly Op<ColumnsAttrs>[] | undefined {
    return this.#placement.partsOf(tensor);
  }

  /** The ops that use a tensor; undefined when somebody fetches it. */
  usersOf(tensor: Tensor): readonly Op[] | undefined {
    return this.#placement.usersOf(tensor);
  }

  /** Whether the slice code of two ops runs in the same stage. */
  runTogether(a: Op, b: Op): boolean {
    return this.#schedule.of(a).slice === this.#schedule.of(b).slice;
  }

  /** Whether the thread code of two ops does. */
  finishTogether(a: Op, b: Op): boolean {
    return this.#schedule.of(a).thread === this.#schedule.of(b).thread;
  }

  /** The op that alone uses a tensor; undefined when there are others, or somebody fetches it. */
  onlyUserOf(tensor: Tensor): Op | undefined {
    return this.#placement.onlyUserOf(tensor);
  }

  /** Gives `output` the storage of `input`, if neither has a place elsewhere and nobody reads `input` later. */
  writeOver(input: Tensor, output: Tensor): void {
    const storage = this.storage(input);
    const isApart = this.#placement.of(input) === undefined && this.#placement.of(output) === undefined;
    if (isApart && storage.kind === 'slice' && this.onlyUserOf(input) !== undefined) this.#storage.set(output, storage);
  }

  /** Whether nobody puts this assembled tensor together: who uses it takes its parts. */
  isLoose(tensor: Tensor): boolean {
    return this.#placement.isLoose(tensor);
  }

  useFeed(tensor: Tensor, use: FeedUse): void {
    this.feeds.set(tensor.op.name, use);
  }

  ragged(tensor: Tensor): RaggedFeed {
    const ragged = this.feeds.get(tensor.op.name)?.ragged;
    if (ragged === undefined) throw misfit(tensor, 'a ragged placeholder is needed here');
    return ragged;
  }
}
