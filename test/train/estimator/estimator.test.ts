import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { FfmAdapter } from './ffm-adapter.js';
import { listOf, tasteEstimator, tasteRows, tastes } from './tastes.js';

const ROWS = tasteRows(2000);
const MORE = tasteRows(300, 5000);

t.test('A16: trains 10 steps, evaluates 10, predicts, with the FFM demo', async (t) => {
  const { estimator, batches, batchSize } = FfmAdapter.make({ modelDir: t.testdir() });
  const run = await estimator.train(batches, { steps: 10 });
  t.match(run, { step: 10, startStep: 0, examples: 10 * batchSize, stoppedBy: 'steps' });
  const found = await estimator.evaluate(batches, { steps: 10 });
  t.match(found, { globalStep: 10, examples: 10 * batchSize, checkpoint: run.checkpoint });
  t.ok(found.loss > 0 && found.loss < 1 && Number(found.metrics.auc) > 0.4);
  let examples = 0;
  for await (const { prediction } of estimator.predict(batches)) {
    if (!(prediction > 0 && prediction < 1)) t.fail(`${prediction}`);
    examples++;
  }
  t.ok(examples >= 10 * batchSize, 'every example was predicted');
  await estimator.close();
});

t.test('without a model directory weights go from call to call, and nothing is left', async (t) => {
  const estimator = tasteEstimator();
  await t.rejects(listOf(estimator.predict(MORE)), { code: 'ML_CKPT_NONE', hint: /train first/ });
  const first = await estimator.train(ROWS, { epochs: 4 });
  t.match(first, { step: 252, startStep: 0, examples: 8000, stoppedBy: 'epochs' });
  const second = await estimator.train(ROWS, { steps: 8 });
  t.match(second, { step: 260, startStep: 252, examples: 8 * 32 }, 'a second call trains on');
  const dir = dirname(second.checkpoint!);
  t.ok(existsSync(dir));
  const { metrics, globalStep, examples } = await estimator.evaluate(MORE);
  t.same([globalStep, examples], [260, 300], 'the last batch has fewer rows, and they count');
  t.ok(metrics.auc! > 0.95, `AUC ${metrics.auc}`);
  const predictions = await listOf(estimator.predict(MORE));
  t.same(
    predictions.map(({ row }) => row),
    MORE,
  );
  t.ok(predictions.every(({ prediction }) => prediction > 0 && prediction < 1));
  const right = predictions.filter(({ row, prediction }) => prediction > 0.5 === (row!.label === 1));
  t.ok(right.length > 270, `${right.length} of 300 are right`);
  await estimator.close();
  t.notOk(existsSync(dir), 'the temporary directory is gone');
  await t.rejects(estimator.train(ROWS, { steps: 1 }), { code: 'ML_CLOSED' });
  t.throws(() => estimator.summary(), { code: 'ML_CLOSED' });
});

t.test('evaluate and predict only read, and follow the newest checkpoint', async (t) => {
  const dir = t.testdir();
  await using estimator = tasteEstimator({ modelDir: dir });
  const { checkpoint: old } = await estimator.train(ROWS, { steps: 5 });
  const files = readdirSync(dir).sort();
  const before = await estimator.evaluate(MORE);
  const weights = await estimator.getVariableValue('linear/kernel');
  t.same(readdirSync(dir).sort(), files);
  t.same(await estimator.evaluate(MORE), before, 'a second evaluation finds the same');
  const taken = estimator.predict(MORE);
  const { value: early } = await taken.next();
  await estimator.train(ROWS, { epochs: 3 });
  const after = await estimator.evaluate(MORE);
  t.ok(after.loss < before.loss && after.globalStep > 5);
  t.not((await estimator.predict(MORE).next()).value!.prediction, early!.prediction);
  // Who was at it goes on with what it began with.
  const rest = await listOf(taken);
  const all = await listOf(estimator.predict(MORE, { checkpoint: old! }));
  t.same([early, ...rest], all);
  t.same(await estimator.evaluate(MORE, { checkpoint: old! }), before, 'an older checkpoint by its name');
  t.notSame(await estimator.getVariableValue('linear/kernel'), weights);
  t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(194n));
  t.ok((await estimator.getVariableNames()).includes('linear/kernel'));
  await t.rejects(estimator.getVariableValue('linear/kernal'), { code: 'ML_NOT_FOUND', hint: /linear\/kernel/ });
  t.match(await estimator.latestCheckpoint(), /model\.ckpt-194$/);
});

t.test('predictions come as they are taken, by example or by batch, and without labels', async (t) => {
  await using estimator = tasteEstimator();
  await estimator.train(ROWS, { steps: 3 });
  let [read, closed] = [0, false];
  function* endless() {
    try {
      for (; ; read++) yield { user: read % 40, item: 1, about: `row ${read}` };
    } finally {
      closed = true;
    }
  }
  for await (const { row } of estimator.predict(endless())) if (row!.about === 'row 70') break;
  t.ok(closed, 'the rows are told that nobody takes more');
  t.ok(read < 32 * 200, `${read} rows were read`);
  const batches = await listOf(estimator.predict(MORE, { yieldSingleExamples: false, batchSize: 128 }));
  t.same(
    batches.map(({ examples }) => examples),
    [128, 128, 44],
  );
  const single = await listOf(estimator.predict(MORE));
  t.same(
    batches.flatMap(({ predictions }) => [...predictions]),
    single.map(({ prediction }) => prediction),
    'and any size of a batch gives the same',
  );
  t.same(await listOf(estimator.predict([])), []);
  const columns = { user: MORE.map(({ user }) => user), item: MORE.map(({ item }) => item) };
  const named = await listOf(estimator.predict(columns));
  t.same(
    named,
    single.map(({ prediction }) => ({ prediction })),
    'columns have no rows to come back',
  );
});

t.test('the summary has layers, variables, tables and their rows', async (t) => {
  await using estimator = tasteEstimator({ modelDir: t.testdir() });
  t.match(estimator.summary(), {
    model: 'tastes',
    step: 0,
    tableRows: 0,
    tableBytes: 0,
    denseFloats: 4,
    optimizerFloats: 4,
  });
  await estimator.train(ROWS, { epochs: 1 });
  const summary = estimator.summary();
  t.match(summary.layers, [
    { name: 'embedding/user', kind: 'user', output: '[batch, 4]' },
    { name: 'embedding/item', kind: 'item', output: '[batch, 4]' },
    { name: 'linear', kind: 'MatMul', output: '[batch, 1]', floats: 4, optimizer: /Adagrad/ },
  ]);
  t.match(summary.tables, [
    { name: 'user', dim: 4, optimizers: ['adagrad'], rows: 40, rowBytes: 32 },
    { name: 'item', rows: 40 },
  ]);
  t.ok(summary.tableBytes > 80 * 32);
  t.match(String(summary), /model tastes, step 63[\s\S]*linear +MatMul[\s\S]*80 rows of tables/);
});

t.test('export and import say what is not there', async (t) => {
  await using estimator = tasteEstimator({}, tastes());
  const missing = { code: 'ML_UNIMPLEMENTED' } as const;
  await t.rejects(estimator.export(t.testdir()), missing);
  await t.rejects(estimator.exportSavedModel(t.testdir()), missing);
  await t.rejects(estimator.importSavedModel(t.testdir()), missing);
});
