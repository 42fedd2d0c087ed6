import t, { type Test } from 'tap';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { bytesFor, readBatch, writeBatch } from '../../src/memory/batch.js';
import { auc } from '../../src/metrics/auc.js';
import { evaluate } from '../../src/metrics/evaluate.js';
import { GroupedAuc } from '../../src/metrics/grouped.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { contentOf } from '../checkpoint/helpers.js';
import { DATASET, loadBatches, smallSession } from '../train/ffm-run.js';

const LOSS_TOLERANCE = 1e-6;

async function openSession(t: Test, model: ModelSpec, options: Partial<SessionOptions> = {}): Promise<Session> {
  const session = await Session.create(model.graph, smallSession(options));
  t.teardown(() => session.close());
  return session;
}

/** The same from predictions and labels, by the definitions. */
async function byHand(session: Session, model: ModelSpec, batches: readonly number[]) {
  const scores: number[] = [];
  const labels: number[] = [];
  for (const batch of batches) {
    const [pred] = await session.run([model.pred], batch);
    scores.push(...(pred as Float32Array));
    const feed = readBatch(coreOf(session).views, batch, session.schema).feeds.find(({ kind }) => kind === 'dense');
    labels.push(...(feed!.values as Float32Array));
  }
  const losses = scores.map((score, i) => -Math.log(labels[i] === 1 ? score : 1 - score));
  const loss = losses.reduce((sum, value) => sum + value, 0) / losses.length;
  return { auc: auc(labels, scores), loss, examples: scores.length };
}

t.test('a model that learnt nothing has the loss of a coin and an AUC of a half', async (t) => {
  const model = buildFfm();
  const session = await openSession(t, model);
  const evaluation = await evaluate(session, model, loadBatches(session));
  t.match(evaluation, { auc: 0.5, examples: DATASET.examples });
  t.ok(Math.abs(evaluation.loss - Math.LN2) < LOSS_TOLERANCE);
});

t.test('loss and AUC are those of all examples, whatever the sizes of the batches', async (t) => {
  for (const threads of [1, 3]) {
    const model = buildFfm();
    const session = await openSession(t, model, { threads });
    const batches = loadBatches(session);
    for (let epoch = 0; epoch < 5; epoch++) for (const batch of batches) await session.run([model.trainOp], batch);
    // Whole batches, then batches of five and of one.
    const mixed = [
      ...batches,
      ...loadBatches(session, { ...DATASET, batchSize: 5, examples: 20, split: 'held-out' }),
      ...loadBatches(session, { ...DATASET, batchSize: 1, examples: 3, split: 'held-out' }),
    ];
    const before = contentOf(snapshotSession(session, model.name));
    const found = await evaluate(session, model, mixed);
    const expected = await byHand(session, model, mixed);
    t.equal(found.examples, 256 + 20 + 3);
    t.equal(found.examples, expected.examples);
    t.equal(found.auc, expected.auc);
    t.ok(Math.abs(found.loss - expected.loss) < LOSS_TOLERANCE, `${found.loss} and ${expected.loss}`);
    t.ok(found.auc! > 0.6, `it learnt something: ${found.auc}`);
    t.same(contentOf(snapshotSession(session, model.name)), before, 'evaluation changes neither step nor tables');
  }
});

t.test('labels are found wherever the input has them', async (t) => {
  const schema = [...ffmSchema()].reverse();
  const model = buildFfm();
  const session = await openSession(t, model, { schema });
  const usual = await openSession(t, model);
  const original = loadBatches(usual);
  const batches = original.map((at) => {
    const batch = readBatch(coreOf(usual).views, at, usual.schema);
    const feeds = [...batch.feeds].reverse();
    const counts = feeds.flatMap((feed) => (feed.kind === 'ragged' ? [feed.values.length] : []));
    const to = coreOf(session).arena.alloc(bytesFor(schema, batch.rows, counts), 'batch');
    writeBatch(coreOf(session).views, to, schema, { rows: batch.rows, feeds });
    return to;
  });
  for (let i = 0; i < batches.length; i++) {
    await session.run([model.trainOp], batches[i]!);
    await usual.run([model.trainOp], original[i]!);
  }
  t.same(await evaluate(session, model, batches), await evaluate(usual, model, original));
});

t.test('examples of one class have a loss and no AUC', async (t) => {
  const model = buildFfm();
  const session = await openSession(t, model);
  const batches = loadBatches(session, { ...DATASET, kind: 'reference', examples: 64 });
  const evaluation = await evaluate(session, model, batches);
  t.match(evaluation, { auc: null, examples: 64 });
  t.ok(evaluation.loss > 0);
});

t.test('labels are what the model says they are, and there must be some', async (t) => {
  const model = buildFfm();
  // A column of the predictions stands for labels that are no feed of their own.
  const derived: ModelSpec = { ...model, label: model.pred };
  const session = await openSession(t, derived);
  const { auc: found } = await evaluate(session, derived, loadBatches(session));
  t.equal(found, null, 'every prediction of an untrained model is 0.5: one class');
  await t.rejects(evaluate(session, model, []), { code: 'ML_DATASET' });
});

t.test('further metrics are asked for by name, with weights and groups', async (t) => {
  const model = buildFfm();
  const session = await openSession(t, model);
  const batches = loadBatches(session);
  for (const batch of batches) await session.run([model.trainOp], batch);
  const groupBy = session.schema.find(({ kind }) => kind === 'ragged')!.name;
  const options = { metrics: ['auc', 'logLoss', 'gauc', 'ndcg@3', 'calibration'], groupBy } as const;
  const found = await evaluate(session, model, batches, options);
  t.equal(found.metrics.auc, found.auc);
  t.ok(Math.abs(found.metrics.logLoss! - found.loss) < LOSS_TOLERANCE);

  const gauc = new GroupedAuc();
  for (const batch of batches) {
    const [pred, label] = (await session.run([model.pred, model.label], batch)) as [Float32Array, Float32Array];
    const data = readBatch(coreOf(session).views, batch, session.schema);
    const ids = data.feeds[session.schema.findIndex(({ name }) => name === groupBy)]!;
    if (ids.kind !== 'ragged') throw new Error('ids are ragged');
    const groups = Array.from(pred, (_, row) => ids.values[ids.splits[row]!]!);
    gauc.update(label, pred, undefined, groups);
  }
  t.equal(found.metrics.gauc, gauc.result());

  // With the labels as weights every negative counts nothing.
  const positives = await evaluate(session, model, batches, { metrics: ['auc', 'accuracy'], weights: model.label });
  t.equal(positives.metrics.auc, null);
  t.equal(positives.auc, found.auc);
  await t.rejects(evaluate(session, model, batches, { metrics: ['gauc'] }), { code: 'ML_METRIC' });
  await t.rejects(evaluate(session, model, batches, { metrics: ['gauc'], groupBy: 'nobody' }), { code: 'ML_FEED' });
});
