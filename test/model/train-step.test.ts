/** @file The step that models get who give no train op: what it trains, what it leaves, and what it says of that. */
import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { dense as denseLayer } from '../../src/layers/dense-layer.js';
import { mlp } from '../../src/layers/mlp-layer.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup, TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { defineModel, type ModelOptions } from '../../src/train/define-model.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import type { ModelIn } from '../../src/train/model-spec.js';
import { withSession } from '../runtime/with-session.js';

const schema = defineSchema({
  user: ragged.i64({ valuesPerRow: 1 }),
  item: ragged.i64({ valuesPerRow: 1 }),
  click: dense.f32(),
  like: dense.f32(),
});
const optimizer = AdagradOptimizer({ learningRate: 0.1 });
const rows = [{ dim: 4, initializer: RandomUniformInitializer(-0.5, 0.5), optimizer }];
const feeds = schema.feeds({ user: [1n, 2n, 3n, 4n], item: [5n, 6n, 5n, 6n], click: [1, 0, 1, 0], like: [2, 1, 2, 1] });

/** A model of two tables and a layer. */
function modelOf(options: Partial<ModelOptions<typeof schema.features>> = {}, stop = false) {
  return defineModel(schema, { name: 'm', label: 'click', ...options }, ({ user, item }, m) => {
    const [u, i] = [embeddingLookup(user, defineTable('user', rows)), embeddingLookup(item, defineTable('item', rows))];
    return m.binary([mlp(u, [4, 1], { name: 'deep' }), rowDot(u, stop ? stopGradient(i) : i)]);
  });
}

/** Warnings while `body` runs, and what it gives. */
async function warningsOf<T>(body: () => T | Promise<T>): Promise<readonly [readonly string[], T]> {
  const found: string[] = [];
  const listen = (warning: Error & { code?: string }) => {
    if (warning.code === 'ML_TABLE_UNTRAINED') found.push(warning.message);
  };
  process.on('warning', listen);
  const value = await body();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  return [found, value];
}

/** Loss before and after some steps, rows of each table, and whether the layer moved. */
function train(model: { build: ReturnType<typeof modelOf>['build'] }, steps = 30) {
  const { graph, loss, trainOp } = model.build('train');
  return withSession(graph, { schema }, async (session) => {
    const kernel = [...session.readVariable('deep/dense/kernel')];
    const [first] = await session.run([loss], feeds);
    for (let step = 0; step < steps; step++) await session.run([trainOp], feeds);
    const [last] = await session.run([loss], feeds);
    t.equal(session.globalStep, steps, 'steps are counted');
    const sizes = graph.getCollection(TABLES).map((table) => [table.name, HashTable.of(session, table).size]);
    const moved = session.readVariable('deep/dense/kernel').some((value, at) => value !== kernel[at]);
    return { first: first as number, last: last as number, rows: Object.fromEntries(sizes), moved };
  });
}

t.test('every table and variable under the loss is trained', async (t) => {
  const [warnings, { first, last, rows, moved }] = await warningsOf(() => train(modelOf()));
  t.ok(last < 0.8 * first, `${first} to ${last}`);
  t.same(rows, { user: 4, item: 2 });
  t.ok(moved);
  t.same(warnings, []);
});

t.test('what is in freeze stays, without a warning', async (t) => {
  const [warnings, { rows, moved }] = await warningsOf(() => train(modelOf({ freeze: ['item', 'deep'] }), 3));
  t.same(rows, { user: 4, item: 0 });
  t.notOk(moved);
  t.same(warnings, []);
  t.throws(() => modelOf({ freeze: ['itme'] }).build('train'), { code: 'ML_GRAPH', hint: /item/ });
});

t.test('a table that nothing trains is named in a warning', async (t) => {
  const [warnings, { rows }] = await warningsOf(() => train(modelOf({}, true), 3));
  t.same(rows, { user: 4, item: 0 });
  t.match(warnings, [/table item is looked up and trained by nothing/]);
});

