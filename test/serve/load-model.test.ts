/** @file Models out of the training room and back: the same predictions, and nothing else is believed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { LIMITS } from '../../src/base/limits.js';
import { hashU32 } from '../../src/base/random.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import { loadModel } from '../../src/serve/load-model.js';
import { listOf, tasteEstimator, tasteRows } from '../train/estimator/tastes.js';
import { purchases, schema, small, trainedEstimator } from './shops.js';

const dir = t.testdir();
const estimator = await trainedEstimator(join(dir, 'run'));
t.teardown(() => estimator.close());
const rows = purchases(300, 5000);
const predictions = await listOf(estimator.predict(rows));
const expected = predictions.map(({ prediction }) => prediction);
const exported = await estimator.export(join(dir, 'export'));

const worst = (found: Float32Array) =>
  expected.reduce((most, value, index) => Math.max(most, Math.abs(value - found[index]!)), 0);

t.test('a loaded model predicts what the estimator does', async (t) => {
  const model = await loadModel(join(dir, 'export'), { schema, ...small });
  t.teardown(() => model.close());
  t.equal(model.dir, exported, 'the newest version of a folder of versions');
  t.match(basename(exported), /^\d+$/, 'a version is a folder named by a number');
  t.same(await readdir(dirname(exported)), [basename(exported)], 'nothing else is left beside it');
  t.equal(model.name, 'deepfm');
  t.equal(model.step, 16);
  t.match(model.heads, [{ name: 'bought', kind: 'binary', width: 1 }]);
  t.ok(worst(await model.predict(rows)) < 1e-6);
  t.same(await model.predictHeads(rows.slice(0, 2)), { bought: await model.predict(rows.slice(0, 2)) });
  t.same(await model.predict([]), new Float32Array(0));
});

t.test('raw values are taken as in training: texts, ids never seen, missing cells', async (t) => {
  const model = await loadModel(exported, small);
  t.teardown(() => model.close());
  const strange = [
    { user: 'nobody', item: 10n ** 18n, tags: [], price: null },
    { user: 'u1', item: '7', tags: ['red', 'never'], price: '3.5' },
  ];
  const ours = (await listOf(estimator.predict(strange as never))) as { prediction: number }[];
  const theirs = await model.predict(strange as never);
  for (const [index, { prediction }] of ours.entries()) t.ok(Math.abs(prediction - theirs[index]!) < 1e-6);
  await t.rejects(model.predict([{ usr: 1 }] as never), { code: 'ML_COLUMN', hint: /usr/ });
  await t.rejects(model.predict([{ user: {}, item: 1, tags: '', price: 1 }] as never), { code: 'ML_DATA' });
});

t.test('rows with many ids are computed with fewer others', async (t) => {
  const model = await loadModel(exported, { ...small, batchSize: 8 });
  t.teardown(() => model.close());
  const long = (count: number) => ({ ...rows[0]!, tags: Array.from({ length: count }, (_, at) => `tag${at}`) });
  const mixed = [rows[1]!, long(120), long(100), rows[2]!] as never[];
  const one = await Promise.all(mixed.map(async (row) => (await model.predict([row]))[0]!));
  t.same([...(await model.predict(mixed))], one);
  t.ok(Number.isFinite((await model.predict([long(1000) as never]))[0]), 'more than any row of the training had');
  const endless = { ...rows[0]!, tags: new Array<string>(LIMITS.rowIds + 1).fill('tag') };
  await t.rejects(model.predict([endless as never]), { code: /^ML_/, message: /tags/ });
});

t.test('rows of tables can be asked for', async (t) => {
  const model = await loadModel(exported, small);
  t.teardown(() => model.close());
  const { dim, values } = model.lookup('item', [7, '8', 10n ** 17n]);
  t.equal(values.length, 3 * dim);
  t.ok(values.subarray(0, dim).some((value) => value !== 0));
  t.ok(
    values.subarray(2 * dim).every((value) => value === 0),
    'an id that was never seen',
  );
  t.throws(() => model.lookup('itm', [1]), { code: 'ML_TABLE_UNKNOWN', hint: /item/ });
});

t.test('packed rows cost precision and save room', async (t) => {
  const plain = readFileSync(join(exported, 'weights.safetensors')).length;
  const bounds = { fp16: 1e-3, fixed_r8: 0.05, one_bit: 1 } as const;
  for (const [compress, bound] of Object.entries(bounds) as [keyof typeof bounds, number][]) {
    const folder = await estimator.export(join(dir, compress), { compress });
    const model = await loadModel(folder, small);
    const error = worst(await model.predict(rows));
    await model.close();
    t.ok(error < bound, `${compress}: ${error}`);
    t.ok(readFileSync(join(folder, 'weights.safetensors')).length < plain * 0.9, `${compress} is smaller`);
  }
});

t.test('two exports are two versions, and a model made by hand leaves too', async (t) => {
  await estimator.export(join(dir, 'export'));
  t.equal((await readdir(join(dir, 'export'))).length, 2);
  const tastes = tasteEstimator({ modelDir: join(dir, 'tastes') });
  t.teardown(() => tastes.close());
  await tastes.train(tasteRows(200), { epochs: 1 });
  const model = await loadModel(await tastes.export(join(dir, 'out')), small);
  t.teardown(() => model.close());
  const asked = tasteRows(20, 900).map(({ user, item }) => ({ user: [user], item: [item] }));
  const own = await listOf(tastes.predict(asked));
  t.same(
    own.map(({ prediction }) => prediction),
    [...(await model.predict(asked as never))],
  );
});

t.test('a schema with functions has to be given, and another one is refused', async (t) => {
  const model = await loadModel(exported, { schema, ...small });
  await model.close();
  const other = defineSchema({ ...schema.features, price: f.number({ standardise: false }) });
  await t.rejects(loadModel(exported, { schema: other as never }), { code: 'ML_MODEL', message: /price differs/ });
  const json = JSON.parse(readFileSync(join(exported, 'model.json'), 'utf8'));
  json.features.find(({ name }: { name: string }) => name === 'price').field.functions = ['map'];
  const copy = await copyOf('functions', JSON.stringify(json));
  await t.rejects(loadModel(copy), { code: 'ML_MODEL', message: /price go through functions/ });
});

t.test('folders without a model say so', async (t) => {
  await t.rejects(loadModel(join(dir, 'nowhere')), {
    code: 'ML_NO_MODELS',
    message: `no models in dir ${join(dir, 'nowhere')}`,
  });
  await t.rejects(loadModel(exported, { batchsize: 1 } as never), { code: 'ML_OPTION', hint: /batchSize/ });
  await t.rejects(estimator.export(join(dir, 'x'), { formats: ['onyx' as never] }), { code: 'ML_OPTION' });
});

/** A copy of the export with another model.json. */
async function copyOf(name: string, text: string, weights?: Uint8Array): Promise<string> {
  const copy = join(dir, name, '1');
  await mkdir(copy, { recursive: true });
  await cp(exported, copy, { recursive: true });
  writeFileSync(join(copy, 'model.json'), text);
  if (weights !== undefined) writeFileSync(join(copy, 'weights.safetensors'), weights);
  return copy;
}

