/**
 * @file Thread entry of the table thread test: adds to rows that all threads share, makes and removes rows of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Views } from '../../src/memory/views.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';

export interface TableWorkerData {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One word: threads wait here until all have come. */
  readonly gate: Int32Array;
  readonly threads: number;
  readonly thread: number;
  readonly rounds: number;
  readonly table: number;
  readonly dim: number;
  /** Ids that all threads share. */
  readonly sharedIds: number;
  readonly sharedCount: number;
  /** Memory of this thread: ids of its own, values, results. */
  readonly ownIds: number;
  readonly ownCount: number;
  readonly values: number;
  readonly out: number;
}
/** Rows that were seen half written, and own rows that were not as this thread left them. */
export interface TableWorkerResult {
  readonly torn: number;
  readonly lost: number;
}

const data = workerData as TableWorkerData;
const { table, dim, sharedIds, sharedCount, ownIds, ownCount, values, out } = data;
const kernels = instantiateKernels(data.module, data.memory);
const { f32, i64 } = new Views(data.memory.buffer);

/** Rows whose floats are not all the same. */
function tornRows(count: number): number {
  let torn = 0;
  for (let i = 0; i < count; i++) {
    const row = f32.subarray(out / 4 + i * dim, out / 4 + (i + 1) * dim);
    if (row.some((value) => value !== row[0])) torn++;
  }
  return torn;
}

function run(): TableWorkerResult {
  let torn = 0;
  let lost = 0;
  for (let round = 0; round < data.rounds; round++) {
    for (let i = 0; i < ownCount; i++) i64[ownIds / 8 + i] = BigInt(1000 + (round * ownCount + i) * 8 + data.thread);
    f32.fill(1, values / 4, values / 4 + Math.max(sharedCount, ownCount) * dim);
    kernels.tableAssign(table, sharedIds, sharedCount, values, dim, round, 0, 1);
    // A rate of -1 makes a step an addition.
    kernels.tableOptimize(table, sharedIds, sharedCount, values, dim, round, 0);
    kernels.tableAssign(table, ownIds, ownCount, values, dim, round, 0, 0);
    kernels.tableLookup(table, sharedIds, sharedCount, out, dim);
    torn += tornRows(sharedCount);
    if (kernels.tableLookup(table, ownIds, ownCount, out, dim) !== ownCount || f32[out / 4] !== 1) lost++;
    if (kernels.tableRemove(table, ownIds, ownCount - 1) !== ownCount - 1) lost++;
  }
  return { torn, lost };
}

// All threads start together, or they would take turns.
if (Atomics.add(data.gate, 0, 1) + 1 === data.threads) Atomics.notify(data.gate, 0);
for (let seen = Atomics.load(data.gate, 0); seen < data.threads; seen = Atomics.load(data.gate, 0)) {
  Atomics.wait(data.gate, 0, seen, 1000);
}
parentPort?.postMessage(run());
