/** @file Modes: what a model is built for and a run is of, whatever it updates. */
import t from 'tap';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { applyGradientsWithVarOptimizer } from '../../src/feature/model/apply-gradients-with-var-optimizer.js';
import { Graph } from '../../src/graph/graph.js';
import type { Mode } from '../../src/graph/mode.js';
import { sigmoid } from '../../src/graph/ops/activations.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { batchNorm } from '../../src/graph/ops/norms.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { assignAdd, globalStep, variable } from '../../src/graph/ops/state.js';
import { dropout } from '../../src/graph/ops/training.js';
import { evaluate } from '../../src/metrics/evaluate.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup, TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { defineModel } from '../../src/train/define-model.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const schema = defineSchema({ label: dense.f32(), user: ragged.i64({ valuesPerRow: 1 }) });

/** All that differs between modes: dropout, batch norm, a table; and a sum of predictions, as a metric has it. */
function parts({ label, user }: ReturnType<typeof schema.inputs>, graph: Graph) {
  const optimizer = AdagradOptimizer({ learningRate: 0.5, initialAccumulatorValue: 0.1 });
  const rows = { dim: 4, initializer: RandomUniformInitializer(-1, 1), optimizer };
  const lookup = embeddingLookup(user, defineTable('user', [rows]));
  const initial = () => Float32Array.of(1, -1, 0.5, 2);
  const weights = variable(graph, { name: 'w', shape: [4, 1], initial });
  const hidden = dropout(batchNorm(lookup, { momentum: 0.5 }), { rate: 0.5 });
  const logit = reduceSum(matMul(hidden, weights), { axis: 'columns' });
  const pred = sigmoid(logit);
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label));
  const total = variable(graph, { name: 'total', shape: [], initial: () => new Float32Array(1), trainable: false });
  const metric = assignAdd(total, reduceMean(pred));
  const common = { loss, varOptimizer: optimizer, featureColumns: [lookup] };
  const trainOp = applyGradientsWithVarOptimizer({ ...common, globalStep: globalStep(graph) });
  return { loss, pred, trainOp, metric };
}

/** A model of them in a mode. */
function build<M extends Mode>(mode: M) {
  const extra: { metric?: ReturnType<typeof assignAdd> } = {};
  const model = defineModel(schema, { name: 'm', label: 'label' }, (inputs, m) => {
    t.equal(m.mode, mode, 'the model function is told');
    const { metric, ...outputs } = parts(inputs, m.graph);
    extra.metric = metric;
    return outputs;
  }).build(mode);
  return { ...model, ...extra } as typeof model & Required<typeof extra>;
}

const users = [1n, 2n, 3n, 4n, 5n, 6n];
const full = schema.feeds({ label: [1, 0, 1, 0, 1, 0], user: users });
const features = schema.feedsWithout('label', { user: users });

for (const backend of BACKENDS) {
  t.test(`dropout and batch norm go by the mode, not by what a run updates, ${backend}`, async (t) => {
    const dir = t.testdir();
    const model = build('train');
    const wanted = await withSession(model.graph, { schema, backend }, async (session) => {
      for (let step = 0; step < 4; step++) await session.run([model.trainOp], full);
      await saveCheckpoint(dir, snapshotSession(session, 'm'));
      const run = (mode?: Mode) => session.run([model.pred], features, mode === undefined ? {} : { mode });
      const [asBuilt, train, evaluated, predicted] = [
        await run(),
        await run('train'),
        await run('eval'),
        await run('predict'),
      ];
      t.same(asBuilt, train, 'a run of a graph of a mode has it');
      t.same(predicted, evaluated);
      t.notSame(train, evaluated);
      const batches = loadBatches(session, [schema.batch(full)]);
      const { loss } = await evaluate(session, model, batches);
      const [evalLoss] = await session.run([model.loss], full, { mode: 'eval' });
      t.equal(loss, evalLoss, 'evaluate evaluates');
      return evaluated;
    });
    for (const mode of ['eval', 'predict'] as const) {
      const other = build(mode);
      await withSession(other.graph, { schema, backend }, async (session) => {
        await restoreSession(session, dir, { mode: 'subset' });
        t.same(await session.run([other.pred], features), wanted, mode);
        const [pred] = await session.run([other.pred, other.metric], features);
        t.same([pred], wanted, `${mode} stays ${mode} while a metric adds up`);
        t.ok(session.readVariable('total')[0] !== 0);
      });
    }
    const graph = new Graph();
    const loose = parts(schema.inputs(graph), graph);
    t.equal(graph.mode, null);
    await withSession(graph, { schema, backend }, async (session) => {
      await restoreSession(session, dir);
      t.same(await session.run([loose.pred], features), wanted, 'without a mode a run that updates nothing evaluates');
      const [, mean] = await session.run([loose.metric, loose.pred], features, { mode: 'predict' });
      t.same([mean], wanted, 'and one that does too, when it says so');
    });
  });
}

t.test('what does not train only reads tables and weights', async (t) => {
  const model = build('train');
  await withSession(model.graph, { schema }, async (session) => {
    const [config] = model.graph.getCollection(TABLES);
    const filter = HashFilter.sliding({
      ...sessionRegion(session),
      capacity: 1000,
      thresholds: { defaultOccurrenceThreshold: 2 },
    });
    const table = HashTable.of(session, config!, { filter });
    await session.run([model.pred, model.loss], full, { mode: 'eval' });
    await session.run([model.pred], features, { mode: 'predict' });
    t.equal(table.size, 0, 'new ids are not inserted');
    t.equal(filter.elementCount, 0, 'and not counted');
    for (const mode of ['eval', 'predict'] as const) {
      const refused = { code: 'ML_GRAPH', message: new RegExp(`mode ${mode} only reads it`) };
      await t.rejects(session.run([model.trainOp], full, { mode }), refused);
    }
    t.equal(table.size, 0);
    t.equal(session.globalStep, 0);
    await session.run([model.trainOp], full);
    t.equal(filter.elementCount, users.length, 'as training counts them');
  });
});

t.test('a model of a mode has what the mode needs, and what is no mode is refused', async (t) => {
  t.same(Object.keys(build('eval')).sort(), ['graph', 'heads', 'label', 'loss', 'metric', 'name', 'pred']);
  t.same(Object.keys(build('predict')).sort(), ['graph', 'heads', 'label', 'metric', 'name', 'pred']);
  const model = defineModel(schema, { name: 'm', label: 'label' }, ({ label }) => ({ pred: label }) as never);
  t.throws(() => model.build('eval'), { code: 'ML_GRAPH', message: /no loss/ });
  t.throws(() => model.build('test' as never), { code: 'ML_OPTION' });
  t.throws(() => new Graph({ mode: 'trian' as never }), { code: 'ML_OPTION', hint: /train/ });
  const onlyPred = build('predict');
  await withSession(onlyPred.graph, { schema }, async (session) => {
    await t.rejects(session.run([onlyPred.pred], full, { mode: 'infer' as never }), { code: 'ML_OPTION' });
    await t.rejects(session.run([onlyPred.pred], full, { modus: 'eval' } as never), { code: 'ML_OPTION' });
  });
});
