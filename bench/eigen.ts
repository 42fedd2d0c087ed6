/**
 * @file Measures the eigensolver of shampoo by size: `npm run bench -- eigen [--quick --json]`.
 *
 * A matrix is a sum of outer products, as statistics of gradients are, of full rank and of a quarter of it. Times are
 * CPU time of one call, the least of the rounds: the solver is alone on its thread.
 */

import { Arena } from '../src/memory/arena.js';
import { eigenScratch } from '../src/memory/dense-layout.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { Views } from '../src/memory/views.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';

const SIZES = [64, 128, 256, 512];
const SEED = 7;

export interface EigenReport extends Machine {
  readonly seed: number;
  readonly results: readonly {
    readonly size: number;
    readonly rank: number;
    readonly ms: number;
    readonly gflops: number;
  }[];
}

export async function runEigenBench({ quick = false }: { quick?: boolean } = {}): Promise<EigenReport> {
  const sizes = quick ? [16] : SIZES;
  const largest = Math.max(...sizes);
  const memory = createSharedMemory((largest * largest * 3 + 4 * largest) * 8 + (1 << 20));
  const kernels = instantiateKernels(await compileKernels(), memory);
  const views = new Views(memory.buffer);
  const results = sizes.flatMap((size) =>
    [size, size >> 2].map((rank) => {
      const arena = new Arena('bench', 65536, memory.buffer.byteLength);
      const counts = [size * size, size, size * size, eigenScratch(size)];
      const [a, values, vectors, scratch] = counts.map((count) => arena.alloc(count * 8, 'eigen')) as [
        number,
        number,
        number,
        number,
      ];
      const matrix = statistic(size, rank);
      const times = Array.from({ length: quick ? 1 : 5 }, () => {
        views.f64.set(matrix, a / 8);
        const start = process.cpuUsage();
        const status = kernels.symmetricEigenF64(a, size, values, vectors, scratch);
        if (status !== 0) throw new Error(`the solver ended with ${status}`);
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1000;
      });
      const ms = Math.min(...times);
      return { size, rank, ms, gflops: (10 * size ** 3) / (ms * 1e6) };
    }),
  );
  return { ...machine(), seed: SEED, results };
}

/** Sum of `rank` outer products. */
function statistic(size: number, rank: number): Float64Array {
  let state = SEED;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const out = new Float64Array(size * size);
  for (let r = 0; r < rank; r++) {
    const row = Float64Array.from({ length: size }, next);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) out[i * size + j]! += row[i]! * row[j]!;
  }
  return out;
}

await benchMain(import.meta.url, runEigenBench, (report) => {
  const rows = report.results.map(({ size, rank, ms, gflops }) => [
    String(size),
    String(rank),
    ms.toFixed(2),
    gflops.toFixed(2),
  ]);
  return `${machineText(report)}\n${table(['size', 'rank', 'ms', '10 k^3 / time, GFLOPS'], rows)}`;
});
