/** @file A model function that declares slices between its lookups: collected first, then built over tables. */
import t from 'tap';
import { FirstN, ReduceMean } from '../../src/feature/model/combiners.js';
import { DummyFeatureFactory } from '../../src/feature/model/dummy-feature-factory.js';
import type { EmbeddingFactory } from '../../src/feature/model/embedding-factory.js';
import { CpuFeatureFactory, FeatureFactoryFromEmbeddings } from '../../src/feature/model/factory-from-embeddings.js';
import { FeatureColumn } from '../../src/feature/model/feature-column.js';
import type { SlotTableOptions } from '../../src/feature/model/slot-tables.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { withSession } from '../runtime/with-session.js';

const inputs = (graph: Graph) => ({
  user: raggedPlaceholder(graph, { name: 'user', valuesPerRow: 2 }),
  item: raggedPlaceholder(graph, { name: 'item', valuesPerRow: 2 }),
  label: placeholder(graph, { name: 'label' }),
});

/** The sum of the dot products of two slices, the second of which is declared after the first was looked up. */
function pairs(factory: EmbeddingFactory): { loss: Tensor; trainOp: Op; columns: readonly FeatureColumn[] } {
  const config = { defaultVecOptimizer: SgdOptimizer({ learningRate: 1 }), defaultVecInitializer: ZerosInitializer() };
  const columns = ['user', 'item'].map((name) => {
    return new FeatureColumn(factory.createFeatureSlot({ name, ...config }), name);
  });
  const lookup = (dim: number) => columns.map((column) => column.embeddingLookup(column.slot.addFeatureSlice(dim)));
  const [a, b] = lookup(2);
  const [c, d] = lookup(3);
  const loss = reduceSum(rowDot(a!, b!), { name: 'sum' });
  const linear = [c!, d!].map((x, i) => reduceSum(x, { name: `linear_${i}` }));
  const found = gradients(
    [loss, ...linear],
    columns.map((column) => column.getAllEmbeddingsConcat()),
  );
  return { loss, trainOp: factory.applyGradients(columns.map((column, i) => [found[i], column])), columns };
}

function built(options: SlotTableOptions = {}) {
  const dry = new Graph();
  const collected = new DummyFeatureFactory(4, dry, inputs(dry));
  pairs(collected);
  const graph = new Graph();
  const factory = new CpuFeatureFactory({ graph, features: inputs(graph), collected, ...options });
  return { graph, collected, factory, ...pairs(factory) };
}

t.test('slices that are declared after a lookup are columns of the same rows', async (t) => {
  const { graph, collected, columns } = built();
  t.same(
    [...collected.slots.values()].map(({ dim, sliceDims }) => [dim, sliceDims]),
    [
      [5, [2, 3]],
      [5, [2, 3]],
    ],
  );
  for (const column of columns) t.same(column.getAllEmbeddingsConcat().spec.shape, ['batch', 5]);
  t.equal(graph.tensor('user:0_2').columns, 2);
  t.equal(graph.tensor('user:2_5').columns, 3);
  t.equal(graph.getCollection(TABLES).length, 1, 'slots of one config share a table');
  t.equal(built({ merge: false }).graph.getCollection(TABLES).length, 2, 'or each has its own');
});

t.test('gradients of columns step their rows', async (t) => {
  const { graph, trainOp, loss, columns } = built({ merge: false });
  const schema = [
    { name: 'user', kind: 'ragged' },
    { name: 'item', kind: 'ragged' },
    { name: 'label', kind: 'dense', width: 1 },
  ] as const;
  await withSession(graph, { schema, batchSize: 2 }, async (session) => {
    const feeds = { user: [[1n], [1n]], item: [[7n], []], label: [0, 0] };
    await session.run([trainOp], feeds);
    t.equal(await session.run([loss], feeds).then(([value]) => value), 0);
    const [user] = await session.run([columns[0]!.getAllEmbeddingsConcat()], feeds);
    t.same([...(user as Float32Array)], [0, 0, -2, -2, -2, 0, 0, -2, -2, -2], 'two examples with one id: one step');
  });
});

