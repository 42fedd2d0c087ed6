/** @file Threads that insert into one set of touched ids or pairs at the same time, and a thief beside them. */
import type { WasmMemory } from '../../src/base/wasm-types.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { type Together, workerCrew } from '../support/worker-crew.js';
import type { TouchedJob, TouchedWorkerResult } from './touched-worker.js';

export const module = await compileKernels();

export type Job = Pick<TouchedJob, 'keys'> & Partial<TouchedJob>;

interface Made {
  readonly memory: WasmMemory;
  readonly set: { readonly handle: TouchedJob['handle'] };
}

const run = workerCrew<Omit<TouchedJob, keyof Together>, TouchedWorkerResult>(
  new URL('./touched-worker.js', import.meta.url),
);

/** One job per thread, all at once. */
export function runThreads({ memory, set }: Made, jobs: readonly Job[]): Promise<TouchedWorkerResult[]> {
  const usual = { keysPerInsert: 512, rounds: 1, stealEvery: Number.POSITIVE_INFINITY };
  return run(jobs.map((job) => ({ module, memory, handle: set.handle, ...usual, ...job })));
}

/** The same, and steals over and over until they have ended, and once more. */
export async function stealMeanwhile<S>(made: Made, jobs: readonly Job[], steal: () => S) {
  let running = true;
  const finished = runThreads(made, jobs).finally(() => {
    running = false;
  });
  const stolen: S[] = [];
  while (running) {
    stolen.push(steal());
    await new Promise((resolve) => setImmediate(resolve));
  }
  const results = await finished;
  stolen.push(steal());
  return { results, stolen };
}
