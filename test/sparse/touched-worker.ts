/**
 * @file Thread entry of the touched-key tests: for each job, inserts (and steals) as told and answers with what
 * happened.
 */
import { parentPort } from 'node:worker_threads';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { TouchedKeySet, type TouchedKeySetHandle } from '../../src/sparse/table/touched-key-set.js';
import { TouchedPairSet, type TouchedPairs } from '../../src/sparse/table/touched-pair-set.js';

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
  /** For a set of pairs: batches go to tables 0 to this less one, in turn. */
  readonly tables?: number;
}

export interface TouchedWorkerResult {
  readonly dropped: number;
  readonly stolen: BigInt64Array[];
  readonly stolenPairs: TouchedPairs[];
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
  const { handle, memory, tables = 1 } = data;
  const ids = handle.keys === 'id' ? TouchedKeySet.attach(handle, { memory, kernels }) : undefined;
  const pairs = handle.keys === 'pair' ? TouchedPairSet.attach(handle, { memory, kernels }) : undefined;
  let dropped = 0;
  let inserts = 0;
  const stolen: BigInt64Array[] = [];
  const stolenPairs: TouchedPairs[] = [];
  // All threads start together, or they would take turns.
  if (Atomics.add(data.gate, 0, 1) + 1 === data.threads) Atomics.notify(data.gate, 0);
  for (let seen = Atomics.load(data.gate, 0); seen < data.threads; seen = Atomics.load(data.gate, 0)) {
    Atomics.wait(data.gate, 0, seen, 1000);
  }
  for (let round = 0; round < data.rounds; round++) {
    for (const batch of batches(data)) {
      dropped += ids?.insert(batch) ?? pairs!.insert(batch, inserts % tables);
      if (++inserts % data.stealEvery !== 0) continue;
      if (ids !== undefined) stolen.push(ids.steal());
      else stolenPairs.push(pairs!.stealPairs());
    }
  }
  return { dropped, stolen, stolenPairs };
}

parentPort?.on('message', (job: TouchedJob | 'end') => {
  if (job === 'end') parentPort?.close();
  else parentPort?.postMessage(run(job));
});
