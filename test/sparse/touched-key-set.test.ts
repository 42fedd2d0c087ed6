import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import type { Ids } from '../../src/memory/given-arrays.js';
import { touchedGeometry } from '../../src/memory/touched-geometry.js';
import { TouchedKeySet, type TouchedKeySetOptions } from '../../src/sparse/table/touched-key-set.js';
import { KernelHarness } from '../kernels/harness.js';
import { parityCase } from './parity.js';

const harness = await KernelHarness.create(256 << 20);
const { memory, wasm: kernels } = harness;

function makeSet(options: { capacity?: number; concurrencyLevel?: number; nameSuffix?: string } = {}): TouchedKeySet {
  return new TouchedKeySet({ memory, kernels, arena: harness.arena, ...options });
}

type Range = { range: [number, number] };
interface OpsCase {
  input: { capacity: number; concurrency_level: number; ops: { op: 'insert' | 'steal'; ids?: Range }[] };
  expected: { insert_dropped: number; steal_sorted: Range | number[]; size_after_steal?: number };
}

const numbers = (list: Range | number[]) =>
  Array.isArray(list) ? list : Array.from({ length: list.range[1] - list.range[0] }, (_, i) => list.range[0] + i);
const ids = (list: Range | number[]) => BigInt64Array.from(numbers(list), BigInt);

for (const name of ['insert_within_capacity', 'insert_over_capacity_clears_all']) {
  t.test(`parity: ${name}`, async (t) => {
    const { input, expected } = parityCase<OpsCase>('touched_key_set', name);
    const set = makeSet({ capacity: input.capacity, concurrencyLevel: input.concurrency_level });
    for (const { op, ids: given } of input.ops) {
      if (op === 'insert') t.equal(set.insert(ids(given!)), expected.insert_dropped);
      else t.same(set.steal().sort(), ids(expected.steal_sorted));
    }
    t.equal(set.size, expected.size_after_steal ?? 0);
  });
}

t.test('parity: thousand_distinct_keys_roundtrip', async (t) => {
  const { input, expected } = parityCase<{
    input: { capacity: number; concurrency_level: number; distinct_keys: number };
    expected: { get_and_clear_count: number };
  }>('hopscotch_hash_set', 'thousand_distinct_keys_roundtrip');
  const set = makeSet({ capacity: input.capacity, concurrencyLevel: input.concurrency_level });
  const keys = BigInt64Array.from({ length: input.distinct_keys }, (_, i) => BigInt(i * i) * 1_000_003n - 5n);
  for (const key of keys) t.equal(set.insert(key), 0);
  t.equal(set.size, expected.get_and_clear_count);
  t.same(set.steal().sort(), keys.sort());
});

t.test('parity: derived_table_geometry', async (t) => {
  const { input, expected } = parityCase<{
    input: { cases: { capacity: number; concurrency: number }[] };
    expected: { cases: { buckets: number; entries: number; locks: number }[] };
  }>('hopscotch_hash_set', 'derived_table_geometry');
  const found = input.cases.map((c) => touchedGeometry(c.capacity, c.concurrency));
  t.same(
    found.map((g) => ({ buckets: g.buckets, entries: g.slots, locks: g.locks })),
    expected.cases,
  );
});

t.test('a set made without numbers has the defaults of the reference', async (t) => {
  const mark = harness.arena.mark();
  const set = makeSet();
  t.equal(set.capacity, 2097152);
  t.equal(set.concurrencyLevel, 1024);
  t.equal(set.sharedName, 'MonolithTouchedKeySet');
  t.equal(set.size, 0);
  t.same(set.steal(), new BigInt64Array(0));
  t.equal(kernels.capacityOfTouchedKeys(set.handle.pointer), 2097152);
  harness.arena.release(mark);
});

