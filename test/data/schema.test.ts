import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, type Features, ragged } from '../../src/data/schema.js';
import { Graph } from '../../src/graph/graph.js';
import { sigmoid } from '../../src/graph/ops/activations.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment } from '../../src/graph/ops/state.js';
import { readBatch } from '../../src/memory/batch.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { defineModel } from '../../src/train/define-model.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const schema = defineSchema({
  price: dense.f32({ width: 2 }),
  user: ragged.i64({ valuesPerRow: 2 }),
  label: dense.f32(),
});

t.test('a schema is the layout of batches, and placeholders by name', async (t) => {
  t.same(schema.specs, [
    { name: 'price', kind: 'dense', width: 2 },
    { name: 'user', kind: 'ragged' },
    { name: 'label', kind: 'dense', width: 1 },
  ]);
  const { price, user, label } = schema.inputs(new Graph());
  t.same([price.spec.shape, label.spec.shape], [['batch', 2], ['batch']]);
  t.match(user.op.output.spec, { dtype: 'int64', ragged: true });
  t.match(user.op.attrs, { valuesPerRow: 2 });
});

t.test('a model of a schema runs on values and on batches of it', async (t) => {
  const table = defineTable('user', [{ dim: 2 }]);
  const built = defineModel(schema, { name: 'tiny', label: 'label' }, ({ price, user, label }, { graph }) => {
    const logit = addN([rowDot(price, embeddingLookup(user, table)), rowDot(price, price)]);
    const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label));
    return { loss, pred: sigmoid(logit), trainOp: group(graph, [increment(globalStep(graph))]) };
  });
  const model = built.build('train');
  t.match(model, { name: 'tiny', label: model.graph.tensor('label') });
  const feeds = schema.feeds({
    price: Float32Array.of(0, 0, 1, 1),
    user: raggedOf([[1n], [2n, 3n]]),
    label: Float32Array.of(0, 1),
  });
  await withSession(model.graph, { schema: schema.specs }, async (session) => {
    const [pred] = await session.run([model.pred], feeds);
    t.ok(Math.abs((pred as Float32Array)[1]! - 1 / (1 + Math.exp(-2))) < 1e-6);
    const [at] = loadBatches(session, [schema.batch(feeds)]);
    t.same((await session.run([model.pred], at))[0], pred);
    t.equal(readBatch(coreOf(session).views, at!, schema.specs).rows, 2);
  });
  const ragged1 = defineSchema({ user: ragged.i64({ valuesPerRow: 1 }) });
  t.equal(ragged1.batch({ user: raggedOf([[1n], [], [2n]]) }).rows, 3, 'rows of a schema that starts with ids');
});

t.test('what no compiler saw is refused at run time', async (t) => {
  const bad: Features[] = [
    {},
    { x: { kind: 'dense', width: 0 } },
    { x: { kind: 'dense', width: 1.5 } },
    { ids: { kind: 'ragged', valuesPerRow: 0 } },
    { ids: { kind: 'sparse' } as never },
  ];
  for (const features of bad) t.throws(() => defineSchema(features), { code: 'ML_FEED' });
  t.throws(() => schema.batch({ price: new Float32Array(2) } as never), { code: 'ML_FEED', fields: { name: 'user' } });
});
