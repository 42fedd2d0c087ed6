/**
 * @file Cases of the touched-key set (src/sparse/touched-key-set).
 *
 * The cases over threads are large. They run at their full size by the command, and at a 64th with the tests, which
 * keeps their shape: TOUCHED_FULL=1 asks for the full size.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena } from '../../../src/memory/arena.js';
import { mix64 } from '../../../src/memory/hash.js';
import { createSharedMemory } from '../../../src/memory/shared-memory.js';
import { touchedGeometry } from '../../../src/memory/touched-geometry.js';
import { instantiateKernels } from '../../../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../../../src/runtime/backends/wasm/load-kernels.js';
import { TouchedKeySet } from '../../../src/sparse/table/touched-key-set.js';
import type { TouchedJob, TouchedWorkerResult } from '../../sparse/touched-worker.js';
import { fieldsOf, type ParityCase, type ParityHandlers, recordsOf, UnknownForm } from '../case.js';
import { ids } from '../values.js';

const scaleOf = (): number => (process.env.TOUCHED_FULL === '1' ? 1 : 64);
/** Keys in flight between threads when a clear happens; it does not shrink with the rest. */
const SLACK_KEYS = 10000;

async function makeSet(capacity: number, concurrencyLevel: number) {
  const module = await compileKernels();
  const memory = createSharedMemory(touchedGeometry(capacity, concurrencyLevel).bytes + (1 << 20));
  const arena = new Arena('parity', 1024, memory.buffer.byteLength);
  const kernels = instantiateKernels(module, memory);
  return { module, memory, set: new TouchedKeySet({ memory, kernels, arena, capacity, concurrencyLevel }) };
}
type Made = Awaited<ReturnType<typeof makeSet>>;

async function touchedKeySet({ input }: ParityCase) {
  const given = fieldsOf(input, ['capacity'], ['ops', 'insert', 'concurrency_level']);
  const ops = given.ops ?? [{ op: 'insert', ids: given.insert }, { op: 'steal' }];
  if (given.ops === undefined && given.insert === undefined) throw new UnknownForm('the case has no ops');
  const { set } = await makeSet(given.capacity as number, (given.concurrency_level ?? 1) as number);
  const result: Record<string, unknown> = {};
  for (const { op, ids: list } of recordsOf<{ op: string; ids?: unknown }>(ops, ['op'], ['ids'])) {
    if (op === 'insert') result.insert_dropped = set.insert(ids(list));
    else if (op === 'size') result.size = set.size;
    else if (op === 'steal') {
      result.steal_sorted = set.steal();
      result.size_after_steal = set.size;
    } else throw new UnknownForm(`op ${op}`);
  }
  return result;
}

/** One job per thread, all at once; the threads end with it. */
async function runThreads(
  { module, memory, set }: Made,
  jobs: readonly TouchedJob['keys'][],
): Promise<TouchedWorkerResult[]> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  return Promise.all(
    jobs.map(async (keys) => {
      const worker = new Worker(new URL('../../sparse/touched-worker.js', import.meta.url), { execArgv: [] });
      const answer = once(worker, 'message');
      const exit = once(worker, 'exit');
      const shared = { module, memory, handle: set.handle, gate, threads: jobs.length };
      worker.postMessage({ ...shared, keys, keysPerInsert: 512, rounds: 1, stealEvery: Number.POSITIVE_INFINITY });
      const [result] = (await answer) as [TouchedWorkerResult];
      worker.postMessage('end');
      await exit;
      return result;
    }),
  );
}

function randomKeys(count: number): BigInt64Array {
  const keys = new BigInt64Array(count);
  const words = new Uint32Array(keys.buffer);
  for (let i = 0; i < count; i++) mix64(i % Math.ceil(count / 1.3), 7, words.subarray(2 * i, 2 * i + 2));
  return keys;
}

async function unionOfThreads(capacity: number, concurrencyLevel: number, counts: readonly number[]) {
  const made = await makeSet(capacity, concurrencyLevel);
  const keys = randomKeys(capacity);
  const union = keys
    .slice()
    .sort()
    .filter((key, i, sorted) => i === 0 || key !== sorted[i - 1]);
  let dropped = 0;
  let same = true;
  for (const threads of counts) {
    const jobs = Array.from({ length: threads }, (_, i) => keys.filter((_, at) => at % threads === i));
    for (const result of await runThreads(made, jobs)) dropped += result.dropped;
    const stolen = made.set.steal().sort();
    same &&= Buffer.compare(new Uint8Array(stolen.buffer), new Uint8Array(union.buffer)) === 0;
  }
  return { every_insert_return: dropped, get_and_clear: same ? 'equals the de-duplicated key list' : 'differs' };
}

async function hopscotch({ input }: ParityCase) {
  const given = fieldsOf(
    input,
    [],
    ['capacity', 'concurrency_level', 'distinct_keys', 'threads', 'keys', 'assignment', 'cases'],
  );
  if (given.cases !== undefined) {
    const names = ['capacity', 'concurrency'];
    const shapes = recordsOf<{ capacity: number; concurrency: number }>(given.cases, names).map((c) =>
      touchedGeometry(c.capacity, c.concurrency),
    );
    return { cases: shapes.map(({ buckets, slots, locks }) => ({ buckets, entries: slots, locks })) };
  }
  const [capacity, level] = [given.capacity as number, (given.concurrency_level ?? 1) as number];
  if (given.distinct_keys !== undefined) {
    const { set } = await makeSet(capacity, level);
    const keys = BigInt64Array.from({ length: given.distinct_keys as number }, (_, i) => BigInt(i) * 1_000_003n - 5n);
    set.insert(keys);
    const stolen = set.steal();
    return { get_and_clear_count: stolen.length, same_key_set: stolen.sort().join() === keys.sort().join() };
  }
  const scale = scaleOf();
  if (Array.isArray(given.threads)) {
    return unionOfThreads(capacity / scale, level, scale === 1 ? (given.threads as number[]) : [1, 4]);
  }
  const [begin, end] = (given.keys as { range: [number, number] }).range;
  const threads = given.threads as number;
  const to = scale === 1 ? end : (end - SLACK_KEYS) / scale + SLACK_KEYS;
  const made = await makeSet(capacity / scale, level);
  await runThreads(
    made,
    Array.from({ length: threads }, (_, i) => ({ from: begin + i, to, step: threads })),
  );
  return { inserts_returning_nonzero: made.set.clearCount };
}

export const handlers: ParityHandlers = { touched_key_set: touchedKeySet, hopscotch_hash_set: hopscotch };
