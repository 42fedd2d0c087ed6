import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { nodeFileSystem } from '../../src/base/files/file-system.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { createFilter, DummyFilter, interceptGradient } from '../../src/sparse/admission/admission-filter.js';
import { restoreFilter, saveFilter } from '../../src/sparse/admission/filter-files.js';
import { buildThresholds, needsFilter } from '../../src/sparse/admission/filter-memory.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { KernelHarness } from '../kernels/harness.js';
import type { FilterJob } from './filter-worker.js';

const h = await KernelHarness.create(64 << 20);
const memory = { views: h.views, kernels: h.wasm, arena: h.arena };
const ids = (count: number, from = 0) => BigInt64Array.from({ length: count }, (_, i) => BigInt(from + i) << 17n);

t.test('thresholds are by slot, and a filter is needed when one is above zero', async (t) => {
  const config = { slotOccurrenceThresholds: [{ slot: 3, occurrenceThreshold: 2 }], defaultOccurrenceThreshold: 0 };
  t.same([...buildThresholds(config).subarray(2, 5)], [0, 2, 0]);
  t.equal(needsFilter(config), true);
  t.equal(needsFilter({}), false);
});

t.test('the first sightings up to the threshold are kept out, of ids the table lacks', async (t) => {
  h.scope(() => {
    const thresholds = { defaultOccurrenceThreshold: 2 };
    const filter = createFilter({ ...memory, type: 'sliding_hash_filter', capacity: 1000, thresholds });
    const three = ids(3);
    t.same([...filter.shouldFilter({ ids: three })], [1, 1, 1]);
    t.same([...filter.shouldFilter({ ids: three, present: Uint8Array.of(1, 0, 0) })], [0, 1, 1]);
    t.same([...filter.shouldFilter({ ids: three })], [1, 0, 0], 'the present id was not counted');
    t.same([...filter.shouldFilter({ ids: ids(1, 9), counts: Uint32Array.of(5) })], [1]);
    t.same([...filter.shouldFilter({ ids: ids(1, 9) })], [0]);
    const gradient = Float32Array.of(1, 1, 1, 1);
    interceptGradient(filter, BigInt64Array.of(0n, 100n << 17n), gradient, 2);
    t.same([...gradient], [1, 1, 0, 0]);
  });
});

t.test('more ids than a chunk are asked in chunks', async (t) => {
  h.scope(() => {
    const filter = HashFilter.counting({ ...memory, capacity: 10000, fillRate: 4 });
    t.equal(
      filter.add(ids(2500)).reduce((sum, count) => sum + count, 0),
      0,
    );
    t.ok(filter.get(ids(2500)).every((count) => count >= 1));
    t.equal(filter.failureCount, 0n);
  });
});

t.test('an unknown type and a size that is none are refused', async (t) => {
  t.throws(() => createFilter({ ...memory, type: 'other' }), {
    message: 'Invalid filter type, please investigate and retry!',
  });
  t.throws(() => HashFilter.sliding({ ...memory, capacity: 0 }), { code: 'ML_FILTER_SIZE' });
  t.equal(createFilter({ ...memory, type: 'no_filter' }).shouldFilter({ ids: ids(2) })[0], 0);
});

t.test('a saved filter comes back in another one, head and counts and all', async (t) => {
  const mark = h.arena.mark();
  const make = (splitNum = 7) => HashFilter.sliding({ ...memory, capacity: 300, splitNum });
  const dir = t.testdir({});
  const [filter, other] = [make(), make()];
  filter.add(ids(180), new Uint32Array(180).fill(3));
  t.not(filter.word('head'), 0, 'the head has moved');
  const files = await saveFilter(filter, join(dir, 'a', 'hash_filter_0'));
  t.equal(files.length, 7);
  t.same(readdirSync(join(dir, 'a')).sort(), files.map((file) => file.split('/').at(-1)).sort());
  await restoreFilter(other, join(dir, 'a', 'hash_filter_0'));
  t.same(other.get(ids(180)), filter.get(ids(180)));
  t.same([other.word('head'), other.word('headIncrement')], [filter.word('head'), filter.word('headIncrement')]);
  t.same(other.splitElements, filter.splitElements);
  await t.rejects(restoreFilter(make(8), join(dir, 'a', 'hash_filter_0')), {
    message: "split_num: 8 does't match with : 7 read from hash filter checkpoint file.",
  });
  t.same(await saveFilter(new DummyFilter(), join(dir, 'none')), []);
  h.arena.release(mark);
});

t.test('a large split is stored in several records', async (t) => {
  const mark = h.arena.mark();
  const dir = t.testdir({});
  const make = () => HashFilter.sliding({ ...memory, capacity: 60000, splitNum: 5 });
  const [filter, other] = [make(), make()];
  filter.add(ids(9000));
  await saveFilter(filter, join(dir, 'f'));
  await restoreFilter(other, join(dir, 'f'));
  t.same(other.get(ids(9000)), filter.get(ids(9000)));
  h.arena.release(mark);
});

t.test('a damaged or incomplete set is refused and changes nothing', async (t) => {
  const mark = h.arena.mark();
  const make = () => HashFilter.sliding({ ...memory, capacity: 300, splitNum: 5 });
  const [filter, other] = [make(), make()];
  filter.add(ids(100));
  other.add(ids(3));
  const before = other.get(ids(100));
  const dir = t.testdir({});
  const base = join(dir, 'f');
  const files = await saveFilter(filter, base);
  const bytes = readFileSync(files[3]!);
  for (const at of [5, 14, bytes.length - 6]) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(files[3]!, damaged);
    await t.rejects(restoreFilter(other, base), { code: 'ML_RECORD' });
  }
  writeFileSync(files[3]!, bytes.subarray(0, bytes.length - 7));
  await t.rejects(restoreFilter(other, base), { code: 'ML_RECORD' });
  await nodeFileSystem.remove(files[3]!);
  await t.rejects(restoreFilter(other, base), { message: "Shard 3 doesn't show up for f" });
  await t.rejects(restoreFilter(other, join(dir, 'missing')), { code: 'ML_CKPT_SHARDS' });
  await t.rejects(restoreFilter(other, join(dir, 'no', 'x')), { code: 'ML_FILE_READ' });
  t.same(other.get(ids(100)), before);
  h.arena.release(mark);
});

t.test('threads that count the same ids at once lose nothing while no split is wiped', async (t) => {
  const mark = h.arena.mark();
  const filter = HashFilter.counting({ ...memory, capacity: 100000, fillRate: 8 });
  const shared = ids(2000);
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const threads = 2;
  const module = await compileKernels();
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const at = h.arena.alloc(65536, 'thread scratch');
      const workerData: FilterJob = {
        module,
        memory: h.memory,
        handle: filter.handle,
        scratch: [at, at + 65536],
        gate,
        threads,
        ids: shared,
        rounds: 5,
      };
      const worker = new Worker(new URL('./filter-worker.js', import.meta.url), { workerData, execArgv: [] });
      await once(worker, 'exit');
    }),
  );
  const alone = HashFilter.counting({ ...memory, capacity: 100000, fillRate: 8 });
  for (let round = 0; round < threads * 5; round++) alone.add(shared);
  t.same(filter.get(shared), alone.get(shared));
  t.equal(filter.elementCount, alone.elementCount);
  h.arena.release(mark);
});
