/** @file Thread entry of the touched-key tests: for each job, inserts (and steals) as told and answers with what happened. */
import { parentPort } from 'node:worker_threads';
import { instantiateKernels } from '../../src/runtime/load-kernels.js';
import { TouchedKeySet, type TouchedKeySetHandle } from '../../src/sparse/touched-key-set.js';

export interface TouchedJob {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly handle: TouchedKeySetHandle;
  /** One word: threads wait here until all have come. */
  readonly gate: Int32Array;
  readonly threads: number;
  /** Given keys, or every `step`-th number of a range. */
  readonly keys: BigInt64Array | { readonly from: number; readonly to: number; readonly step: number };
  readonly keysPerInsert: number;
  readonly rounds: number;
  readonly stealEvery: number;
}

export interface TouchedWorkerResult {
  readonly dropped: number;
  readonly stolen: BigInt64Array[];
}

/** The batches of keys of one round. */
function* batches({ keys, keysPerInsert }: TouchedJob): Generator<BigInt64Array> {
  if (keys instanceof BigInt64Array) {
    for (let at = 0; at < keys.length; at += keysPerInsert) yield keys.subarray(at, at + keysPerInsert);
    return;
  }
  const batch = new BigInt64Array(keysPerInsert);
  let count = 0;
  for (let key = keys.from; key < keys.to; key += keys.step) {
    batch[count++] = BigInt(key);
    if (count < keysPerInsert) continue;
    yield batch;
    count = 0;
  }
  yield batch.subarray(0, count);
}

function run(data: TouchedJob): TouchedWorkerResult {
  const kernels = instantiateKernels(data.module, data.memory);
  const set = TouchedKeySet.attach(data.handle, { memory: data.memory, kernels });
  let dropped = 0;
  let inserts = 0;
  const stolen: BigInt64Array[] = [];
  // All threads start together, or they would take turns.
  if (Atomics.add(data.gate, 0, 1) + 1 === data.threads) Atomics.notify(data.gate, 0);
  for (let seen = Atomics.load(data.gate, 0); seen < data.threads; seen = Atomics.load(data.gate, 0)) {
    Atomics.wait(data.gate, 0, seen, 1000);
  }
  for (let round = 0; round < data.rounds; round++) {
    for (const batch of batches(data)) {
      dropped += set.insert(batch);
      if (++inserts % data.stealEvery === 0) stolen.push(set.steal());
    }
  }
  return { dropped, stolen };
}

parentPort?.on('message', (job: TouchedJob | 'end') => {
  if (job === 'end') parentPort?.close();
  else parentPort?.postMessage(run(job));
});
