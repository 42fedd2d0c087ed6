import { join } from 'node:path';
import t from 'tap';
import { defineSchema, dense } from '../../../src/data/schema.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { EstimatorModel } from '../../../src/train/estimator/estimator-model.js';
import type { EstimatorOptions } from '../../../src/train/estimator/estimator-options.js';
import { listOf, schema, tasteEstimator, tasteRows, tastes } from './tastes.js';

const ROWS = tasteRows(64);

t.test('a model without loss, label, prediction, train op or features is refused by name', async (t) => {
  const without = (part: string) => tastes((built) => ({ ...built, [part]: undefined }), `no-${part}`);
  for (const part of ['loss', 'label', 'pred', 'trainOp', 'graph']) {
    await using estimator = tasteEstimator({}, without(part));
    const error = { code: 'ML_GRAPH', message: new RegExp(`no-${part}.* no ${part}`) } as const;
    await t.rejects(estimator.train(ROWS, { steps: 1 }), error);
  }
  const make = (model: object) => () => new Estimator(model as EstimatorModel);
  t.throws(make({ ...tastes(), schema: { specs: [] } }), { code: 'ML_OPTION', message: /no features/ });
  t.throws(make({ ...tastes(), name: '' }), { code: 'ML_OPTION', message: /no name/ });
  for (const model of [null, undefined, 'ffm', {}, { name: 'x', schema }]) {
    t.throws(make(model as object), { code: 'ML_OPTION', hint: /defineModel/ });
  }
});

t.test('options that are none, contradict each other or are no object are refused', async (t) => {
  const refused = (options: unknown, error: object) =>
    t.throws(() => tasteEstimatorWith(options), { code: 'ML_OPTION', ...error } as { code: string });
  for (const options of ['runs/a', 5, [], null]) refused(options, { message: /an object of options is needed/ });
  refused({ modelDirectory: 'x' }, { hint: /modelDir/ });
  refused({ modelDir: '' }, { message: /no path/ });
  refused({ modelDir: 5 }, { message: /no path/ });
  refused({ saveEverySteps: 5, saveEverySecs: 5 }, { message: /saveEverySteps is given too/ });
  refused({ hooks: [{}] }, { message: /hooks\[0\] is no hook/ });
  const { seed: _seed, ...bare } = { seed: 1 };
  await t.rejects(new Estimator(tastes(), { ...bare, batchSize: 0 }).train(ROWS, { steps: 1 }), { code: 'ML_FLAG' });
});

function tasteEstimatorWith(options: unknown) {
  return new Estimator(tastes(), options as EstimatorOptions);
}

t.test('MONOLITH_WITH_BYTEPS=1 is refused', async (t) => {
  process.env.MONOLITH_WITH_BYTEPS = '1';
  t.teardown(() => delete process.env.MONOLITH_WITH_BYTEPS);
  t.throws(() => tasteEstimator(), { code: 'ML_UNSUPPORTED', message: /BYTEPS=1/, hint: /unset/ });
  process.env.MONOLITH_WITH_BYTEPS = '0';
  t.doesNotThrow(() => tasteEstimator());
});

t.test('evaluation, prediction and variables need a checkpoint', async (t) => {
  const dir = t.testdir();
  for (const modelDir of [null, dir, join(dir, 'not-there')]) {
    await using estimator = tasteEstimator({ modelDir });
    const none = { code: 'ML_CKPT_NONE', hint: /train first/ } as const;
    await t.rejects(listOf(estimator.predict(ROWS)), none);
    await t.rejects(estimator.evaluate(ROWS), none);
    await t.rejects(estimator.getVariableNames(), none);
    t.equal(await estimator.latestCheckpoint(), null);
  }
});