t.test('heads add their losses up, and each has its label and prediction', async (t) => {
  const model = defineModel(schema, { name: 'm', label: 'click' }, ({ user }, m) => {
    const u = embeddingLookup(user, defineTable('user', rows));
    const like = m.regression(denseLayer(u, 1), { label: 'like', weight: 0.5 });
    return m.heads([m.binary(denseLayer(u, 1)), like]);
  });
  const { graph, heads, loss, label, pred, trainOp } = model.build('train');
  t.same(
    heads?.map(({ name, kind }) => [name, kind]),
    [
      ['click', 'binary'],
      ['like', 'regression'],
    ],
  );
  t.equal(label, heads![0]!.label);
  t.equal(pred, heads![0]!.pred);
  await withSession(graph, { schema }, async (session) => {
    for (let step = 0; step < 100; step++) await session.run([trainOp], feeds);
    const fetched = await session.run([loss, ...heads!.map((head) => head.loss), heads![1]!.pred], feeds);
    const [total, click, like, likes] = fetched as [number, number, number, Float32Array];
    t.ok(Math.abs(total - click - like / 2) < 1e-6);
    t.ok(likes[0]! > likes[1]!, 'the regression learns');
  });
});

t.test('a class of several', async (t) => {
  const model = defineModel(schema, { name: 'm', label: 'like' }, ({ item }, m) =>
    m.multiclass(denseLayer(embeddingLookup(item, defineTable('item', rows)), 3)),
  );
  const { graph, pred, trainOp } = model.build('train');
  await withSession(graph, { schema }, async (session) => {
    for (let step = 0; step < 100; step++) await session.run([trainOp], feeds);
    const [found] = await session.run([pred], feeds);
    const classes = found as Float32Array;
    t.ok(classes[2]! > 0.5 && classes[4]! > 0.5, 'item 5 is of class 2, item 6 of class 1');
  });
});

t.test('a model that cannot be is told when it is built', async (t) => {
  const build = (make: Parameters<typeof defineModel<typeof schema.features>>[2]) => () =>
    defineModel(schema, { name: 'm', label: 'click' }, make).build('train');
  t.throws(
    build((_, m) => m.binary([])),
    { code: 'ML_GRAPH', message: /no logit/ },
  );
  t.throws(
    build((_, m) => m.heads([])),
    { code: 'ML_GRAPH', message: /no head/ },
  );
  t.throws(
    build(({ like }, m) => m.heads([m.binary(like), m.regression(like)])),
    { message: /two heads predict click/ },
  );
  t.throws(
    build(({ like }, m) => m.binary(like, { label: 'liek' as never })),
    { code: 'ML_OPTION', hint: /like/ },
  );
  t.throws(
    build(({ click }) => ({ loss: click, pred: click })),
    { code: 'ML_GRAPH', hint: /reduceMean/ },
  );
  t.throws(
    build(() => undefined as never),
    { code: 'ML_GRAPH', message: /returned nothing/, hint: /m\.binary/ },
  );
  t.throws(
    build(({ like }) => like as never),
    { code: 'ML_GRAPH', message: /returned the tensor like/, hint: /m\.binary/ },
  );
  t.throws(() => defineModel(schema, { name: 'm', label: 'click' }, undefined as never), {
    code: 'ML_OPTION',
    message: /a function is needed/,
  });
  t.throws(() => defineModel(undefined as never, { name: 'm', label: null }, () => ({}) as never), {
    code: 'ML_OPTION',
    hint: /defineSchema/,
  });
  t.throws(() => defineModel(schema, { name: 'm', label: 'user' as never }, () => ({}) as never), {
    code: 'ML_OPTION',
    hint: /click, like/,
  });
  t.throws(() => defineModel(schema, { label: 'click' } as never, () => ({}) as never), { code: 'ML_OPTION' });
  const wide = defineSchema({ click: dense.f32(), x: dense.f32({ width: 2 }) });
  const wrong = defineModel(wide, { name: 'm', label: 'click' }, ({ x }, m) => m.binary(reshape(x, [2])));
  t.throws(() => wrong.build('train'), { code: 'ML_GRAPH', hint: /mlp/ });
});

t.test('a trainer takes a model as it is, and refuses what is none', async (t) => {
  const session = { schema, batchSize: 4, threads: 1, memoryBytes: 1 << 25 };
  const options = { session, modelDir: null, steps: 1 };
  const trainer = await LocalTrainer.create({ ...options, model: modelOf() });
  try {
    const [batch] = loadBatches(trainer.session, [schema.batch(feeds)]);
    await trainer.train({ next: () => batch! });
    t.equal(trainer.session.globalStep, 1);
  } finally {
    await trainer.close();
  }
  const model = modelOf().build('predict') as ModelIn<'train'>;
  await t.rejects(LocalTrainer.create({ ...options, model }), { code: 'ML_OPTION', hint: /model\.build\('train'\)/ });
});
