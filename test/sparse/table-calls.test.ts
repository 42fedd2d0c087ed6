import { runInNewContext } from 'node:vm';
import t from 'tap';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import type { Ids } from '../../src/memory/given-arrays.js';
import { HEAP } from '../../src/memory/table-layout.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ENTRY_TYPE } from '../../src/sparse/config/config-messages.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import {
  AdagradOptimizer,
  BatchSoftmaxOptimizer,
  FixedR8Compressor,
  Fp16Compressor,
  SgdOptimizer,
} from '../../src/sparse/config/optimizers.js';
import {
  defineTable,
  generateTestHashTableConfig,
  HashTableConfigInstance,
  type TestTableOptions,
} from '../../src/sparse/config/table-config.js';
import { planTable } from '../../src/sparse/config/table-plan.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { PeriodicEviction } from '../../src/sparse/table/periodic-eviction.js';

const memory = await TableMemory.create({ budgetBytes: 8 << 20 });
const ids = (...list: bigint[]) => BigInt64Array.from(list);
const floats = (...list: number[]) => Float32Array.from(list);
let made = 0;
function testTable(dim: number, options: TestTableOptions = {}, more: Parameters<typeof HashTable.create>[2] = {}) {
  return HashTable.create(
    memory,
    { name: `table${made++}`, instance: generateTestHashTableConfig(dim, options) },
    more,
  );
}

t.test('what cannot be ids is refused with what was given', async (t) => {
  const table = testTable(1);
  for (const [given, reason] of [
    [Float64Array.of(1), 'a Float64Array of 1 was given'],
    ['1', '"1" was given'],
    [null, 'null was given'],
    [undefined, 'undefined was given'],
    [Object.create(null), 'an object with nothing in it was given'],
    [[1n, 'two'], 'value [1] is "two", no id'],
    [2 ** 53, '9007199254740992, no whole number below 2^53'],
    [[[1n], [1n, 1.5]], 'value [1][1] is 1.5, no whole number below 2^53'],
    [[2n ** 64n], 'value [0] is 18446744073709551616n, which has more than 64 bits'],
  ] as const) {
    const message = `table ${table.name} takes 64-bit ids: ${reason}`;
    const wrong = given as unknown as Ids;
    t.throws(() => table.lookup(wrong), { code: 'ML_IDS', message });
    t.throws(() => table.contains(wrong), { code: 'ML_IDS', message });
    t.throws(() => table.optimize(wrong, floats(1)), { code: 'ML_IDS', message });
    t.throws(() => table.remove(wrong), { code: 'ML_IDS', message });
  }
  table.assign(BigUint64Array.of(2n ** 64n - 1n), floats(3));
  t.equal(table.lookup(ids(-1n))[0], 3, 'the bit pattern counts');
});

