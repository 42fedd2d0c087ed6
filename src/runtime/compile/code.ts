/**
 * @file Builds the instruction lists and the register file that kernels run on; assembly/program.ts runs them.
 *
 * A register gets its first value per index (slice or thread) when the program is laid out in memory. What changes per
 * step is written by the batch binding or by an instruction's result.
 *
 * The code of a step may be cut into parts that run by themselves, and a part for several batches in flight: there is a
 * register file for each lease of the step, and all parts of the step see that of the lease they run for.
 */
import type { Arena } from '../../memory/arena.js';
import type { Views } from '../../memory/views.js';
import type { Kernel, Operands } from '../kernels/kernels.js';
import {
  type ExactRegisters,
  type FloatRegister,
  type OperandRegisters,
  type Register,
  registersOf,
} from './registers.js';

export type { FloatRegister, Register } from './registers.js';

type Initial = (index: number, lease: number) => number;

/**
 * The parts of a step: its ids, the rows of them, the computation with the update of variables, and the update of
 * tables. A step in one piece has `step` alone.
 */
export type StepPart = 'ids' | 'pull' | 'step' | 'push';

/** The instructions of one stage. */
export interface CodeList {
  readonly part: StepPart;
  readonly stage: number;
  readonly begin: number;
  readonly end: number;
}

export class Code {
  /** Register 0 is never used: as a result it means "none". */
  readonly #initial: Initial[] = [() => 0];
  readonly #placed: { register: Register; use: (addresses: readonly number[]) => void }[] = [];
  readonly #constants = new Map<string, Register>();
  readonly #lists = new Map<string, { readonly part: StepPart; readonly stage: number; readonly words: number[] }>();
  /** Registers that instructions write, of whatever part. */
  readonly results = new Set<Register>();
  /** Those of them that the parts before the step write. */
  readonly handedOn = new Set<Register>();
  readonly #bits = new DataView(new ArrayBuffer(4));

  /** A register that holds the same value for every index. */
  constant(value: number): Register {
    const key = `u${value}`;
    let register = this.#constants.get(key);
    if (register === undefined) {
      register = this.each(() => value);
      this.#constants.set(key, register);
    }
    return register;
  }

  constantF32(value: number): FloatRegister {
    return asFloat(this.constant(this.#bitsOf(value)));
  }

  /** A register with a value per index, or one that a step fills in. */
  each(initial: Initial = () => 0): Register {
    return (this.#initial.push(initial) - 1) as Register;
  }

  /** As `each`, for floats. */
  eachF32(initial: Initial = () => 0): FloatRegister {
    return asFloat(this.each((index, lease) => this.#bitsOf(initial(index, lease))));
  }

  /** A register whose value changes between steps: once it is laid out, `use` gets its address for every index. */
  cell(value: number, use: (addresses: readonly number[]) => void): Register {
    const register = this.each(() => value);
    this.#placed.push({ register, use });
    return register;
  }

  cellF32(value: number, use: (addresses: readonly number[]) => void): FloatRegister {
    return asFloat(this.cell(this.#bitsOf(value), use));
  }

  #bitsOf(value: number): number {
    this.#bits.setFloat32(0, value);
    return this.#bits.getUint32(0);
  }

  /**
   * Adds a call. `operands` are named as the kernel names them; what is missing, left over or misspelt does not
   * compile.
   */
  emit<O extends Operands, G extends OperandRegisters<O>>(
    kernel: Kernel<O>,
    operands: ExactRegisters<O, G>,
    options: {
      readonly traceName: number;
      readonly result?: Register;
      readonly checked?: boolean;
      readonly stage?: number;
      readonly part?: StepPart;
    },
  ): void {
    const registers = registersOf(kernel, operands);
    const head = kernel.opcode | (registers.length << 12) | (options.checked ? 1 << 20 : 0);
    const { stage = 0, part = 'step' } = options;
    const key = `${part} ${stage}`;
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = { part, stage, words: [] };
      this.#lists.set(key, list);
    }
    if (options.result !== undefined) {
      this.results.add(options.result);
      if (part === 'ids' || part === 'pull') this.handedOn.add(options.result);
    }
    list.words.push(head, options.traceName, options.result ?? 0, ...registers);
  }

  /** Writes the instructions to memory: a list for each stage that has any, in no particular order. */
  writeCode(views: Views, arena: Arena, what: string): CodeList[] {
    return [...this.#lists.values()].map(({ part, stage, words }) => {
      const begin = arena.alloc(words.length * 4, `${what} of stage ${stage}`);
      views.u32.set(words, begin / 4);
      return { part, stage, begin, end: begin + words.length * 4 };
    });
  }

  /** Writes `count` register files for each of `leases`, one lease after the other, and returns where they are. */
  writeRegisters(
    views: Views,
    arena: Arena,
    { count, leases, what }: { readonly count: number; readonly leases: number; readonly what: string },
  ): { readonly begin: number; readonly stride: number } {
    const stride = Math.ceil((this.#initial.length * 4) / 64) * 64;
    const begin = arena.alloc(stride * count * leases, what);
    for (let file = 0; file < count * leases; file++) {
      const lease = Math.floor(file / count);
      this.#initial.forEach((initial, register) => {
        views.u32[(begin + file * stride) / 4 + register] = initial(file % count, lease) >>> 0;
      });
    }
    for (const { register, use } of this.#placed) {
      use(Array.from({ length: count * leases }, (_, file) => begin + file * stride + register * 4));
    }
    return { begin, stride };
  }
}

const asFloat = (register: Register) => register as number as FloatRegister;
