import t from 'tap';
import { Arena } from '../../src/memory/arena.js';
import { mix64BigInt } from '../../src/memory/hash.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { touchedGeometry } from '../../src/memory/touched-geometry.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { TouchedKeySet } from '../../src/sparse/table/touched-key-set.js';
import { TouchedPairSet, type TouchedPairs } from '../../src/sparse/table/touched-pair-set.js';
import { keyWithHash } from './colliding-keys.js';
import { module, runThreads, stealMeanwhile } from './touched-crew.js';

function makeSet(capacity: number, concurrencyLevel: number) {
  const memory = createSharedMemory(touchedGeometry(capacity, concurrencyLevel, 16, 'pair').bytes + 65536);
  const arena = new Arena('test', 1024, memory.buffer.byteLength);
  const kernels = instantiateKernels(module, memory);
  return { memory, kernels, set: new TouchedPairSet({ memory, kernels, arena, capacity, concurrencyLevel }) };
}

const range = (from: number, to: number) => BigInt64Array.from({ length: to - from }, (_, i) => BigInt(from + i));
const keysOf = ({ ids, tables }: TouchedPairs) => Array.from(ids, (id, i) => `${id} of ${tables[i]}`);

t.test('ids are stolen with their tables', async (t) => {
  const { set } = makeSet(100, 4);
  t.same(set.stealPairs(), { ids: new BigInt64Array(0), tables: new Uint32Array(0) });
  t.equal(set.insert([1n, 2n, 2n], 0), 0);
  set.insert(BigInt64Array.of(2n, -1n), 4_000_000_000);
  set.insert(2n, 1);
  t.equal(set.size, 5);
  const byTable = set.stealByTable();
  t.same([...byTable.keys()].sort(), [0, 1, 4_000_000_000]);
  t.same(byTable.get(0)!.sort(), BigInt64Array.of(1n, 2n));
  t.same(byTable.get(1), BigInt64Array.of(2n));
  t.same(byTable.get(4_000_000_000)!.sort(), BigInt64Array.of(-1n, 2n));
  t.equal(set.size, 0);
});

t.test('a set over its capacity is emptied and says how many pairs that were', async (t) => {
  const { set } = makeSet(10, 1);
  t.equal(set.insert(range(0, 6), 0), 0);
  t.equal(set.insert(range(0, 6), 1), 11);
  t.same(keysOf(set.stealPairs()), ['5 of 1']);
});

t.test('a table without an index, and a handle of the other kind of set, are refused', async (t) => {
  const { set, memory, kernels } = makeSet(10, 1);
  for (const index of [-1, 1.5, 2 ** 32 - 1, Number.NaN]) {
    t.throws(() => set.insert([1n], index), { code: 'ML_TOUCHED_SIZE' });
  }
  t.throws(() => TouchedKeySet.attach(set.handle, { memory, kernels }), { code: 'ML_TOUCHED_SIZE' });
  TouchedPairSet.attach(structuredClone(set.handle), { memory, kernels }).insert([3n], 2);
  t.same(keysOf(set.stealPairs()), ['3 of 2']);
});

t.test('threads that insert the same pairs add each of them once', async (t) => {
  const made = makeSet(100_000, 16);
  // Batches of 500 go to the five tables in turn, for every thread alike.
  const job = { keys: range(0, 40_000), keysPerInsert: 500, tables: 5 };
  const results = await runThreads(made, [job, job, job]);
  t.ok(results.every(({ dropped }) => dropped === 0));
  t.equal(made.set.size, 40_000);
  const { ids, tables } = made.set.stealPairs();
  t.ok(
    ids.every((id, i) => Math.floor(Number(id) / 500) % 5 === tables[i]),
    'each id came with its table',
  );
  t.same(ids.sort(), range(0, 40_000));
});

t.test('inserting while others steal loses no pair and doubles none', async (t) => {
  const made = makeSet(60_000, 8);
  const per = 9000;
  const jobs = [0, 1, 2].map((thread) => ({
    keys: range(0, per),
    keysPerInsert: 100 + thread,
    tables: 3,
    stealEvery: thread === 0 ? 3 : Number.POSITIVE_INFINITY,
  }));
  const { results, stolen } = await stealMeanwhile(made, jobs, () => made.set.stealPairs());
  for (const result of results) stolen.push(...result.stolenPairs);
  // Threads touch the same pairs, so one may be stolen as often as there are threads; but no other pair may be.
  const expected = new Set(
    jobs.flatMap(({ keys, keysPerInsert }) =>
      Array.from(keys, (id, i) => `${id} of ${Math.floor(i / keysPerInsert) % 3}`),
    ),
  );
  const found = new Set(stolen.flatMap(keysOf));
  t.equal(found.size, expected.size);
  t.ok([...found].every((key) => expected.has(key)));
  for (const pairs of stolen) t.equal(new Set(keysOf(pairs)).size, pairs.ids.length, 'a steal gives a pair once');
});

t.test('threads that touch colliding pairs leave each of them once', async (t) => {
  const made = makeSet(8192, 64);
  // As with ids alone: 40 keys for each of eight neighbouring buckets displace each other and overflow.
  const salt = mix64BigInt(1n);
  const keys = BigInt64Array.from({ length: 320 }, (_, i) => keyWithHash(4 * (i % 8), i >> 3) ^ salt);
  const jobs = [0, 80, 160].map((by) => ({ keys: keys.map((_, i) => keys[(i * 7 + by) % 320]!), keysPerInsert: 9 }));
  for (let attempt = 0; attempt < 5; attempt++) {
    const results = await runThreads(made, jobs);
    t.ok(results.every((r) => r.dropped === 0));
    t.equal(made.set.size, 320);
    t.same(made.set.stealPairs().ids.sort(), keys.slice().sort());
  }
});
