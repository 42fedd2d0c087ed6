/** @file Thread entry of the filter test: adds its ids again and again to a filter of another thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena } from '../../src/memory/arena.js';
import { Views } from '../../src/memory/views.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { type FilterHandle, HashFilter } from '../../src/sparse/admission/hash-filter.js';

export interface FilterJob {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly handle: FilterHandle;
  readonly scratch: readonly [number, number];
  readonly gate: Int32Array;
  readonly threads: number;
  readonly ids: BigInt64Array;
  readonly rounds: number;
}

const job = workerData as FilterJob;
const filter = HashFilter.attach(job.handle, {
  views: new Views(job.memory.buffer as SharedArrayBuffer),
  kernels: instantiateKernels(job.module, job.memory),
  arena: new Arena('scratch', ...job.scratch),
});
// All threads start together, or they would take turns.
if (Atomics.add(job.gate, 0, 1) + 1 === job.threads) Atomics.notify(job.gate, 0);
for (let seen = Atomics.load(job.gate, 0); seen < job.threads; seen = Atomics.load(job.gate, 0)) {
  Atomics.wait(job.gate, 0, seen, 1000);
}
for (let round = 0; round < job.rounds; round++) filter.add(job.ids);
parentPort?.postMessage('done');
