/** @file Thread of the table bench: pools or updates its share of the batches when all threads are there. */
import { parentPort, workerData } from 'node:worker_threads';
import { PARTITIONS } from '../src/memory/table-layout.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { threadCpuMs } from './clocks.js';

/** Memory of one thread; see TableSystem for the sizes. */
export interface TableThread {
  readonly scratch: number;
  readonly order: number;
  readonly offsets: number;
  readonly rows: number;
  readonly slots: number;
  readonly merged: number;
  /** Record of the one slice an update consists of. */
  readonly record: number;
}
export interface TableWorkerData {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One word: the threads of a round meet here. */
  readonly gate: Int32Array;
}
export interface PoolBatch {
  readonly ids: number;
  readonly splits: number;
  readonly bags: number;
  readonly out: number;
}
export interface UpdateBatch {
  readonly ids: number;
  readonly count: number;
}
export type TableJob = {
  readonly meetAt: number;
  readonly table: number;
  readonly dim: number;
  readonly thread: TableThread;
} & (
  | { readonly kind: 'pool'; readonly batches: readonly PoolBatch[] }
  | {
      /** `update` finds and steps in one go; `train` does what a training step does. */
      readonly kind: 'update' | 'train';
      readonly batches: readonly UpdateBatch[];
      /** Partitions this thread owns. */
      readonly first: number;
      readonly end: number;
      readonly gradients: number;
      readonly timeSec: number;
    }
);
export interface TableSpan {
  readonly cpuMs: number;
  readonly beginMs: number;
  readonly endMs: number;
  /** Rows the updates stepped. */
  readonly stepped: number;
}

const { module, memory, gate } = workerData as TableWorkerData;
const kernels = instantiateKernels(module, memory);
const words = new Uint32Array(memory.buffer);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Does the job; returns how many rows were stepped. */
function run(job: TableJob): number {
  const { table, dim, thread } = job;
  if (job.kind === 'pool') {
    for (const { ids, splits, bags, out } of job.batches) {
      kernels.tableLookupSumF32(table, ids, splits, bags, out, dim, thread.scratch);
    }
    return 0;
  }
  const { scratch, order, offsets, rows, slots, merged, record } = thread;
  let stepped = 0;
  if (job.kind === 'update') {
    for (const { ids, count } of job.batches) {
      stepped += kernels.tableUpdate(table, ids, count, job.gradients, dim, scratch, job.timeSec);
    }
    return stepped;
  }
  for (const { ids, count } of job.batches) {
    kernels.tableFind(table, ids, count, rows, slots);
    kernels.partitionByHash(ids, count, PARTITIONS, order, offsets);
    words.set([ids, order, offsets, rows, job.gradients, dim, slots], record / 4);
    stepped += kernels.tableApply(table, job.first, job.end, record, 1, merged, job.timeSec);
  }
  return stepped;
}

parentPort?.on('message', (job: TableJob | 'end') => {
  if (job === 'end') return parentPort?.close();
  Atomics.add(gate, 0, 1);
  while (Atomics.load(gate, 0) < job.meetAt);
  const beginMs = nowMs();
  const cpuMs = threadCpuMs();
  const stepped = run(job);
  const span: TableSpan = { cpuMs: threadCpuMs() - cpuMs, beginMs, endMs: nowMs(), stepped };
  return parentPort?.postMessage(span);
});
