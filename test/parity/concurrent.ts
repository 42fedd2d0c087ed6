/**
 * @file Cases that say `for i in 0..99 concurrently: assign_add(i,[i]); optimize(i, grad=[-200*i])`: on real threads.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HashTable } from '../../src/sparse/table/hash-table.js';
import { UnknownForm } from './case.js';
import { parseExpression, parseForm, parseSpan } from './expression.js';
import type { SharedOperation, TableWorkerData } from './table-worker.js';

const THREADS_MAX = 4;
const OPERATIONS: readonly SharedOperation['op'][] = ['assign', 'assign_add', 'optimize'];

/** The operations of each value of the variable. */
export function parseConcurrent(text: unknown): SharedOperation[][] {
  const [variable, span, body] = parseForm(text, /^for (\w+) in (\S+) concurrently: (.+)$/) as [string, string, string];
  const calls = body.split(';').map((call) => {
    const pattern = /^(\w+)\(([^,[]+),\s*(?:\w+=)?\[([^\]]+)\]\)$/;
    const [name, id, row] = parseForm(call.trim(), pattern) as [SharedOperation['op'], string, string];
    if (!OPERATIONS.includes(name)) throw new UnknownForm(call);
    return { op: name, id: parseExpression(id), row: row.split(',').map(parseExpression) };
  });
  return parseSpan(span).map((value) => {
    const variables = { [variable]: value };
    return calls.map(({ op, id, row }) => ({
      op,
      id: BigInt(id(variables)),
      row: row.map((component) => component(variables)),
    }));
  });
}

/** Runs the turns on several threads at once; the operations of a turn stay in order. */
export async function runConcurrently(table: HashTable, turns: readonly SharedOperation[][]): Promise<void> {
  const start = new Int32Array(new SharedArrayBuffer(4));
  const threads = Array.from({ length: Math.min(THREADS_MAX, turns.length) }, (_, thread) => {
    const operations = turns.filter((_, turn) => turn % THREADS_MAX === thread).flat();
    const data: TableWorkerData = { handle: table.handle, operations, start };
    const worker = new Worker(new URL('./table-worker.js', import.meta.url), { workerData: data, execArgv: [] });
    return { ready: once(worker, 'message'), ended: once(worker, 'exit') };
  });
  await Promise.all(threads.map(({ ready }) => ready));
  Atomics.store(start, 0, 1);
  Atomics.notify(start, 0);
  for (const { ended } of threads) {
    const [code] = (await ended) as [number];
    if (code !== 0) throw new Error(`a thread ended with ${code}`);
  }
}
