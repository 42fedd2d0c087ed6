import t from 'tap';
import { Arena } from '../../src/memory/arena.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { touchedGeometry } from '../../src/memory/touched-geometry.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { TouchedKeySet } from '../../src/sparse/table/touched-key-set.js';
import { keyWithHash } from './colliding-keys.js';
import { parityCase } from './parity.js';
import { module, runThreads, stealMeanwhile } from './touched-crew.js';

/** 1 runs the parity cases at their full size (minutes); the default keeps the shape and shrinks the numbers. */
const scale = process.env.TOUCHED_FULL === '1' ? 1 : 64;

function makeSet(capacity: number, concurrencyLevel: number) {
  const memory = createSharedMemory(touchedGeometry(capacity, concurrencyLevel).bytes + 65536);
  const arena = new Arena('test', 1024, memory.buffer.byteLength);
  const kernels = instantiateKernels(module, memory);
  return { memory, set: new TouchedKeySet({ memory, kernels, arena, capacity, concurrencyLevel }) };
}

interface UnionCase {
  input: { capacity: number; concurrency_level: number; threads: number[] };
}
interface ClearCase {
  input: { capacity: number; concurrency_level: number; threads: number; keys: { range: [number, number] } };
  expected: { inserts_returning_nonzero: number };
}

const sorted = (keys: BigInt64Array) => keys.slice().sort();

/** Reproducible keys, spread over 64 bits, with repeats. */
function someKeys(count: number, distinct: number): BigInt64Array {
  let state = 42n;
  const pool = BigInt64Array.from({ length: distinct }, () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return BigInt.asIntN(64, state ^ (state >> 29n));
  });
  return BigInt64Array.from({ length: count }, (_, i) => pool[(i * 7919) % distinct]!);
}

t.test('parity: concurrent_insert_is_set_union', async (t) => {
  const { input } = parityCase<UnionCase>('hopscotch_hash_set', 'concurrent_insert_is_set_union');
  const made = makeSet(input.capacity / scale, input.concurrency_level);
  const keys = someKeys(input.capacity / scale, Math.trunc(input.capacity / scale / 1.3));
  const union = BigInt64Array.from(new Set(keys)).sort();
  for (const threads of scale === 1 ? input.threads : [1, 2, 10]) {
    const jobs = Array.from({ length: threads }, (_, i) => ({ keys: keys.filter((_, at) => at % threads === i) }));
    const results = await runThreads(made, jobs);
    t.ok(results.every((r) => r.dropped === 0));
    t.equal(made.set.size, union.length);
    t.same(Buffer.compare(bytes(sorted(made.set.steal())), bytes(union)), 0, `${threads} threads`);
  }
});

const bytes = (keys: BigInt64Array) => new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);

t.test('parity: overflow_clear_count', async (t) => {
  const { input, expected } = parityCase<ClearCase>('hopscotch_hash_set', 'overflow_clear_count');
  const capacity = input.capacity / scale;
  // The extra 10000 keys are the slack for keys in flight; they do not shrink.
  const to = (input.keys.range[1] - 10000) / scale + 10000;
  const made = makeSet(capacity, input.concurrency_level);
  const jobs = Array.from({ length: input.threads }, (_, from) => ({ keys: { from, to, step: input.threads } }));
  const results = await runThreads(made, jobs);
  t.equal(made.set.clearCount, expected.inserts_returning_nonzero);
  const dropped = results.reduce((sum, r) => sum + r.dropped, 0);
  t.equal(dropped + made.set.steal().length, to, 'a key is dropped and counted, or drained');
});

t.test('inserting while others steal loses nothing and doubles nothing', async (t) => {
  const made = makeSet(60_000, 8);
  const per = 12_000;
  const jobs = Array.from({ length: 3 }, (_, thread) => ({
    keys: BigInt64Array.from({ length: per }, (_, i) => BigInt(thread * per + i)),
    keysPerInsert: 100,
    stealEvery: thread === 0 ? 3 : Number.POSITIVE_INFINITY,
  }));
  const { results, stolen } = await stealMeanwhile(made, jobs, () => made.set.steal());
  for (const result of results) stolen.push(...result.stolen);
  const all = BigInt64Array.from(stolen.flatMap((keys) => [...keys])).sort();
  t.same(
    all,
    BigInt64Array.from({ length: 3 * per }, (_, i) => BigInt(i)),
    'each key was stolen once',
  );
  t.ok(stolen.filter((keys) => keys.length > 0).length > 1, 'several steals found keys');
});

t.test('threads that touch the same colliding keys leave each of them once', async (t) => {
  // 40 keys for each of eight neighbouring buckets, 60 slots in reach of them: inserts displace, and overflow, under
  // each other's stripes. The overflow set has room for the rest.
  const made = makeSet(8192, 64);
  const keys = BigInt64Array.from({ length: 320 }, (_, i) => keyWithHash(4 * (i % 8), i >> 3));
  const jobs = [0, 80, 160, 240].map((by) => ({
    keys: keys.map((_, i) => keys[(i * 7 + by) % 320]!),
    keysPerInsert: 9,
  }));
  for (let attempt = 0; attempt < 5; attempt++) {
    const results = await runThreads(made, jobs);
    t.ok(results.every((r) => r.dropped === 0));
    t.equal(made.set.size, 320);
    t.same(sorted(made.set.steal()), sorted(keys));
  }
});

const range = (from: number, to: number) => BigInt64Array.from({ length: to - from }, (_, i) => BigInt(from + i));

t.test('threads that all come first initialise the set once', async (t) => {
  // Clearing 16 MiB takes long enough for everybody to find the set uninitialised.
  const made = makeSet(700_000, 1024);
  await runThreads(
    made,
    [0, 1, 2, 3].map((i) => ({ keys: range(i * 100, (i + 1) * 100) })),
  );
  t.same(sorted(made.set.steal()), range(0, 400));
});

t.test('threads that insert the same keys in the same order add each of them once', async (t) => {
  const made = makeSet(200_000, 16);
  await runThreads(
    made,
    [0, 1, 2, 3].map(() => ({ keys: range(0, 100_000), keysPerInsert: 2048 })),
  );
  t.equal(made.set.size, 100_000);
  t.same(sorted(made.set.steal()), range(0, 100_000));
});

t.test('a steal in the midst of an insert voids what that call had yet to add to the size', async (t) => {
  const made = makeSet(100_000, 16);
  const sizeWord = (made.set.handle.pointer + 64) / 4;
  for (let attempt = 0; attempt < 10; attempt++) {
    // The first thread steals and is done long before the second, whose later keys stay in the set.
    const stealing = { keys: range(0, 50), keysPerInsert: 10, stealEvery: 5 };
    await runThreads(made, [stealing, { keys: range(50, 40_000), keysPerInsert: 2048 }]);
    t.equal(new Uint32Array(made.memory.buffer)[sizeWord], made.set.size);
    made.set.steal();
  }
});
