/** @file What the bench of the dense kernels runs: sizes, operand layouts, and the same call for each system. */
import { Arena } from '../src/memory/arena.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { Views } from '../src/memory/views.js';
import * as reference from '../src/runtime/backends/reference/dense.js';
import type { DenseKernels } from '../src/runtime/backends/wasm/calls/dense.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';

export interface DenseCase {
  readonly name: string;
  /** Operations of one call: floating-point operations of a product, elements of anything else. */
  readonly work: number;
  readonly unit: 'GFLOP/s' | 'Gelement/s';
  readonly wasm: () => void;
  /** The plain version may run on a part of the rows; `plainShare` says how large a part. */
  readonly plain: () => void;
  readonly plainShare: number;
  /** Arguments of the native twin, without the number of calls. */
  readonly native: readonly string[];
}

/** Rows of a product the plain version is given: enough to time, few enough to wait for. */
const PLAIN_ROWS_MAX = 64;

interface Product {
  readonly name: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Which operand lies transposed. */
  readonly transposed?: 'a' | 'b';
}

/** The three products of a layer of 429 inputs and 256 outputs on a batch, one of a single output, and small ones. */
function products(quick: boolean): Product[] {
  const batch = quick ? 64 : 4096;
  return [
    { name: 'forward', m: batch, n: 256, k: 429 },
    { name: 'weight gradient', m: 429, n: 256, k: batch, transposed: 'a' },
    { name: 'input gradient', m: batch, n: 429, k: 256, transposed: 'b' },
    { name: 'one output', m: batch, n: 1, k: 256 },
    { name: 'small', m: 256, n: 64, k: 64 },
    { name: 'tiny', m: 64, n: 16, k: 16 },
  ];
}

/** Every case over one memory filled with repeatable numbers. */
export async function denseCases(quick: boolean, seed: number): Promise<DenseCase[]> {
  const memory = createSharedMemory(128 << 20);
  const kernels: DenseKernels = instantiateKernels(await compileKernels(), memory);
  const m = new Views(memory.buffer);
  const arena = new Arena('bench', 65536, memory.buffer.byteLength);
  let state = seed | 0;
  const floats = (count: number, fill?: number): number => {
    const at = arena.alloc(count * 4, 'operand');
    for (let i = 0; i < count; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      m.f32[(at >>> 2) + i] = fill ?? state / 2 ** 32;
    }
    return at;
  };
  return [
    ...products(quick).map((product) => gemmCase(product, kernels, m, arena, floats)),
    ...rowCases(quick ? 256 : 4096, 16, kernels, m, floats),
    ...optimizerCases(quick ? 1024 : 16384, kernels, m, floats),
    ...optimizerCases(16, kernels, m, floats),
  ];
}

type Floats = (count: number, fill?: number) => number;

function gemmCase(product: Product, kernels: DenseKernels, views: Views, arena: Arena, floats: Floats): DenseCase {
  const { m, n, k, transposed } = product;
  const [a, b, c] = [floats(m * k), floats(k * n), floats(m * n)];
  const scratch = arena.alloc(kernels.gemmScratchBytes(m, n, k), 'scratch');
  const [aRow, aCol] = transposed === 'a' ? [1, m] : [k, 1];
  const [bRow, bCol] = transposed === 'b' ? [1, k] : [n, 1];
  const rows = Math.min(m, PLAIN_ROWS_MAX);
  return {
    name: `gemm ${product.name} ${m}x${k}x${n}`,
    work: 2 * m * n * k,
    unit: 'GFLOP/s',
    wasm: () => kernels.gemmF32(a, aRow, aCol, b, bRow, bCol, c, n, m, n, k, 0, scratch),
    plain: () => reference.gemmF32(views, a, aRow, aCol, b, bRow, bCol, c, n, rows, n, k, 0, 0),
    plainShare: rows / m,
    native: ['gemm', m, n, k].map(String),
  };
}

function rowCases(rows: number, cols: number, kernels: DenseKernels, m: Views, floats: Floats): DenseCase[] {
  const [a, b, column] = [floats(rows * cols), floats(rows * cols), floats(rows)];
  const base = { work: rows * cols, unit: 'Gelement/s', plainShare: 1 } as const;
  return [
    {
      ...base,
      name: `rowDot ${rows}x${cols}`,
      wasm: () => kernels.rowDotF32(a, cols, b, cols, column, 1, rows, cols, 0),
      plain: () => reference.rowDotF32(m, a, cols, b, cols, column, 1, rows, cols, 0),
      native: ['rowDot', `${rows}`, `${cols}`],
    },
    {
      ...base,
      name: `scaleRows ${rows}x${cols}`,
      wasm: () => kernels.scaleRowsF32(column, 1, a, cols, b, cols, rows, cols, 0),
      plain: () => reference.scaleRowsF32(m, column, 1, a, cols, b, cols, rows, cols, 0),
      native: ['scaleRows', `${rows}`, `${cols}`],
    },
    {
      ...base,
      name: `sigmoid ${rows * cols}`,
      wasm: () => kernels.sigmoidF32(a, 1, b, 1, rows * cols, 1),
      plain: () => reference.sigmoidF32(m, a, 1, b, 1, rows * cols, 1),
      native: ['sigmoid', `${rows * cols}`],
    },
  ];
}

function optimizerCases(n: number, kernels: DenseKernels, m: Views, floats: Floats): DenseCase[] {
  const [w, norm, zero, g] = [floats(n), floats(n, 1), floats(n), floats(n)];
  const base = { work: n, unit: 'Gelement/s', plainShare: 1 } as const;
  return [
    {
      ...base,
      name: `sgd ${n}`,
      wasm: () => kernels.applySgdF32(w, g, n, 0.01),
      plain: () => reference.applySgdF32(m, w, g, n, 0.01),
      native: ['sgd', `${n}`],
    },
    {
      ...base,
      name: `adagrad ${n}`,
      wasm: () => kernels.applyAdagradF32(w, norm, g, n, 0.01, 0.001),
      plain: () => reference.applyAdagradF32(m, w, norm, g, n, 0.01, 0.001),
      native: ['adagrad', `${n}`],
    },
    {
      ...base,
      name: `ftrl ${n}`,
      wasm: () => kernels.applyFtrlF32(w, norm, zero, g, n, 0.01, 1, 0.1, 0.1),
      plain: () => reference.applyFtrlF32(m, w, norm, zero, g, n, 0.01, 1, 0.1, 0.1),
      native: ['ftrl', `${n}`],
    },
  ];
}
