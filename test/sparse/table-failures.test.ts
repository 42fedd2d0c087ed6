import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { HEAP } from '../../src/memory/table-layout.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { heapBlock } from '../../src/sparse/table/table-control.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const segment = { dim: 2, initializer: ZerosInitializer(), optimizer: SgdOptimizer(), learningRate: 1 };
const config = (name: string, dim = 2) => defineTable(name, [{ ...segment, dim }]);
const small = () => TableMemory.create({ budgetBytes: 1 << 20 });
const one = BigInt64Array.of(7n);

t.test('a table that finds no room leaves no trace: not its name, not a block', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 2 << 20, bankBytes: (1 << 20) + 65536 });
  t.equal(memory.banks.length, 2);
  HashTable.create(memory, config('first'));
  const ends = memory.banks.map(({ views, heap }) => views.u32[heap / 4 + HEAP.end]!);
  const used = memory.usedBytes;
  const { views, heap } = memory.banks[1]!;
  for (const roomBytes of [0, 256, 1024, 8192]) {
    views.u32[heap / 4 + HEAP.end] = views.u32[heap / 4 + HEAP.top]! + roomBytes;
    t.throws(() => HashTable.create(memory, config('second', 1000), { whenFull: 'stop-admitting' }), {
      code: 'ML_MEMORY',
    });
  }
  const once = memory.usedBytes;
  t.throws(() => HashTable.create(memory, config('second', 1000), { whenFull: 'stop-admitting' }), {
    code: 'ML_MEMORY',
  });
  t.equal(memory.usedBytes, once, 'a failed attempt gives its blocks back');
  views.u32[heap / 4 + HEAP.end] = ends[1]!;
  const second = HashTable.create(memory, config('second', 1000));
  second.assign(one, new Float32Array(1000).fill(1));
  t.equal(second.size, 1);
  t.ok(memory.usedBytes > used);
});

t.test('a table that was disposed of says so, and its memory stays whole', async (t) => {
  const memory = await small();
  const gone = HashTable.create(memory, config('gone'));
  const other = HashTable.create(memory, config('other'));
  gone.assign(one, Float32Array.of(1, 2));
  other.assign(one, Float32Array.of(3, 4));
  gone.dispose();
  const closed = { code: 'ML_CLOSED', message: /table gone/ };
  t.throws(() => gone.dispose(), closed, 'twice would give its blocks back twice');
  t.throws(() => gone.lookup(one), closed);
  t.throws(() => gone.assign(one, Float32Array.of(1, 2)), closed);
  t.throws(() => gone.size, closed);
  t.throws(() => gone.clear(), closed);
  t.throws(() => gone.evict(1), closed);
  t.throws(() => gone.rows().next(), closed);
  const again = HashTable.create(memory, config('gone'));
  t.strictSame([...again.lookup(one), ...other.lookup(one)], [0, 0, 3, 4]);
});

t.test('steps and times that are no such numbers are refused', async (t) => {
  const table = HashTable.create(await small(), config('t'));
  const gradient = Float32Array.of(1, 1);
  for (const globalStep of [1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => table.optimize(one, gradient, { globalStep }), { code: 'ML_FLAG', message: /globalStep/ });
  }
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => table.evict(time), { code: 'ML_FLAG' });
  t.throws(() => table.optimize(one, gradient, { learningRates: [Number.NaN] }), { code: 'ML_RATE' });
  t.equal(table.size, 0);
});

t.test('banks that could hold nothing are refused', async (t) => {
  for (const bankBytes of [-1, 0, 100, 65536, Number.NaN, 2 ** 33]) {
    await t.rejects(TableMemory.create({ budgetBytes: 4 << 20, bankBytes }), { code: 'ML_MEMORY' }, `${bankBytes}`);
  }
});

t.test('a request beyond 32 bits is refused, not cut', async (t) => {
  const [bank] = (await small()).banks;
  for (const bytes of [2 ** 31 + 1, 2 ** 32, 2 ** 32 + 64, 2 ** 40]) {
    t.throws(() => heapBlock(bank!, bytes, 'stage'), { code: 'ML_MEMORY' });
  }
});

t.test('rates given to one call are for that call alone', async (t) => {
  const graph = new Graph();
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
  const users = config('users');
  const looked = embeddingLookup(ids, users);
  const seed = placeholder(graph, { name: 'seed', width: 2 });
  const updates = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]);
  await withSession(graph, { batchSize: 1 }, async (session) => {
    const table = HashTable.of(session, users);
    table.optimize(one, Float32Array.of(-1, -1), { learningRates: [100] });
    t.equal(table.lookup(one)[0], 100);
    await session.run([...updates], { ids: raggedOf([[7n]]), seed: Float32Array.of(-1, -1) });
    t.equal(table.lookup(one)[0], 101, 'the step has its own');
  });
});
