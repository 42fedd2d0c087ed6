/** @file Thread entry: does its share of the operations of a concurrent case on a table that another thread made. */
import { parentPort, workerData } from 'node:worker_threads';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import type { HashTableHandle } from '../../src/sparse/table/table-options.js';

export interface SharedOperation {
  readonly op: 'assign' | 'assign_add' | 'optimize';
  readonly id: bigint;
  readonly row: readonly number[];
}

export interface TableWorkerData {
  readonly handle: HashTableHandle;
  readonly operations: readonly SharedOperation[];
  /** One word, set when all threads may begin. */
  readonly start: Int32Array;
}

const { handle, operations, start } = workerData as TableWorkerData;
const table = HashTable.attach(handle);
parentPort!.postMessage('ready');
Atomics.wait(start, 0, 0);
for (const { op, id, row } of operations) {
  const ids = BigInt64Array.of(id);
  const values = Float32Array.from(row);
  if (op === 'assign') table.assign(ids, values);
  else if (op === 'assign_add') table.assignAdd(ids, values);
  else table.optimizeOne(id, values);
}
table.release();
