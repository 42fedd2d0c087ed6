/** @file `monolith export` and `monolith import`, on the folder of a run of a table. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { loadModel } from '../../src/serve/load-model.js';
import { serveModels } from '../../src/serve/online/serve-models.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
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

t.test('tables of the reference are told of, and put into the tables of a run', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 8 << 20 });
  const exported = await runHere(['export', 'run', '--to', 'before'], { cwd: dir });
  t.equal(exported.code, 0);
  const before = await loadModel(join(dir, 'before'));
  t.teardown(() => before.close());
  const { dim } = before.tableOfFeature('movie');
  const config = defineTable('fc_slot_9', [
    { dim, initializer: ZerosInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) },
  ]);
  const table = HashTable.create(memory, config);
  t.teardown(() => table.dispose());
  const row = Float32Array.from({ length: dim }, (_, at) => at + 1);
  table.assign([7n, 99_999n], [...row, ...row]);
  const dump = join(dir, 'old', 'model.ckpt-9.assets');
  await mkdir(dump, { recursive: true });
  await saveTable(table, join(dump, 'MonolithHashTable_fc_slot_9'));
  const told = await runHere(['import', 'old', '--json'], { cwd: dir });
  t.match(JSON.parse(told.out), { event: 'imported', tables: [{ name: 'fc_slot_9', rows: 2, dims: [dim] }] }, told.err);
  const into = ['import', 'old', '--into', 'run', '--out', 'changed'];
  const none = await runHere(into, { cwd: dir });
  t.match(none, { code: 1, err: /ML_TABLE_UNKNOWN|--map/ });
  const done = await runHere([...into, '--map', 'movie=fc_slot_9'], { cwd: dir });
  t.match(done, { code: 0, out: /set +movie +2 rows of fc_slot_9, 1 of them new[\s\S]*untouched user/ }, done.err);
  t.ok((await readdir(join(dir, 'changed'))).some((name) => name.startsWith('model.ckpt-')));
  t.match(await runHere(['import', 'old', '--into', 'run'], { cwd: dir }), { code: 2, err: /--out/ });
  t.match(await runHere(['import', 'old', '--map', 'movie'], { cwd: dir }), { code: 2, err: /is no TABLE=NAME/ });
});
