/** @file Feeds only for what the fetches need: a prediction needs no label, and what is missing is named. */
import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { sigmoid } from '../../src/graph/ops/activations.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment } from '../../src/graph/ops/state.js';
import { readBatch } from '../../src/memory/batch.js';
import { evaluate } from '../../src/metrics/evaluate.js';
import { groupKeysOf } from '../../src/metrics/group-keys.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { BACKENDS, withSession } from './with-session.js';

const id = ragged.i64({ valuesPerRow: 1 });
// The label comes first: rows of a batch are counted in the first feed it has.
const schema = defineSchema({ label: dense.f32(), user: id, item: id });

function build() {
  const graph = new Graph();
  const { label, user, item } = schema.inputs(graph);
  const [taste, style] = [user, item].map((ids) => {
    return embeddingLookup(ids, defineTable(ids.op.name, [{ dim: 4, initializer: RandomUniformInitializer(-1, 1) }]));
  });
  const logit = rowDot(taste!, style!);
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label));
  const [byTaste, byStyle] = gradients([loss], [taste!, style!]);
  const steps = applyEmbeddingGradients([
    [byTaste, taste!],
    [byStyle, style!],
  ]);
  const trainOp = group(graph, [...steps, increment(globalStep(graph))]);
  return { name: 'likes', graph, label: graph.tensor('label'), loss, pred: sigmoid(logit), trainOp };
}

const [users, items] = [BigInt64Array.of(1n, 2n, 3n), BigInt64Array.of(7n, 8n, 7n)];
const labels = Float32Array.of(1, 0, 1);

for (const backend of BACKENDS) {
  t.test(`a prediction needs features and no label, ${backend}`, async (t) => {
    const model = build();
    await withSession(model.graph, { schema: schema.specs, backend }, async (session) => {
      const full = schema.feeds({ label: labels, user: users, item: items });
      for (let step = 0; step < 3; step++) await session.run([model.trainOp], full);
      const [wanted] = await session.run([model.pred], full);
      t.ok(
        (wanted as Float32Array).some((value) => value !== 0.5),
        'it learnt something',
      );

      const features = schema.feedsWithout('label', { user: users, item: items });
      t.same((await session.run([model.pred], features))[0], wanted);
      const [at] = loadBatches(session, [schema.batchWithout(['label'], { user: users, item: items })]);
      t.same((await session.run([model.pred], at))[0], wanted, 'also by address');

      for (const [fetch, name] of [
        [model.loss, 'label'],
        [model.trainOp, 'label'],
      ] as const) {
        const missing = { code: 'ML_FEED', fields: { name }, message: /no value was given/ };
        await t.rejects(session.run([fetch], features), missing);
        await t.rejects(session.run([fetch], at), missing);
      }
      await t.rejects(session.run([model.pred], { item: items }), { code: 'ML_FEED', fields: { name: 'user' } });
      await t.rejects(session.run([model.pred], {}), { code: 'ML_FEED', fields: { name: 'user' } });
      await t.rejects(session.run([model.pred], { usr: users }), { code: 'ML_FEED', fields: { name: 'usr' } });
      await t.rejects(session.run([model.pred], { user: users, item: items.subarray(1) }), {
        code: 'ML_FEED',
        fields: { name: 'item' },
        message: /as user has/,
      });
      t.same(
        await session.run([model.graph.tensor('global_step')], {}),
        [BigInt64Array.of(3n)],
        'a variable needs none',
      );
      t.same((await session.run([model.pred], full))[0], wanted, 'what was refused changed nothing');
    });
  });
}

t.test('runs that wait for each other keep the feeds they were given, and those they lack', async (t) => {
  const model = build();
  await withSession(model.graph, { schema: schema.specs }, async (session) => {
    const full = { label: labels, user: users, item: items };
    const [trained, refused, first, second] = await Promise.allSettled([
      session.run([model.trainOp], full),
      session.run([model.loss], { user: users, item: items }),
      session.run([model.pred], { user: users, item: items }),
      session.run([model.pred], full),
    ]);
    t.equal(trained.status, 'fulfilled');
    t.match(refused, { status: 'rejected', reason: { code: 'ML_FEED', fields: { name: 'label' } } });
    t.same(first, second);
  });
});

t.test('a batch that lacks feeds is neither read back nor evaluated on', async (t) => {
  const model = build();
  await withSession(model.graph, { schema: schema.specs }, async (session) => {
    const batches = loadBatches(session, [schema.batchWithout('label', { user: users, item: items })]);
    const refused = { code: 'ML_FEED', fields: { name: 'label' } };
    t.throws(() => readBatch(coreOf(session).views, batches[0]!, schema.specs), refused);
    t.throws(() => groupKeysOf(coreOf(session), batches[0]!, 'label'), refused);
    await t.rejects(evaluate(session, model, batches), refused);
  });
});

t.test('groups of examples by columns of ids, and by what comes after them', async (t) => {
  const graph = new Graph();
  const specs = [
    { name: 'ids', kind: 'ids', width: 2 },
    { name: 'group', kind: 'dense', width: 1 },
  ] as const;
  await withSession(graph, { schema: specs }, async (session) => {
    const ids = { kind: 'ids', values: BigInt64Array.of(5n, 1n, 6n, 2n) } as const;
    const group = { kind: 'dense', values: Float32Array.of(3, 4) } as const;
    const [at] = loadBatches(session, [{ rows: 2, feeds: [ids, group] }]);
    t.same(groupKeysOf(coreOf(session), at!, 'ids'), BigInt64Array.of(5n, 6n));
    t.same(groupKeysOf(coreOf(session), at!, 'group'), Float32Array.of(3, 4));
  });
});
