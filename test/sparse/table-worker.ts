/** @file Thread entry of the table tests: works on a shared table as told, and answers with what it saw. */
import { parentPort } from 'node:worker_threads';
import { HashTable, type HashTableHandle } from '../../src/sparse/table/hash-table.js';

export interface TableJob {
  readonly handle: HashTableHandle;
  /** One word: threads wait here until all have come. */
  readonly gate: Int32Array;
  readonly threads: number;
  /** Ids that all threads update, and those that are this thread's alone. */
  readonly shared: BigInt64Array;
  readonly own: BigInt64Array;
  readonly rounds: number;
}

export interface TableWorkerResult {
  /** Lookups that showed half of an update: rows of different floats. */
  readonly torn: number;
  readonly removed: number;
}

function run({ handle, gate, threads, shared, own, rounds }: TableJob): TableWorkerResult {
  const table = HashTable.attach(handle);
  const { dim } = table;
  const fill = (ids: BigInt64Array, value: number) => new Float32Array(ids.length * dim).fill(value);
  let [torn, removed] = [0, 0];
  // All threads start together, or they would take turns.
  if (Atomics.add(gate, 0, 1) + 1 === threads) Atomics.notify(gate, 0);
  for (let seen = Atomics.load(gate, 0); seen < threads; seen = Atomics.load(gate, 0))
    Atomics.wait(gate, 0, seen, 1000);
  for (let round = 0; round < rounds; round++) {
    table.assignAdd(shared, fill(shared, 1), { timeSec: round });
    table.optimize(shared, fill(shared, -1), { timeSec: round, enableDedup: round % 2 === 0 });
    const rows = table.lookup(shared);
    for (let at = 0; at < rows.length; at += dim) {
      if (rows.subarray(at, at + dim).some((value) => value !== rows[at])) torn++;
    }
    table.assign(own, fill(own, round + 1), { timeSec: round });
    const half = own.subarray(0, own.length / 2);
    if (round + 1 < rounds) removed += table.remove(half);
    table.lookupEntry(shared.subarray(0, 4));
    if (round % 8 === 0) table.evict(0);
  }
  table.release();
  return { torn, removed };
}

parentPort?.on('message', (job: TableJob | 'end') => {
  if (job === 'end') parentPort?.close();
  else parentPort?.postMessage(run(job));
});
