/** @file Embeddings of fields: tables of their own, shared ones, biases, sequences, weights, admission and expiry. */
import t from 'tap';
import { encodeRows } from '../../src/data/encode-rows.js';
import { f } from '../../src/data/fields.js';
import { defineSchema, type Features } from '../../src/data/schema.js';
import type { Tensor } from '../../src/graph/graph.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import type { ModelBuilder } from '../../src/model/model-builder.js';
import { OnesInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { defineModel } from '../../src/train/define-model.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

/** Sums each row of the tensors, so that values can be told from outside. */
const sums = (list: readonly Tensor[]) => list.map((x) => reduceSum(x, { axis: 'columns' }));

t.test('equal ids of two features are two rows, unless a table is shared', async (t) => {
  const schema = defineSchema({ user: f.id(), item: f.id(), click: f.label() });
  const { feeds } = encodeRows(schema, [
    { user: 7, item: 7, click: 1 },
    { user: 8, item: 7, click: 0 },
  ]);
  const sizes = async (share?: string | true) => {
    const model = defineModel(schema, { name: 'm' }, ({ user, item }, m) => {
      const [u, i] = m.embed([user, item], { dim: 2, bias: true, ...(share !== undefined && { share }) });
      return m.binary([rowDot(u, i), m.biases()]);
    });
    const { graph, trainOp } = model.build('train');
    return withSession(graph, { schema }, async (session) => {
      await session.run([trainOp], feeds);
      return graph.getCollection(TABLES).map((table) => [table.name, HashTable.of(session, table).size]);
    });
  };
  t.same(await sizes(), [
    ['user', 2],
    ['item', 1],
  ]);
  t.same(await sizes(true), [['user', 2]]);
  t.same(await sizes('ids'), [['ids', 2]]);
});

for (const backend of BACKENDS) {
  t.test(`many ids are summed, meant, lined up and weighted, ${backend}`, async (t) => {
    const schema = defineSchema({
      tags: f.ids({ max: 3 }),
      liked: f.ids({ weights: ':', max: 3 }),
      click: f.label(),
    });
    const seen: Record<string, Tensor> = {};
    const row = { dim: 2, initializer: OnesInitializer(), optimizer: SgdOptimizer({ learningRate: 0 }) };
    const model = defineModel(schema, { name: 'm' }, ({ tags, liked }, m) => {
      const of = (feature: typeof tags, combiner?: 'sum' | 'mean' | { firstN: number }) =>
        m.embed(feature, { ...row, share: feature.name, ...(combiner && { combiner }) });
      const lookups = [
        of(tags),
        of(tags, 'sum'),
        of(tags, { firstN: 2 }),
        of(liked),
        of(liked, 'mean'),
        of(liked, { firstN: 2 }),
      ];
      const list = sums(lookups);
      Object.assign(seen, Object.fromEntries(list.map((sum, index) => [`s${index}`, sum])));
      return m.binary(addN(list));
    });
    const { graph, trainOp } = model.build('train');
    const rows = [
      { tags: [1, 2, 3], liked: 'a:0.5|b:2'.replace('|', ','), click: 1 },
      { tags: [], liked: null, click: 0 },
      { tags: [4], liked: 'c', click: 0 },
    ];
    const { feeds } = encodeRows(schema, rows);
    await withSession(graph, { schema, backend }, async (session) => {
      await session.run([trainOp], feeds); // rows are made: of ones
      const found = await session.run(Object.values(seen), feeds, { mode: 'eval' });
      const values = found.map((value) => [...(value as Float32Array)]);
      t.same(values[0], [2, 0, 2], 'mean');
      t.same(values[1], [6, 0, 2], 'sum');
      t.same(values[2], [4, 0, 2], 'the first two');
      t.same(values[3], [5, 0, 2], 'weighted sum');
      t.same(
        values[4]!.map((x) => Math.round(x * 1e5) / 1e5),
        [2, 0, 2],
        'weighted mean',
      );
      t.same(values[5], [5, 0, 2], 'the first two, each times its weight');
    });
  });
}

t.test('weights have their part in what is learnt', async (t) => {
  const schema = defineSchema({ liked: f.ids({ weights: ':', max: 2 }), click: f.label() });
  const model = defineModel(schema, { name: 'm' }, ({ liked }, m) =>
    m.binary(m.embed(liked, { dim: 1, initializer: OnesInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) })),
  );
  const { graph, trainOp } = model.build('train');
  await withSession(graph, { schema }, async (session) => {
    const { feeds } = encodeRows(schema, [
      {
        liked: [
          ['a', 0],
          ['b', 3],
        ],
        click: 1,
      },
    ]);
    await session.run([trainOp], feeds); // makes the rows: the gradient was that of an absent row, 0.5 - 1 times 3
    const table = HashTable.of(session, graph.getCollection(TABLES)[0]!);
    const ids = encodeRows(defineSchema({ x: f.ids() }), [{ x: ['a', 'b'] }]).feeds.x as { values: BigInt64Array };
    t.same([...table.lookup(ids.values)], [1, 2.5]);
  });
});