t.test('a damaged or hostile folder gives coded errors or a model, and nothing else', async (t) => {
  const [text, weights] = ['model.json', 'weights.safetensors'].map((name) => readFileSync(join(exported, name)));
  let refused = 0;
  const attempt = async (copy: string) => {
    try {
      const model = await loadModel(copy, small);
      await model
        .predict(rows.slice(0, 3))
        .catch((error: unknown) => t.ok(error instanceof MonolithError, String(error)));
      await model.close();
    } catch (error) {
      t.ok(error instanceof MonolithError, String((error as Error).stack));
      refused++;
    }
  };
  for (let round = 0; round < 24; round++) {
    const changed = Buffer.from(text!);
    const at = hashU32(11, round) % changed.length;
    changed[at] = [0x22, 0x30, 0x39, 0x5d, 0x7d, 0x2d][hashU32(12, round) % 6]!;
    await attempt(await copyOf('json', changed.toString('utf8')));
    const cut = weights!.subarray(0, hashU32(13, round) % weights!.length);
    await attempt(await copyOf('weights', text!.toString('utf8'), cut));
    const flipped = Buffer.from(weights!);
    flipped[hashU32(14, round) % 700]! ^= 1 << (round % 8);
    await attempt(await copyOf('weights', text!.toString('utf8'), flipped));
  }
  t.ok(refused > 24, `${refused} of 72 were refused`);
});
