/** @file `monolith export` and `monolith import`, on the folder of a run of a table. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { loadModel } from '../../src/serve/load-model.js';
import { serveModels } from '../../src/serve/online/serve-models.js';
import { runHere } from './run-here.js';

const dir = t.testdir();
const lines = Array.from({ length: 1500 }, (_, at) => {
  const [user, movie] = [(at * 7919) % 37, (at * 104729) % 53];
  const genres = ['Drama', 'crime', 'comedy'].slice(at % 3).join('|');
  return [`u${user}`, movie, ((at * 31) % 1000) * 17, 1600000000 + at * 60, genres, (user + movie) % 3 === 0 ? 1 : 0];
});
await writeFile(
  join(dir, 'd.csv'),
  ['user,movie,price,when,genres,click', ...lines.map((line) => line.join(','))].join('\n'),
);
const trained = await runHere(
  ['train', '--data', 'd.csv', '--label', 'click', '--model-dir', 'run', '--epochs', '1', '--threads', '1', '--quiet'],
  { cwd: dir },
);
t.equal(trained.code, 0, trained.err);

t.test('a run of a table is exported, checked, imported and served, with the values of its data', async (t) => {
  const args = ['export', 'run', '--to', 'out', '--formats', 'native,onnx,savedModel'];
  const exported = await runHere(args, { cwd: dir });
  t.match(exported, { code: 0, out: /checked: 512 rows, largest difference to training \d\.\de[+-]\d+/ }, exported.err);
  const [version] = await readdir(join(dir, 'out'));
  t.same((await readdir(join(dir, 'out', version!))).sort(), [
    ...['model.json', 'model.onnx', 'saved_model.pb', 'schema.json', 'warmup.jsonl', 'weights.safetensors'],
  ]);
  t.equal((await readFile(join(dir, 'out', version!, 'warmup.jsonl'), 'utf8')).split('\n').length, 17);
  const imported = await runHere(['import', 'out', '--json'], { cwd: dir });
  t.match(JSON.parse(imported.out), {
    event: 'imported',
    model: 'deepfm',
    inputs: [{ name: 'user' }, { name: 'movie' }, { name: 'price' }, { name: 'genres' }],
    outputs: [{ name: 'output', kind: 'binary' }],
  });
  const serving = await serveModels({ clicks: join(dir, 'out') }, { port: 0, pollMs: 0 });
  t.teardown(() => serving.close());
  const row = { user: 'u3', movie: 7, price: 170, genres: 'Drama|crime' };
  const answer = await fetch(`${serving.url}/v1/models/clicks:predict`, {
    method: 'POST',
    body: JSON.stringify({ instances: [row, { ...row, price: 17000 }] }),
  });
  const { predictions } = (await answer.json()) as { predictions: number[] };
  t.equal(predictions.length, 2);
  t.not(predictions[0], predictions[1], 'the logarithm of the price is taken here too');
});

t.test('in parts, and variables alone that go with the rows of before', async (t) => {
  const args = ['export', 'run', '--to', 'parts', '--servers', '3', '--json'];
  const first = await runHere(args, { cwd: dir });
  t.match(JSON.parse(first.out), { event: 'exported', checked_rows: 512, folders: { length: 4 } }, first.err);
  const dense = await runHere([...args, '--dense-only'], { cwd: dir });
  t.match(JSON.parse(dense.out), { folders: [/entry/], checked_rows: 512 }, dense.err);
  t.same((await readdir(join(dir, 'parts'))).sort(), ['entry', 'ps_0', 'ps_1', 'ps_2']);
  t.match(await runHere(['import', 'parts'], { cwd: dir }), { code: 0, out: /parts\/entry\/\d+ {2}deepfm/ });
  const alone = await runHere(['export', 'run', '--to', 'x', '--dense-only'], { cwd: dir });
  t.match(alone, { code: 2, err: /dense-only.*export in parts/ });
  const other = await runHere([...args, '--formats', 'native,onnx'], { cwd: dir });
  t.match(other, { code: 1, err: /parts are of the format native/ });
});

t.test('rows kept in less room come with the error of it', async (t) => {
  for (const [compress, most] of [
    ['fp16', 1e-2],
    ['fixed_r8', 1],
    ['one_bit', 1],
  ] as const) {
    const { code, out } = await runHere(['export', 'run', '--to', compress, '--compress', compress, '--json'], {
      cwd: dir,
    });
    t.equal(code, 0);
    const { largest_difference: difference } = JSON.parse(out) as { largest_difference: number };
    t.ok(difference > 0 && difference < most, `${compress}: ${difference}`);
  }
});

t.test('what is no run, and what is no format, is said', async (t) => {
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['export', 'none', '--to', 'x'], 1, /ML_DIR.*there is no such folder/],
    [['export', 'out', '--to', 'x'], 1, /ML_DIR.*it has no schema\.json/],
    [['export', 'run'], 2, /--to/],
    [['export', 'run', '--to', 'x', '--formats', 'native,onxx'], 2, /no format "onxx"\nhint: did you mean onnx\?/],
    [['import', 'run'], 1, /ML_NO_MODELS: no models in dir run\nhint: it is a run: monolith export run --to DIR/],
  ];
  for (const [args, code, err] of cases) t.match(await runHere(args, { cwd: dir }), { code, err });
});

t.test('an export of a table is opened without its schema', async (t) => {
  const model = await loadModel(join(dir, 'out'), { session: { memoryBytes: 2 ** 26 } });
  t.teardown(() => model.close());
  const [one, other] = await model.predict([
    { user: 'u1', movie: 1, price: 10, genres: ['a'] },
    { user: 'u1', movie: 1, price: 10, genres: 'a' },
  ]);
  t.equal(one, other);
});
