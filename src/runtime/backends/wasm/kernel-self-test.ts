/**
 * @file Start-up test of a build of the kernels: right to the bit where bits are promised, and quick.
 *
 * Runs each kernel once on fixed numbers, in the compiler's final form, so that is what every thread runs afterwards.
 * A few milliseconds, most of them compilation that the first step would need anyway.
 */
import type { WasmModule } from '../../../base/wasm-types.js';
import { createSharedMemory } from '../../../memory/shared-memory.js';
import { Views } from '../../../memory/views.js';
import { gemmF32 } from '../reference/dense/gemm.js';
import { gemmRepeatsF32, gemmRepeatsGradF32 } from '../reference/dense/gemm-repeats.js';
import { applyAdagradF32 } from '../reference/dense/optimizers.js';
import type { DenseKernels } from './calls/dense.js';
import { instantiateKernels } from './instantiate-kernels.js';

/** A product; every path of the kernel has one, and odd ends along each side. */
interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transposed: 'a' | 'b' | null;
  /** 1 adds to what is there, which is a function of its own. */
  readonly acc: 0 | 1;
}

const PRODUCTS: readonly Product[] = [
  { m: 7, n: 19, k: 5, transposed: null, acc: 0 },
  { m: 8, n: 32, k: 10, transposed: 'a', acc: 1 },
  { m: 6, n: 20, k: 6, transposed: 'b', acc: 0 },
  { m: 2, n: 18, k: 6, transposed: 'b', acc: 1 },
  { m: 17, n: 1, k: 5, transposed: 'a', acc: 0 },
];
/**
 * A product of rows that repeat: a field of three ids in columns 1 to 8, in two whole blocks of outputs and an odd end.
 */
const REPEATED = { rows: 14, outputs: 70, inputs: 9, column: 1, columns: 8, ids: 3 } as const;
/** Large enough to tell a spilling inner loop from a good one, small enough for well under a millisecond. */
const TIMED: Product = { m: 96, n: 64, k: 256, transposed: null, acc: 1 };
const TIMED_TURNS = 8;
const ADAGRAD_COUNT = 77;
const MEMORY_BYTES = 4 << 20;
/** Operands lie in regions of their own, so that what one product leaves behind does not matter to the next. */
const [A, B, C, SCRATCH] = [1, 2, 3, 4].map((part) => (part * MEMORY_BYTES) / 8) as [number, number, number, number];

/** How numbers are drawn: any, or so few bits that every sum of products is exact, fused or not. */
type Draw = 'any' | 'exact';

export class KernelSelfTest {
  readonly #views: Views;
  readonly #kernels: DenseKernels;

  constructor(module: WasmModule) {
    const memory = createSharedMemory(MEMORY_BYTES);
    this.#views = new Views(memory.buffer);
    this.#kernels = instantiateKernels(module, memory);
  }

