/**
 * @file The code of a program while it is written: instruction lists, registers, and memory that instructions use.
 *
 * Slice code runs once per slice of the batch, over that slice's buffers; thread code runs once per thread, over ranges
 * of what all slices share. `schedule.ts` says in which stage of the step the code of an op runs.
 */
import type { Op } from '../../graph/graph.js';
import type { Kernel, Operands } from '../kernels/kernels.js';
import { Code, type FloatRegister, type Register, type StepPart } from './code.js';
import type { CompileEnvironment, Cut, SlicePlan } from './compile-environment.js';
import type { ExactRegisters, MatrixRegisters, OperandRegisters } from './registers.js';
import type { Schedule } from './schedule.js';

/**
 * Floats that thread code on completed sums never splits: results of a grain do not depend on the number of threads,
 * and no two threads write one cache line.
 */
export const COMPLETED_GRAIN = 1024;

/** A buffer for each slice of each batch in flight. */
export interface PerLease {
  at(slice: number, lease: number): number;
  /** From one slice to the next. */
  readonly sliceBytes: number;
  /** In slice code, the slice's own. */
  readonly pointer: Register;
}

/** A buffer for each batch in flight, which all of its slices share. */
export interface PerBatch {
  at(lease: number): number;
  /** In slice code and in thread code. */
  readonly inSlices: Register;
  readonly inThreads: Register;
}

/** A buffer of each lease, to be copied as a whole. */
export interface LeaseBlock {
  readonly what: string;
  readonly bytes: number;
  /** Slices that have a part of it each; 1 where they share it. */
  readonly parts: number;
  at(lease: number): number;
}

/** What whoever brings rows and takes gradients sees of a table in a cut step. */
export interface LeasedBlocks {
  readonly name: string;
  readonly dim: number;
  /** Floats from row to row. */
  readonly stride: number;
  /** Ids of a batch at the most. */
  readonly capacity: number;
  /** Undefined where rows come in parts, from several memories. */
  readonly routed: RoutedBlocks | undefined;
  /** i64 of each slice: the latest request time. */
  times: PerLease | undefined;
}

/** The ids of a batch, each once and by owner, and what goes with them. */
export interface RoutedBlocks {
  readonly owners: number;
  readonly ids: PerBatch;
  readonly ends: PerBatch;
  readonly rows: PerBatch;
  readonly gradients: PerBatch;
  readonly counts: PerBatch;
}

/** A part of consecutive floats for each thread, in registers of thread code. */
export interface ThreadRange {
  /** Address of the part in what begins at `base`. */
  at(base: number): Register;
  readonly floats: Register;
}

export class ProgramCode {
  readonly environment: CompileEnvironment;
  readonly plan: SlicePlan;
  /** How the step is cut; undefined for one in one piece. */
  readonly cut: Cut | undefined;
  readonly slice = new Code();
  readonly thread = new Code();
  /** Rows of the slice at hand, and 1/rows of the whole batch as f32. */
  readonly rows: Register;
  readonly inverseBatch: FloatRegister;
  /** The op behind each trace name of an instruction. */
  readonly instructions = new Map<number, Op>();
  /** Registers that point to the slice's rows of a buffer for the whole batch. */
  readonly fixedRows: { readonly register: Register; readonly base: number; readonly rowBytes: number }[] = [];
  readonly batchRowsRegisters: Register[] = [];
  /** The tables of a step that somebody else serves. */
  readonly leased: LeasedBlocks[] = [];
  /** All that lives from one part of a cut step to another, and is not the same for good. */
  readonly leaseBlocks: LeaseBlock[] = [];
  /** Gradients that the host pushes in a part of its own. */
  readonly pushed: PerLease[] = [];
  protected readonly schedule: Schedule;
  /** The op that is lowered: instructions and buffers are named after it. */
  protected opAtHand: Op | undefined;
  #part: StepPart = 'step';
  #stage = 0;
  readonly #scratch: { bytes: number; base: number; pointer?: Register } = { bytes: 0, base: 0 };

  constructor(environment: CompileEnvironment, schedule: Schedule, cut: Cut | undefined) {
    this.environment = environment;
    this.plan = environment.plan;
    this.cut = cut;
    this.schedule = schedule;
    this.rows = this.slice.each();
    this.inverseBatch = this.slice.eachF32();
  }

