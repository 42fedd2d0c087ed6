/**
 * @file Standing measurement of matrix products: every build of the kernels that this engine runs against OpenBLAS on
 * one thread, for the layers of a network of 429 inputs, 256, 128 and 64 hidden units and one output.
 *
 * `npm run bench -- gemm [--quick] [-- --json]`. The systems take turns in every round, and CPU time is what counts.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/errors.js';
import { Arena } from '../src/memory/arena.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { Views } from '../src/memory/views.js';
import type { DenseKernels } from '../src/runtime/backends/wasm/calls/dense.js';
import { chooseKernels } from '../src/runtime/backends/wasm/choose-kernels.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { KERNEL_VARIANTS, type KernelVariant } from '../src/runtime/backends/wasm/kernel-variants.js';
import { benchMain, cpuNsPerCall, type Machine, machine, machineText, median, table } from './harness.js';

const SOURCE = fileURLToPath(new URL('../../bench/native/blas.cpp', import.meta.url));

interface Product {
  readonly name: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Which operand lies transposed. */
  readonly transposed: 'a' | 'b' | 'none';
}

export interface VariantResult {
  readonly ns: number;
  readonly gflops: number;
  /** CPU time over that of OpenBLAS: the median and the least of the rounds. Absent without OpenBLAS. */
  readonly overBlas?: number;
  readonly overBlasMin?: number;
}

export interface GemmResult extends Omit<Product, 'transposed'> {
  readonly blasGflops?: number;
  readonly variants: Partial<Record<KernelVariant, VariantResult>>;
}

export interface GemmReport extends Machine {
  readonly rounds: number;
  readonly blas: boolean;
  /** Builds this engine does not run, and why. */
  readonly missing: Partial<Record<KernelVariant, string>>;
  /** CPU milliseconds of the first product of each build, and of a later one. */
  readonly first: Partial<Record<KernelVariant, readonly [firstMs: number, laterMs: number]>>;
  readonly results: readonly GemmResult[];
}

const LAYERS = [429, 256, 128, 64, 1] as const;

/** Forward, weight gradient and input gradient of every layer. */
function products(batches: readonly number[]): Product[] {
  return batches.flatMap((batch) =>
    LAYERS.slice(1).flatMap((outputs, i): Product[] => {
      const inputs = LAYERS[i]!;
      const name = (what: string) => `${what} ${inputs}→${outputs}, batch ${batch}`;
      return [
        { name: name('forward'), m: batch, n: outputs, k: inputs, transposed: 'none' },
        { name: name('dW'), m: inputs, n: outputs, k: batch, transposed: 'a' },
        { name: name('dX'), m: batch, n: inputs, k: outputs, transposed: 'b' },
      ];
    }),
  );
}

/** Compiles the twin; undefined where there is no g++ or no OpenBLAS. */
function buildBlas(dir: string): string | undefined {
  const binary = join(dir, 'blas');
  return spawnSync('g++', ['-O2', '-o', binary, SOURCE, '-lopenblas']).status === 0 ? binary : undefined;
}

function blasNs(binary: string, { m, n, k, transposed }: Product, calls: number): number {
  const letter = transposed === 'none' ? 'n' : transposed;
  const args = ['gemm', m, n, k, letter, calls].map(String);
  return Number(execFileSync(binary, args, { encoding: 'utf8', env: { ...process.env, OPENBLAS_NUM_THREADS: '1' } }));
}

/** Each build over a memory of its own, filled with repeatable numbers. */
class Kernels {
  readonly variant: KernelVariant;
  readonly #kernels: DenseKernels;
  readonly #bytes: number;

  constructor(variant: KernelVariant, module: WebAssembly.Module, bytes: number) {
    const memory = createSharedMemory(bytes);
    const { f32 } = new Views(memory.buffer);
    for (let i = 0, state = 1; i < f32.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      f32[i] = state / 2 ** 32;
    }
    this.variant = variant;
    this.#kernels = instantiateKernels(module, memory);
    this.#bytes = bytes;
  }