  /** What differs from the plain kernels where it must not, or null. */
  mismatch(): string | null {
    const product = PRODUCTS.findIndex((product) => {
      const expected = this.#run(product, 'exact', (args) => gemmF32(this.#views, ...args));
      return !same(this.#product(product, 'exact'), expected);
    });
    if (product >= 0) return `matrix product ${product} of the self-test is wrong`;
    if (!same(this.#repeated(this.#kernels), this.#repeated(plainRepeats(this.#views)))) {
      return 'the product of repeated rows of the self-test is wrong';
    }
    const step = this.#adagrad((w, n, g) => this.#kernels.applyAdagradF32(w, n, g, ADAGRAD_COUNT, 0.05, 0.01));
    const expected = this.#adagrad((w, n, g) => applyAdagradF32(this.#views, w, n, g, ADAGRAD_COUNT, 0.05, 0.01));
    return same(step, expected) ? null : 'the Adagrad step of the self-test is wrong';
  }

  /** Whether products of any numbers have the same bits as those of `other`. */
  equals(other: KernelSelfTest): boolean {
    return PRODUCTS.every((product) => same(this.#product(product, 'any'), other.#product(product, 'any')));
  }

  /** Time of a product over that of `other`, both at their best of a few turns. */
  timeOver(other: KernelSelfTest, now: () => number): number {
    const calls = [this, other].map((test) => test.#call(TIMED));
    const best = calls.map(() => Number.POSITIVE_INFINITY);
    for (let turn = 0; turn < TIMED_TURNS; turn++) {
      calls.forEach((call, i) => {
        const start = now();
        call();
        best[i] = Math.min(best[i]!, now() - start);
      });
    }
    return best[0]! / best[1]!;
  }

  #call(product: Product): () => void {
    const args = gemmArgs(product);
    return () => this.#kernels.gemmF32(...args);
  }

  #product(product: Product, draw: Draw): Uint32Array {
    return this.#run(product, draw, (args) => this.#kernels.gemmF32(...args));
  }

  /** Fills the operands, runs, and copies the result. */
  #run({ m, n, k, ...rest }: Product, draw: Draw, body: (args: GemmArgs) => void): Uint32Array {
    const next = numbers(m * n + k, draw);
    for (const [at, count] of [
      [A, m * k],
      [B, k * n],
      [C, m * n],
    ] as const) {
      for (let i = 0; i < count; i++) this.#views.f32[at / 4 + i] = next();
    }
    body(gemmArgs({ m, n, k, ...rest }));
    return this.#views.u32.slice(C / 4, C / 4 + m * n);
  }

  /** The product of rows that repeat and its gradients. */
  #repeated(kernels: RepeatKernels): Uint32Array {
    const { rows, outputs, inputs, column, columns, ids } = REPEATED;
    const { f32, u32 } = this.#views;
    const next = numbers(rows, 'exact');
    const fill = (at: number, count: number) => {
      for (let i = 0; i < count; i++) f32[at / 4 + i] = next();
      return at + count * 4;
    };
    const grad = fill(A, rows * inputs);
    for (let r = ids; r < rows; r++) {
      f32.copyWithin(
        A / 4 + r * inputs + column,
        A / 4 + (r - ids) * inputs + column,
        A / 4 + (r - ids) * inputs + inputs,
      );
    }
    fill(grad, rows * outputs);
    // Row r has the id r % ids.
    const numbersAt = fill(B, inputs * outputs);
    const [order, starts] = [numbersAt + rows * 4, numbersAt + rows * 8];
    const byId = Array.from({ length: rows }, (_, r) => r).sort((a, b) => (a % ids) - (b % ids) || a - b);
    u32.set(
      Array.from({ length: rows }, (_, r) => r % ids),
      numbersAt / 4,
    );
    u32.set(byId, order / 4);
    u32.set([...Array.from({ length: ids }, (_, id) => byId.findIndex((r) => r % ids === id)), rows], starts / 4);
    const count = starts + (ids + 2) * 4;
    u32.set([ids, column, columns, numbersAt, order, starts, count, 0, 0], count / 4);
    const field = [count + 4, 1, columns] as const;
    const [dx, dw] = [C + rows * outputs * 4, C + rows * (outputs + inputs) * 4];
    kernels.gemmRepeatsF32(A, inputs, B, C, outputs, rows, outputs, inputs, ...field, 0, SCRATCH);
    const sides = [dx, inputs, 0, inputs, 0, dw] as const;
    kernels.gemmRepeatsGradF32(A, inputs, B, grad, outputs, ...sides, rows, outputs, inputs, ...field, SCRATCH);
    return u32.slice(C / 4, dw / 4 + inputs * outputs);
  }

  #adagrad(body: (weights: number, norms: number, gradients: number) => void): Uint32Array {
    const next = numbers(1, 'any');
    for (let i = 0; i < ADAGRAD_COUNT; i++) {
      this.#views.f32[A / 4 + i] = next();
      this.#views.f32[B / 4 + i] = 0.1 + Math.abs(next());
      this.#views.f32[C / 4 + i] = next();
    }
    body(A, B, C);
    return Uint32Array.from([A, B].flatMap((at) => [...this.#views.u32.subarray(at / 4, at / 4 + ADAGRAD_COUNT)]));
  }
}

type RepeatKernels = Pick<DenseKernels, 'gemmRepeatsF32' | 'gemmRepeatsGradF32'>;

function plainRepeats(views: Views): RepeatKernels {
  return {
    gemmRepeatsF32: (...args) => gemmRepeatsF32(views, ...args),
    gemmRepeatsGradF32: (...args) => gemmRepeatsGradF32(views, ...args),
  };
}

type GemmArgs = Parameters<DenseKernels['gemmF32']>;

function gemmArgs({ m, n, k, transposed, acc }: Product): GemmArgs {
  const [aRow, aCol] = transposed === 'a' ? [1, m] : [k, 1];
  const [bRow, bCol] = transposed === 'b' ? [1, k] : [n, 1];
  return [A, aRow, aCol, B, bRow, bCol, C, n, m, n, k, acc, SCRATCH];
}

function numbers(seed: number, draw: Draw): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return draw === 'any' ? state / 2 ** 32 : (state >> 27) / 8;
  };
}

function same(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((bits, i) => bits === b[i]);
}
