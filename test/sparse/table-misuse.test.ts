import t from 'tap';
import { MultiHashTable } from '../../src/api/tables.js';
import * as compat from '../../src/compat/index.js';
import * as ml from '../../src/index.js';

const memory = await ml.tables.TableMemory.create({ budgetBytes: 8 << 20 });
const sgd = [{ dim: 1, optimizer: ml.sparse.sgd() }];
const one = BigInt64Array.of(1n);

/** Values that types would not let through, as JavaScript does. */
const untyped = <T>(value: unknown): T => value as T;

t.test('a misspelt choice is refused, and leaves the name free', async (t) => {
  const config = ml.defineTable('choices', sgd);
  t.throws(() => ml.tables.HashTable.create(memory, config, { whenFull: untyped('evict') }), {
    code: 'ML_FLAG',
    message: 'whenFull: evict is none of fail, evict-expired, stop-admitting',
  });
  t.throws(() => ml.tables.HashTable.create(memory, config, { badGradients: untyped('ignore') }), { code: 'ML_FLAG' });
  ml.tables.HashTable.create(memory, config).dispose();
  t.throws(() => ml.defineTable('x', sgd, { entryType: untyped('serve') }), { code: 'ML_FLAG' });
});

t.test('an option that an optimizer does not have is refused with those it has', async (t) => {
  const optimizer = untyped<ReturnType<typeof ml.sparse.sgd>>({ adagrad: { learning_rate: 1 } });
  t.throws(() => ml.defineTable('x', [{ dim: 1, optimizer }]), {
    code: 'ML_FLAG',
    message: 'adagrad.learning_rate: the optimizer has no such option',
    hint: /learningRate/,
  });
});

t.test('a plain function is no learning rate', async (t) => {
  t.throws(() => ml.defineTable('x', [{ dim: 1, learningRate: untyped(() => 1) }]), { code: 'ML_RATE' });
});

t.test('a config without a name is told from a table config, and multi tables take either', async (t) => {
  const instance = compat.generateTestHashTableConfig(1);
  t.throws(() => ml.tables.HashTable.create(memory, untyped(instance)), { code: 'ML_GRAPH', message: /defineTable/ });
  const table = MultiHashTable.create(memory, { a: instance, b: ml.defineTable('other', sgd) });
  t.same([table.name, table.tables.get('b').name], ['MonolithMultiHashTable_', 'MonolithMultiHashTable_/b']);
});

t.test('milliseconds and fractions of steps are refused before anything is done', async (t) => {
  const table = ml.tables.HashTable.create(memory, ml.defineTable('times', sgd));
  table.assign(one, Float32Array.of(1), { timeSec: 1_700_000_000 });
  for (const now of [1_700_000_000_000, -1, Number.NaN]) t.throws(() => table.evict(now), { code: 'ML_FLAG' });
  t.throws(() => table.optimize(one, Float32Array.of(1), { globalStep: 1.5 }), { code: 'ML_FLAG' });
  t.same([table.size, ...table.lookup(one)], [1, 1]);
  table.dispose();
});

t.test('a disposed table says so, and cannot be disposed of twice', async (t) => {
  const table = ml.tables.HashTable.create(memory, ml.defineTable('gone', sgd));
  table.dispose();
  const closed = { code: 'ML_CLOSED', message: /table gone/ };
  t.throws(() => table.lookup(one), closed);
  t.throws(() => table.dispose(), closed);
});

t.test('a region of a memory is zero, and what does not fit is refused', async (t) => {
  const small = await ml.tables.TableMemory.create({ budgetBytes: 2 << 20 });
  const filter = () =>
    ml.tables.createFilter({ ...small.region(1 << 19), type: 'sliding_hash_filter', capacity: 1000 });
  const [first, second] = [filter(), filter()] as [ml.tables.HashFilter, ml.tables.HashFilter];
  t.same([...first.add(one), ...first.add(one)], [0, 1]);
  t.same([...second.add(one)], [0]);
  for (const bytes of [4 << 20, 0, Number.NaN]) t.throws(() => small.region(bytes), { code: 'ML_MEMORY' });
});