t.test('sets with different suffixes are distinct', async (t) => {
  const a = makeSet({ capacity: 10, nameSuffix: '_a' });
  const b = makeSet({ capacity: 10, nameSuffix: '_b' });
  t.equal(a.sharedName, 'MonolithTouchedKeySet_a');
  t.equal(b.sharedName, 'MonolithTouchedKeySet_b');
  a.insert([1n]);
  b.insert([2n]);
  t.same(a.steal(), BigInt64Array.of(1n));
  t.same(b.steal(), BigInt64Array.of(2n));
});

t.test('a set is reached by its handle', async (t) => {
  const set = makeSet({ capacity: 10 });
  const other = TouchedKeySet.attach(structuredClone(set.handle), { memory, kernels });
  other.insert([7n]);
  t.same([set.size, other.capacity, other.sharedName], [1, 10, set.sharedName]);
  t.same(set.steal(), BigInt64Array.of(7n));
  t.equal(other.size, 0);
  const astray = { ...set.handle, pointer: 1024 };
  t.throws(() => TouchedKeySet.attach(astray, { memory, kernels }), { code: 'ML_TOUCHED_SIZE' });
});

t.test('a set without memory says where it comes from', async (t) => {
  for (const options of [{}, { memory, kernels }, { memory, arena: harness.arena }, { memory, kernels, arena: {} }]) {
    const make = () => new TouchedKeySet(options as TouchedKeySetOptions);
    t.throws(make, { code: 'ML_OPTION', fields: { option: 'arena' }, hint: /sessionRegion/ });
  }
});

t.test('ids of any shape are flattened, and either reading of 64 bits is the same id', async (t) => {
  const set = makeSet({ capacity: 100 });
  set.insert([[1n, 2n], [[3n], BigInt64Array.of(4n, -1n)], []]);
  set.insert(5n);
  set.insert([]);
  set.insert(BigUint64Array.of((1n << 64n) - 1n));
  set.insert([(1n << 64n) - 1n]);
  t.same(set.steal().sort(), BigInt64Array.of(-1n, 1n, 2n, 3n, 4n, 5n));
});

t.test('ids that are in the shared memory are read where they are', async (t) => {
  const set = makeSet({ capacity: 10_000 });
  const at = harness.putI64(Array.from({ length: 5000 }, (_, i) => BigInt(i)));
  t.equal(set.insert(new BigInt64Array(harness.buffer, at, 5000)), 0);
  t.equal(set.size, 5000);
  t.equal(set.insert(BigInt64Array.from({ length: 9000 }, (_, i) => BigInt(i))), 0);
  t.equal(set.steal().length, 9000);
});

t.test('ids of another type are refused', async (t) => {
  const set = makeSet({ capacity: 10 });
  const wrong: unknown[] = [1.5, '1', null, undefined, {}, [1n, 2.5], new Float64Array(1), 2 ** 53, [1n << 64n]];
  for (const value of wrong) {
    t.throws(() => set.insert(value as Ids), { name: 'MonolithError', code: 'ML_ID_TYPE' });
  }
  t.equal(set.size, 0);
});

t.test('a set of no size is refused', async (t) => {
  for (const wrong of [{ capacity: 0 }, { capacity: 1.5 }, { concurrencyLevel: 0 }, { capacity: 2 ** 40 }]) {
    t.throws(() => makeSet(wrong), { code: 'ML_TOUCHED_SIZE' });
  }
  t.throws(() => makeSet({ capacity: 50_000_000 }), { code: 'ML_MEMORY' });
});

t.test('a lock that is never given back ends the call with an error', async (t) => {
  const set = makeSet({ capacity: 10 });
  const dead = { insertTouchedKeys: () => -1, beginSteal: () => -1 };
  const stuck = TouchedKeySet.attach(set.handle, { memory, kernels: { ...kernels, ...dead } });
  t.throws(() => stuck.insert(1n), { code: 'ML_TIMEOUT' });
  t.throws(() => stuck.steal(), MonolithError);
  const full = TouchedKeySet.attach(set.handle, { memory, kernels: { ...kernels, acquireTouchedLane: () => 0 } });
  t.throws(() => full.insert(1n), { code: 'ML_TIMEOUT' });
  t.equal(set.insert(1n), 0, 'the lane was given back');
});
