/** @file Exported SavedModels opened to infer with: signatures, inputs and outputs by name. */
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { encodeTfExample } from '../../../src/io/tf-example.js';
import { loadModel } from '../../../src/serve/load-model.js';
import { small, trainedEstimator } from '../shops.js';

const dir = t.testdir();
const estimator = await trainedEstimator(join(dir, 'run'));
t.teardown(() => estimator.close());
const first = await estimator.exportSavedModel(join(dir, 'out'));
await rename(first, join(dir, 'out', '9'));
const newest = await estimator.exportSavedModel(join(dir, 'out'));
const model = await loadModel(newest, small);
t.teardown(() => model.close());
const [expected] = await model.predict([{ user: 'u1', item: 7, tags: ['red', 'new'], price: 2.5 }] as never);

t.test('serialized examples and rows are inferred by the newest version', async (t) => {
  const imported = await estimator.importSavedModel(join(dir, 'out'));
  t.teardown(() => imported.close());
  const example = encodeTfExample({
    user: [Buffer.from('u1')],
    item: BigInt64Array.of(7n),
    tags: [Buffer.from('red'), Buffer.from('new')],
    price: Float32Array.of(2.5),
  });
  t.same(await imported.infer([example]), { output: Float32Array.of(expected!) });
  t.same(await imported.infer({ instances: [example] }), { output: Float32Array.of(expected!) });
  await t.rejects(imported.infer({ instance: [example] }), { code: 'ML_FEED' });
  await t.rejects(imported.infer([Buffer.from('no example')]), { code: 'ML_REQUEST' });
});

t.test('the signature raw takes the tensors that examples are parsed to', async (t) => {
  const imported = await estimator.importSavedModel(newest, { signature: 'raw', outputName: 'output' });
  t.teardown(() => imported.close());
  const { textId } = await import('../../../src/data/farmhash.js');
  const raw = {
    user: [textId('u1')],
    item: [7n],
    price: [2.5],
    tags_indices: [0, 0, 0, 1],
    tags_values: [textId('red'), textId('new')],
    batch_size: 1,
  };
  t.same(await imported.infer(raw), { output: Float32Array.of(expected!) });
  await t.rejects(imported.infer({ ...raw, tags_indices: [1, 0, 0, 0] }), { code: 'ML_FEED' });
  await t.rejects(imported.infer({ ...raw, price: undefined }), { code: 'ML_FEED', fields: { name: 'price' } });
});

t.test('folders without models, and names that are not there, are said', async (t) => {
  await mkdir(join(dir, 'none'));
  await t.rejects(estimator.importSavedModel(join(dir, 'none')), {
    code: 'ML_NO_MODELS',
    message: `no models in dir ${join(dir, 'none')}`,
  });
  await t.rejects(estimator.importSavedModel(newest, { signature: 'rw' }), { code: 'ML_OPTION', hint: /raw/ });
  await t.rejects(estimator.importSavedModel(newest, { outputName: 'outptu' }), { code: 'ML_OPTION', hint: /output/ });
  const alone = await estimator.export(join(dir, 'alone'), { formats: ['savedModel'] });
  await t.rejects(estimator.importSavedModel(alone), { code: 'ML_MODEL', hint: /native/ });
});