t.test('ids get rows by minCount and lose them by expireDays', async (t) => {
  const schema = defineSchema({
    item: f.id({ minCount: 3, expireDays: 7, remembered: 1000 }),
    when: f.time(),
    click: f.label(),
  });
  const model = defineModel(schema, { name: 'm' }, ({ item }, m) => m.binary(m.embed(item, { dim: 1 })));
  const { graph, trainOp } = model.build('train');
  const day = 86400;
  await withSession(graph, { schema }, async (session) => {
    const table = HashTable.of(session, graph.getCollection(TABLES)[0]!);
    const sizes: number[] = [];
    for (let sight = 1; sight <= 4; sight++) {
      await session.run([trainOp], encodeRows(schema, [{ item: 'a', when: 1000 * day, click: 1 }]).feeds);
      sizes.push(table.size);
    }
    t.same(sizes, [0, 0, 1, 1], 'at its third sight');
    t.same([table.evict(1006 * day), table.evict(1008 * day)], [0, 1]);
  });
  const timeless = defineSchema({ item: f.id({ expireDays: 7 }), click: f.label() });
  t.throws(() => defineModel(timeless, { name: 'm' }, ({ item }, m) => m.binary(m.embed(item, { dim: 1 }))), {
    code: 'ML_OPTION',
    hint: /f\.time/,
  });
});

t.test('what cannot be embedded is told with the feature', async (t) => {
  const schema = defineSchema({ user: f.id(), tags: f.ids(), click: f.label() });
  type Build = (inputs: { user: never; tags: never }, m: ModelBuilder<Features>) => Tensor;
  const build = (make: Build) => () =>
    defineModel(schema, { name: 'm' }, (inputs, m) => m.binary(make(inputs as never, m as never))).build('train');
  t.throws(
    build(({ user }, m) => m.embed(user, { dim: 0 })),
    { code: 'ML_GRAPH', message: /user.* 0 floats/ },
  );
  t.throws(
    build(({ user }, m) => m.embed(user, { dim: 2, combiner: { firstN: 2 } })),
    { hint: /f\.ids/, code: 'ML_GRAPH' },
  );
  t.throws(
    build(({ user }, m) => m.embed(user, { dims: 2 } as never)),
    { code: 'ML_OPTION', hint: /dim/ },
  );
  t.throws(
    build((_, m) => m.biases()),
    { code: 'ML_GRAPH', hint: /bias: true/ },
  );
  const twice: Build = ({ user, tags }, m) => {
    m.embed(user, { dim: 2, share: 'all' });
    return m.embed(tags, { dim: 3, share: 'all' });
  };
  t.throws(build(twice), { code: 'ML_GRAPH', message: /all.* 2 floats, and tags wants 3 floats/ });
});

t.test('a feature embedded twice has two tables, and a stopped one is left alone', async (t) => {
  const schema = defineSchema({ user: f.id(), click: f.label() });
  const model = defineModel(schema, { name: 'm', freeze: ['user_1'] }, ({ user }, m) =>
    m.binary([m.embed(user, { dim: 1 }), stopGradient(m.embed(user, { dim: 1 }))]),
  );
  const { graph } = model.build('train');
  t.same(
    graph.getCollection(TABLES).map(({ name }) => name),
    ['user', 'user_1'],
  );
});
