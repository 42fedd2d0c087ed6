/** @file Thread of the touched-key bench: inserts its share of the keys when the gate opens, and says when it ran. */
import { parentPort, workerData } from 'node:worker_threads';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';

export interface BenchWorkerData {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** One word: the threads of a round meet here. */
  readonly gate: Int32Array;
  readonly set: number;
  readonly scratch: number;
}

export interface BenchJob {
  /** Value of the gate once all threads of this round are there. */
  readonly meetAt: number;
  readonly keys: number;
  readonly count: number;
}

export interface BenchSpan {
  readonly beginMs: number;
  readonly endMs: number;
}

/** Keys per call: about what one slice of a training batch touches. */
const CALL_KEYS = 4096;

const { module, memory, gate, set, scratch } = workerData as BenchWorkerData;
const kernels = instantiateKernels(module, memory);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

parentPort?.on('message', (job: BenchJob | 'end') => {
  if (job === 'end') return parentPort?.close();
  Atomics.add(gate, 0, 1);
  while (Atomics.load(gate, 0) < job.meetAt);
  const beginMs = nowMs();
  for (let at = 0; at < job.count; at += CALL_KEYS) {
    kernels.insertTouchedKeys(set, job.keys + at * 8, Math.min(CALL_KEYS, job.count - at), scratch);
  }
  return parentPort?.postMessage({ beginMs, endMs: nowMs() } satisfies BenchSpan);
});