  /** Adds a kernel call to the slice code of the op's stage. */
  emit<O extends Operands, G extends OperandRegisters<O>>(
    kernel: Kernel<O>,
    operands: ExactRegisters<O, G>,
    result?: Register,
  ): void {
    const options = { traceName: this.#traceName(kernel), stage: this.#stages.slice, part: this.#part };
    this.slice.emit(kernel, operands, { ...options, ...(result !== undefined && { result }) });
  }

  /** Adds a kernel call to the thread code of the op's stage. */
  emitThread<O extends Operands, G extends OperandRegisters<O>>(
    kernel: Kernel<O>,
    operands: ExactRegisters<O, G>,
    options: { checked?: boolean; result?: Register } = {},
  ): void {
    const { thread: stage } = this.#stages;
    this.thread.emit(kernel, operands, { traceName: this.#traceName(kernel), stage, part: this.#part, ...options });
  }

  get #stages() {
    if (this.opAtHand === undefined || this.#part !== 'step') return { slice: this.#stage, thread: this.#stage + 1 };
    return this.schedule.of(this.opAtHand);
  }

  /**
   * Emits what `body` does into that part of a cut step, slice code into `stage` of it and thread code into the next;
   * into the stages of the op where the step is in one piece.
   */
  inPart<T>(part: StepPart, body: () => T, stage = 0): T {
    const outer = [this.#part, this.#stage] as const;
    if (this.cut !== undefined) this.#part = part === 'pull' && !this.cut.isServed ? 'ids' : part;
    this.#stage = stage;
    const result = body();
    [this.#part, this.#stage] = outer;
    return result;
  }

  #traceName(kernel: Kernel): number {
    const id = this.environment.traceNames.id(`${kernel.name} ${this.opAtHand?.name ?? ''}`.trimEnd(), 'kernel');
    if (this.opAtHand !== undefined) this.instructions.set(id, this.opAtHand);
    return id;
  }

  /**
   * The part of `count` floats that each thread has in thread code: addresses of it, and how many floats. `grain`
   * floats are never split; ranges of one grain are the same in every op. `bytes` is what there is for each float.
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

  alloc(bytes: number, what: string): number {
    return this.environment.arena.alloc(bytes, `${this.opAtHand?.name ?? 'program'}/${what}`);
  }

  /** A buffer of `bytes` for each slice, and the register that points to the slice's own. */
  perSlice(bytes: number, what: string): { base: number; sliceBytes: number; pointer: Register } {
    const sliceBytes = Math.ceil(bytes / 64) * 64;
    const base = this.alloc(sliceBytes * this.plan.slices, what);
    return { base, sliceBytes, pointer: this.slice.each((slice) => base + slice * sliceBytes) };
  }

  /** As perSlice, for what lives from one part of a cut step to another; `constant`: what each lease has for good. */
  perLease(bytes: number, what: string, { constant = false } = {}): PerLease {
    const sliceBytes = Math.ceil(bytes / 64) * 64;
    const block = this.#leaseBlock(sliceBytes, this.plan.slices, { what, constant });
    const at = (slice: number, lease: number) => block.at(lease) + slice * sliceBytes;
    return { at, sliceBytes, pointer: this.slice.each(at) };
  }

  /** As perLease, for what all slices of a batch share. */
  perBatch(bytes: number, what: string, { constant = false } = {}): PerBatch {
    const { at } = this.#leaseBlock(Math.ceil(bytes / 64) * 64, 1, { what, constant });
    const each = (_: number, lease: number) => at(lease);
    return { at, inSlices: this.slice.each(each), inThreads: this.thread.each(each) };
  }

  /** A block for each lease: who computes in another memory copies whole blocks. */
  #leaseBlock(partBytes: number, parts: number, { what, constant }: { what: string; constant: boolean }): LeaseBlock {
    const bytes = partBytes * parts;
    const blocks = Array.from({ length: this.leases }, () => this.alloc(bytes, what));
    const block = { what, bytes, parts, at: (lease: number) => blocks[lease]! };
    if (!constant) this.leaseBlocks.push(block);
    return block;
  }

  /** Batches that can be in flight. */
  get leases(): number {
    return this.cut?.leases ?? 1;
  }

  /** The register that points to memory which a kernel of slice code may use while it runs: a buffer per thread. */
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

  /** The thread that runs a slice. */
  threadOf(slice: number): number {
    const { slices, threads } = this.plan;
    return Math.floor(((slice + 1) * threads - 1) / slices);
  }

  /** Number of examples of the whole batch. */
  get batchRows(): Register {
    if (this.batchRowsRegisters.length === 0) this.batchRowsRegisters.push(this.slice.each());
    return this.batchRowsRegisters[0]!;
  }

  /** Index of the slice's first example in the batch. */
  get firstRow(): Register {
    return this.rowsFrom(0, 1);
  }

  /** The register that points to the first row of the slice in a buffer with rows of the whole batch. */
  protected rowsFrom(base: number, rowBytes: number): Register {
    const known = this.fixedRows.find((fixed) => fixed.base === base && fixed.rowBytes === rowBytes);
    if (known !== undefined) return known.register;
    const register = this.slice.each();
    this.fixedRows.push({ register, base, rowBytes });
    return register;
  }

  /** What stands for a matrix that there is not. */
  get noMatrix(): MatrixRegisters {
    const none = this.slice.constant(0);
    return { pointer: none, stride: none };
  }
}