  call({ m, n, k, transposed }: Product): () => void {
    const arena = new Arena('bench', 65536, this.#bytes);
    const [a, b, c] = [m * k, k * n, m * n].map((count) => arena.alloc(count * 4, 'operand')) as [
      number,
      number,
      number,
    ];
    const scratch = arena.alloc(this.#kernels.gemmScratchBytes(m, n, k), 'scratch');
    const [aRow, aCol] = transposed === 'a' ? [1, m] : [k, 1];
    const [bRow, bCol] = transposed === 'b' ? [1, k] : [n, 1];
    return () => this.#kernels.gemmF32(a, aRow, aCol, b, bRow, bCol, c, n, m, n, k, 0, scratch);
  }
}

function measure(product: Product, kernels: readonly Kernels[], blas: string | undefined, rounds: number, ms: number) {
  const calls = kernels.map((one) => one.call(product));
  const times = kernels.map(() => [] as number[]);
  const blasTimes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [i, call] of calls.entries()) times[i]!.push(cpuNsPerCall(call, ms));
    if (blas) blasTimes.push(blasNs(blas, product, Math.max(1, Math.round((ms * 1e6) / times[0]![round]!))));
  }
  const work = 2 * product.m * product.n * product.k;
  const variants: Partial<Record<KernelVariant, VariantResult>> = {};
  kernels.forEach(({ variant }, i) => {
    const ns = median(times[i]!);
    const ratios = blasTimes.map((other, round) => times[i]![round]! / other);
    variants[variant] = {
      ...{ ns, gflops: work / ns },
      ...(blas && { overBlas: median(ratios), overBlasMin: Math.min(...ratios) }),
    };
  });
  const { transposed: _, ...rest } = product;
  return { ...rest, ...(blas && { blasGflops: work / median(blasTimes) }), variants };
}

/** The first product of a build, as a first step would meet it, and one when the compiler is done. */
function firstCalls(kernels: Kernels): readonly [firstMs: number, laterMs: number] {
  const call = kernels.call({ name: '', m: 256, n: 256, k: 429, transposed: 'none' });
  const begin = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(begin);
  return [(user + system) / 1000, cpuNsPerCall(call, 20) / 1e6];
}

/**
 * Runs all products. `quick` takes one small batch and one short round: it shows that everything runs, not how fast.
 */
export async function runGemmBench({ quick = false } = {}): Promise<GemmReport> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  try {
    const blas = buildBlas(dir);
    const rounds = quick ? 1 : 7;
    const missing: Partial<Record<KernelVariant, string>> = {};
    const first: Partial<Record<KernelVariant, readonly [number, number]>> = {};
    const kernels: Kernels[] = [];
    for (const variant of KERNEL_VARIANTS) {
      try {
        const one = new Kernels(variant, (await chooseKernels({ kernels: variant })).module, 32 << 20);
        first[variant] = firstCalls(one);
        kernels.push(one);
      } catch (error) {
        missing[variant] = messageOf(error);
      }
    }
    return {
      ...{ ...machine(), rounds, blas: blas !== undefined, missing, first },
      results: products(quick ? [32] : [4096, 512]).map((product) =>
        measure(product, kernels, blas, rounds, quick ? 1 : 25),
      ),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function text({ blas, results, missing, first, ...report }: GemmReport): string {
  const variants = KERNEL_VARIANTS.filter((variant) => first[variant]);
  const cell = ({ gflops, overBlas, overBlasMin }: VariantResult) =>
    `${gflops.toFixed(1)}${overBlas === undefined ? '' : `  ${overBlas.toFixed(2)} (${overBlasMin!.toFixed(2)})`}`;
  const rows = results.map(({ name, blasGflops, variants: found }) => [
    name,
    blasGflops?.toFixed(1) ?? '-',
    ...variants.map((variant) => cell(found[variant]!)),
  ]);
  return [
    `${machineText(report)}, medians of ${report.rounds} rounds`,
    ...Object.values(missing),
    ...variants.map((variant) => {
      const [firstMs, laterMs] = first[variant]!;
      return `first product of 256x429x256, ${variant}: ${firstMs.toFixed(1)} ms, later ${laterMs.toFixed(1)} ms`;
    }),
    blas
      ? 'GFLOP/s, CPU time over that of OpenBLAS on one thread (least of the rounds)\n'
      : 'no g++ with OpenBLAS here: GFLOP/s alone\n',
    table(['product', 'OpenBLAS', ...variants], rows),
  ].join('\n');
}

await benchMain(import.meta.url, runGemmBench, text);