t.test('collect mode asks no more of a model than its shapes', async (t) => {
  const graph = new Graph();
  const dummy = new DummyFeatureFactory(4, graph, inputs(graph));
  const slot = dummy.createFeatureSlot({ name: 'user', hasBias: true });
  const column = new FeatureColumn(slot, 'user', new FirstN(3));
  t.same(column.embeddingLookup(slot.addFeatureSlice(2)).spec.shape, ['batch', 3, 2]);
  t.same(column.getBias().spec.shape, ['batch', 3, 1]);
  t.equal(column.getBias(), column.getBias(), 'asked for twice it is the same tensor');
  t.same(column.getSizeTensor().spec.shape, ['batch', 3]);
  t.same(dummy.applyGradients().inputs, []);
});

t.test('the size of a sequence can be that of other ids', async (t) => {
  const graph = new Graph();
  const features = inputs(graph);
  const dummy = new DummyFeatureFactory(4, graph, features);
  const slot = dummy.createFeatureSlot({ name: 'user' });
  const column = new FeatureColumn(slot, 'user', new FirstN(3));
  column.setSizeTensor(features.item);
  t.equal(column.getSizeTensor().op.inputs[0], features.item);
  t.throws(() => new FeatureColumn(slot, 'item').setSizeTensor(features.item), {
    message: /only FirstN has positions/,
  });
});

t.test('what does not fit is refused in the words of the reference', async (t) => {
  const graph = new Graph();
  const dummy = new DummyFeatureFactory(4, graph, inputs(graph));
  const [user, item] = ['user', 'item'].map((name) => dummy.createFeatureSlot({ name }));
  new FeatureColumn(user!, 'user');
  t.throws(() => new FeatureColumn(item!, 'user'), {
    code: 'ML_FEATURE_TABLE',
    message: 'Feature must only belongs to one table.',
  });
  t.throws(() => new FeatureColumn(user!, 'user', new ReduceMean()), { message: /one combiner/ });
  t.throws(() => dummy.createFeatureSlot({ name: 'user' }), { message: /Duplicate names for the table\. Name: user/ });
  t.throws(() => dummy.assertSlices(), { message: /user has no slice, pls\. check!/ });
  const stray = new FeatureColumn(item!, 'itme');
  t.throws(() => stray.ids, { code: 'ML_GRAPH', hint: /item/ });
  t.throws(() => new FeatureColumn(dummy.createFeatureSlot({ name: 'x' }), 'label').ids, { message: /floats/ });
});

t.test('a model that declares something else the second time is refused', async (t) => {
  const { factory, columns } = built();
  const slot = factory.createFeatureSlot({ name: 'late' });
  t.throws(() => new FeatureColumn(slot, 'user'), {
    code: 'ML_GRAPH',
    message: /looked up in slot late, and had slot user/,
  });
  t.throws(() => new FeatureColumn(slot, 'label'), { message: /and had no slot when the slots were collected/ });
  t.throws(() => factory.createFeatureSlot({ name: 'late' }), { message: /Duplicate names/ });
  const [user] = columns;
  t.throws(() => user!.embeddingLookup(user!.slot.addFeatureSlice(2)), { message: /user:5_7 ends past the 5 columns/ });
});

t.test('lookups that exist already are found by their names', async (t) => {
  const graph = new Graph();
  const [rows, part] = ['rows', 'part'].map((name) => placeholder(graph, { name, width: 4 }));
  const factory = new FeatureFactoryFromEmbeddings({ user: rows! }, { 'user:0_4': part! });
  const slot = factory.createFeatureSlot({ name: 'user' });
  const column = new FeatureColumn(slot, 'user');
  t.equal(column.getAllEmbeddingsConcat(), rows);
  t.equal(column.embeddingLookup(slot.addFeatureSlice(4)), part);
  t.throws(() => column.embeddingLookup(slot.addFeatureSlice(1)), { message: /user:4_5.*no lookup of this name/ });
  t.throws(() => column.ids, { message: /no ids/ });
  t.throws(() => factory.applyGradients([]), { code: 'ML_UNIMPLEMENTED' });
});