t.test('ids and values are taken in every form that a session is fed with', async (t) => {
  const table = testTable(2);
  const foreign = runInNewContext('({ ids: BigInt64Array.of(5n), rows: Float32Array.of(9, 10) })');
  table.assign(
    [1n, 2],
    [
      [1, 2],
      [3, 4],
    ],
  );
  table.assign(Int32Array.of(3), Float64Array.of(5, 6));
  table.assign(4n, [7, 8]);
  table.assign(foreign.ids, foreign.rows);
  t.same([...table.lookup([[1n], [2n, 3n], [4, 5]])], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  t.same(table.contains([1n, 6n]), Uint8Array.of(1, 0));
  t.equal(table.remove(1), 1);
  t.throws(() => table.assign(1n, ['a', 'b'] as never), { code: 'ML_TABLE_DIM', hint: /value \[0\] is "a"/ });
  t.throws(() => table.lookup(1n, [0, 0] as never), { code: 'ML_TABLE_LOOKUP_DIM' });
  t.throws(() => table.optimize(1n, [0, 0], null as never), { code: 'ML_OPTION' });
  t.throws(() => table.optimize(1n, [0, 0], { dedup: true } as never), { code: 'ML_OPTION', hint: /enableDedup/ });
});

t.test('values of another width are refused in the words of upstream, and nothing changes', async (t) => {
  const table = testTable(2);
  const message = "The dim doesn't match expectation. 1.5 vs 2";
  t.throws(() => table.assignAdd(ids(1n, 2n), floats(1, 2, 3)), { code: 'ML_TABLE_DIM', message });
  t.throws(() => table.assign(ids(1n, 2n), floats(1, 2, 3)), { message });
  t.throws(() => table.optimize(ids(1n, 2n), floats(1, 2, 3)), { message });
  t.throws(() => table.optimizeOne(1n, floats(1)), { message: "The dim doesn't match expectation. 1 vs 2" });
  t.throws(() => table.assign(ids(1n), '12' as never), {
    code: 'ML_TABLE_DIM',
    hint: /Float32Array/,
  });
  t.throws(() => table.lookup(ids(1n), floats(1, 2, 3)), {
    code: 'ML_TABLE_LOOKUP_DIM',
    message: `dim_size should match hash table size. 3 vs 2. Node name: ${table.name}`,
  });
  for (const timeSec of [-1, 1.5, 2 ** 32, Number.NaN]) {
    t.throws(() => table.assign(ids(1n), floats(1, 2), { timeSec }), { code: 'ML_FLAG', message: /timeSec/ });
  }
  t.throws(() => table.optimize(ids(1n), floats(1, 2), { learningRates: [1, 2] }), { code: 'ML_RATE_COUNT' });
  t.equal(table.size, 0);
});

t.test('a bad gradient fails the call with its row, or is passed over and counted', async (t) => {
  for (const enableDedup of [false, true]) {
    const table = testTable(2);
    const gradients = floats(1, 1, 2, 2, 0, Number.NaN, 1, 1);
    t.throws(() => table.optimize(ids(5n, 5n, 6n, 7n), gradients, { enableDedup }), {
      code: 'ML_GRADIENT',
      message: `gradient of table ${table.name} is not finite: row 2, id 6`,
      fields: { table: table.name, row: 2, id: 6n },
    });
    t.strictSame([...table.contains(ids(5n, 6n, 7n))], [1, 0, 0], 'ids before it are done');
    const patient = testTable(2, {}, { badGradients: 'skip' });
    patient.optimize(ids(5n, 6n, 7n), floats(1, 1, Number.NEGATIVE_INFINITY, 0, 1, 2), { enableDedup });
    t.strictSame([...patient.lookup(ids(5n, 6n, 7n))], [-1, -1, 0, 0, -1, -2]);
    t.equal(patient.badGradientRows, 1);
  }
});

t.test('rates follow the step, and a call may bring its own', async (t) => {
  const rate = new PolynomialDecay({ initialLearningRate: 1, decaySteps: 2, endLearningRate: 3 });
  const table = testTable(1, { learningRate: rate });
  table.optimize(ids(1n), floats(1));
  table.optimize(ids(1n), floats(1), { globalStep: 1 });
  table.optimize(ids(1n), floats(1), { globalStep: 2 });
  t.equal(table.lookup(ids(1n))[0], -6);
  table.optimize(ids(1n), floats(1), { learningRates: [10] });
  t.equal(table.lookup(ids(1n))[0], -16);
  const there = HashTable.attach(table.handle, { memory });
  there.optimize(ids(1n), floats(1));
  t.equal(table.lookup(ids(1n))[0], -19, 'elsewhere a rate by step stays as the table has it');
  there.optimize(ids(1n), floats(1), { learningRates: [4] });
  t.equal(there.lookup(ids(1n))[0], -23);
});

t.test('a negative step is refused by an optimizer that counts steps', async (t) => {
  const table = HashTable.create(memory, defineTable('intervals', [{ dim: 1, optimizer: BatchSoftmaxOptimizer() }]));
  t.throws(() => table.optimize(ids(1n), floats(0), { globalStep: -3 }), {
    code: 'ML_GLOBAL_STEP',
    message: 'global_step=-3 is negative, please investigate!',
  });
  t.equal(table.size, 0);
});

t.test('serving tables keep compressed weights and refuse what needs an optimizer', async (t) => {
  const table = testTable(3, { entryType: 'serving' });
  table.assign(ids(1n, 2n), floats(1, 2, 3, 0, 0, 0));
  t.strictSame([...table.lookup(ids(2n, 1n))], [0, 0, 0, 1, 2, 3]);
  const message = (operation: string) => `ServingEntryAccessor doesn't support ${operation}`;
  t.throws(() => table.optimize(ids(1n), floats(1, 1, 1)), { code: 'ML_TABLE_SERVING', message: message('Optimize') });
  t.throws(() => table.optimizeOne(1n, floats(1, 1, 1)), { message: message('Optimize') });
  t.throws(() => table.lookupEntry(ids(1n)), { message: message('Save') });
  t.throws(() => table.rows(), { message: message('Save') });
  t.throws(() => table.sliceSize, { message: message('SliceSize') });
  table.restore([{ id: 9n, lastUpdateSec: 4, weights: floats(1, 2, 3), state: floats(5) }]);
  t.strictSame([...table.lookup(ids(9n))], [1, 2, 3]);
  t.equal(table.maxUpdateSec, 4);
  t.equal(testTable(3).sliceSize, 1);
});

t.test('configs that make no table are refused before memory is taken', async (t) => {
  const top = () => memory.banks[0]!.views.u32[memory.banks[0]!.heap / 4 + HEAP.top];
  const before = top();
  const create = (instance: HashTableConfigInstance) => () => HashTable.create(memory, { name: 'bad', instance });
  const segments = [{ dimSize: 2, initConfig: { zeros: {} }, optConfig: { sgd: {} } }];
  const cases: [HashTableConfigInstance, string][] = [
    [new HashTableConfigInstance({ entryConfig: { segments } }, [1]), 'ML_TABLE_TYPE'],
    [new HashTableConfigInstance({ entryConfig: { segments }, cuckoo: {} }, []), 'ML_RATE_COUNT'],
    [generateTestHashTableConfig(2, { skipZeroEmbedding: true }), 'ML_TABLE_SKIP_ZERO'],
    [generateTestHashTableConfig(0), 'ML_GRAPH'],
    [generateTestHashTableConfig(16385), 'ML_GRAPH'],
    [new HashTableConfigInstance({ cuckoo: {} }, []), 'ML_GRAPH'],
    [
      new HashTableConfigInstance(
        {
          cuckoo: {},
          entryConfig: { segments: [{ initConfig: { zeros: { dimSize: 1 } }, optConfig: { sgd: { dimSize: 2 } } }] },
        },
        [1],
      ),
      'ML_ENTRY_DIMS',
    ],
    [
      new HashTableConfigInstance(
        { cuckoo: {}, entryConfig: { entryType: ENTRY_TYPE.serving, segments: [{ dimSize: 2 }] } },
        [],
      ),
      'ML_ENTRY_COMP',
    ],
  ];
  for (const [instance, code] of cases) t.throws(create(instance), { code }, code);
  t.equal(top(), before);
  const parts = { initConfig: { zeros: { dimSize: 3 } }, optConfig: { sgd: { dimSize: 3 } } };
  const instance = new HashTableConfigInstance({ cuckoo: {}, entryConfig: { segments: [parts] } }, [1]);
  t.equal(planTable({ name: '', instance }).dim, 3, 'parts that agree may say the dimension');
});

t.test('a name is taken until its table is gone', async (t) => {
  const config = defineTable('MonolithHashTable_x', [{ dim: 1 }]);
  const first = HashTable.create(memory, config);
  const message = 'shared_name MonolithHashTable_x has already been used.';
  t.throws(() => HashTable.create(memory, config), { code: 'ML_TABLE_NAME', message });
  first.dispose();
  HashTable.create(memory, config).dispose();
});

t.test('a table that is full says so, can still be read, and goes on after an eviction', async (t) => {
  const small = await TableMemory.create({ budgetBytes: 3 << 20, bankBytes: (1 << 20) + 65536 });
  const table = HashTable.create(small, {
    name: 'full',
    instance: generateTestHashTableConfig(64, { defaultExpireTime: 1 }),
  });
  const many = BigInt64Array.from({ length: 20_000 }, (_, i) => BigInt(i));
  t.throws(() => table.assign(many, new Float32Array(many.length * 64).fill(1)), {
    code: 'ML_MEMORY',
    message: /table full with \d+ rows needs 256 bytes/,
    hint: /evict/,
  });
  const { size } = table;
  t.ok(size > 1000 && size < many.length, `${size} rows fit`);
  t.equal(table.lookup(many).filter((value) => value === 1).length, size * 64);
  t.throws(() => table.optimize(many, new Float32Array(many.length * 64)), { code: 'ML_MEMORY' });
  t.equal(table.evict(86400), size);
  t.equal(table.size, 0);
  table.assign(many.subarray(0, 500), new Float32Array(500 * 64));
  t.equal(table.size, 500);
});

t.test('the summary has the numbers of upstream', async (t) => {
  const table = HashTable.create(
    memory,
    defineTable('told', [
      { dim: 2, optimizer: AdagradOptimizer() },
      { dim: 3, optimizer: SgdOptimizer(), initializer: ZerosInitializer() },
    ]),
  );
  t.equal(JSON.parse(table.summary()).load_factor, 0);
  table.assign(ids(1n, 2n, 3n), new Float32Array(15));
  const { load_factor: loadFactor, ...rest } = JSON.parse(table.summary());
  const bytes = 3 * ((2 + 2 + 3) * 4 + 8);
  t.same(rest, { accessor: 'adagrad(D=2)|sgd(D=3)', size: 3, memory: bytes, memory_if_not_compressed: bytes });
  t.ok(loadFactor > 0 && loadFactor <= 1);
  const segments = [
    { dim: 4, compressor: Fp16Compressor() },
    { dim: 4, compressor: FixedR8Compressor() },
  ];
  const serving = HashTable.create(memory, defineTable('told too', segments, { entryType: 'serving' }));
  serving.assign(ids(1n), new Float32Array(8).fill(1));
  t.match(JSON.parse(serving.summary()), {
    accessor: 'Fp16(D=4)|FixedR8(D=4)',
    memory: 12 + 8,
    memory_if_not_compressed: 32 + 8,
  });
});

t.test('a wide table makes room for itself, and others find theirs again', async (t) => {
  const large = await TableMemory.create({ budgetBytes: 24 << 20 });
  const [narrow, wide] = [2, 16384].map((dim) =>
    HashTable.create(large, { name: '', instance: generateTestHashTableConfig(dim) }),
  ) as [HashTable, HashTable];
  narrow.assign(ids(1n), floats(1, 2));
  const row = Float32Array.from({ length: 16384 }, (_, i) => i);
  const list = BigInt64Array.from({ length: 20 }, (_, i) => BigInt(i));
  wide.assign(
    list,
    Float32Array.from({ length: 20 * 16384 }, (_, i) => i % 16384),
  );
  t.strictSame(wide.lookup(ids(19n)), row);
  narrow.release();
  t.strictSame([...narrow.lookup(ids(1n))], [1, 2]);
  t.strictSame(wide.lookup(ids(0n)), row);
  wide.dispose();
});

t.test('rows are evicted every so many hours, by the time of the data', async (t) => {
  let now = 1000;
  const table = testTable(1, { defaultExpireTime: 2 });
  const eviction = new PeriodicEviction(table, { everyHours: 3, nowSec: () => now });
  const day = 86400;
  table.assign(ids(1n), floats(1), { timeSec: day });
  table.assign(ids(2n), floats(1), { timeSec: 3 * day });
  now += 100 * day;
  t.equal(eviction.poll(), 0, 'the first poll starts the clock');
  now += 3 * 3600 - 1;
  t.equal(eviction.poll(), 0);
  now += 1;
  t.equal(eviction.poll(), 1);
  t.strictSame([...table.contains(ids(1n, 2n))], [0, 1]);
  now += 3 * 3600;
  t.equal(eviction.poll(), 0, 'no data, no age');
  eviction.start();
  eviction.start();
  eviction.stop();
  t.throws(() => new PeriodicEviction(table, { everyHours: 0 }), { code: 'ML_FLAG' });
});