t.test('data that is none, or does not fit the schema, is refused with what it is', async (t) => {
  await using estimator = tasteEstimator();
  const refused = (data: unknown, error: object) =>
    t.rejects(estimator.train(data as typeof ROWS, { epochs: 1 }), error as { code: string });
  for (const data of [undefined, null, 5, 'rows.csv', new Float32Array(3)]) {
    await refused(data, { code: 'ML_DATASET', hint: /rows as objects/ });
  }
  await refused(() => undefined, { code: 'ML_DATASET', message: /nothing to iterate over/ });

  await refused([{ user: 1, label: 1, itme: 2 }], { code: 'ML_COLUMN', hint: /itme/ });
  await refused([ROWS[0], { user: 1, item: 1, label: 'x' }], { code: 'ML_DATA', message: /row 1.*label/ });
  await refused([1, 2], { code: 'ML_DATA', message: /row 0/ });
  await refused([{ user: 1, item: 1 }], { code: 'ML_COLUMN', message: /label/ });
  const columns = { label: [1], user: [1n], item: [1n] };
  await refused({ ...columns, itme: [1n] }, { code: 'ML_FEED', hint: /item/ });
  await refused({ ...columns, item: [1n, 2n] }, { code: 'ML_FEED', message: /item/ });
  await refused([{ ...ROWS[0]!, user: new Array(40).fill(1) }], { code: 'ML_FEED', message: /user/ });
  t.equal(await estimator.latestCheckpoint(), null, 'nothing was saved');
  await estimator.train(ROWS, { epochs: 1 });
  await t.rejects(estimator.evaluate([]), { code: 'ML_DATASET', message: /no examples/ });
  await t.rejects(estimator.evaluate(ROWS, { steps: 0 }), { code: 'ML_OPTION', message: /steps/ });
  await t.rejects(estimator.evaluate(ROWS, { signal: AbortSignal.abort() }), { code: 'ML_CANCELLED' });
  await t.rejects(listOf(estimator.predict(ROWS, { predictKeys: ['x'] } as object)), { code: 'ML_OPTION' });
});

t.test('two estimators do not train in one model directory at once', async (t) => {
  const modelDir = t.testdir();
  await using first = tasteEstimator({ modelDir });
  await using second = tasteEstimator({ modelDir });
  const refusal = t.rejects;
  let refused: Promise<unknown> | undefined;
  const meanwhile = {
    afterRun: async () => {
      refused ??= refusal(second.train(ROWS, { steps: 1 }), { code: 'ML_DIR', message: /another run of this process/ });
      await refused;
    },
  };
  await first.train(ROWS, { steps: 2, hooks: [meanwhile] });
  t.ok(refused);
  t.match(await second.train(ROWS, { steps: 1 }), { step: 3 }, 'one after the other they go on from each other');
  t.match(await first.train(ROWS, { steps: 1 }), { step: 4 });
});

t.test('a checkpoint of another model is refused, and a warm start takes what fits', async (t) => {
  const dir = t.testdir();
  await using old = tasteEstimator({ modelDir: join(dir, 'old') });
  const { checkpoint } = await old.train(ROWS, { steps: 7 });
  const weights = await old.getVariableValue('linear/kernel');
  await using other = tasteEstimator(
    { modelDir: join(dir, 'old') },
    tastes((built) => built, 'others'),
  );
  await t.rejects(other.train(ROWS, { steps: 1 }), { code: 'ML_CKPT_MODEL' });
  await using warm = tasteEstimator(
    { modelDir: join(dir, 'new'), warmStartFrom: checkpoint! },
    tastes((b) => b, 'new'),
  );
  t.match(await warm.train(ROWS, { steps: 0 }), { step: 0 }, 'its steps begin anew');
  await warm.train(ROWS, { steps: 1 });
  const after = await warm.getVariableValue('linear/kernel');
  t.notSame(after, weights);
  t.ok(Math.abs((after as Float32Array)[0]! - (weights as Float32Array)[0]!) < 0.5);
  t.equal(warm.summary().tableRows, old.summary().tableRows);
  t.match(await warm.train(ROWS, { steps: 1 }), { step: 2 }, 'later calls go on from its own checkpoints');
});

t.test('a schema alone makes no label', async (t) => {
  const bare = defineSchema({ price: dense.f32() });
  const model = { ...tastes(), schema: bare } as unknown as EstimatorModel;
  await using estimator = new Estimator(model, { threads: 1, session: { memoryBytes: 2 ** 26 } });
  await t.rejects(estimator.train([{ price: 1 }], { steps: 1 }), { code: 'ML_FEED' });
});

t.test('a training says what it lacks, and warns of data without a row', async (t) => {
  const told: string[] = [];
  const log: EstimatorOptions['log'] = (event) => void (event.event === 'warning' && told.push(event.message));
  await using estimator = tasteEstimator({ log });
  await t.rejects(estimator.train(ROWS, undefined as never), {
    code: 'ML_OPTION',
    message: /neither steps nor epochs/,
  });
  await t.rejects(estimator.train(ROWS, { epochs: '3' as never }), { message: /not '3'/ });
  t.match(await estimator.train([], { epochs: 1 }), { step: 0, stoppedBy: 'epochs' });
  t.match(told, [/gave no rows/]);
});
