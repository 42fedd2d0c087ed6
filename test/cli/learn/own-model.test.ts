import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type CliEvent, eventsOf } from '../run-cli.js';
import { runHere } from '../run-here.js';
import { madeTable } from './made-table.js';

const { ratings, items } = madeTable(2000);
const schema = `import { Dataset, defineModel, defineSchema, f, nn, ops } from 'monolith-ts';
enum Dim { small = 4 }
export const schema = defineSchema({
  userId: f.id(), itemId: f.id(), genres: f.ids({ split: '|' }), timestamp: f.time(), rating: f.label({ rule: '>=4' }),
});
export default defineModel(schema, { name: 'taste' }, ({ userId, itemId, genres }, m) => {
  const fields = m.embed([userId, itemId, genres], { dim: Dim.small, bias: true });
  return m.binary([nn.mlp(ops.concatColumns(fields), [8, 1], { name: 'deep' }), m.biases()]);
});
`;
const cwd = t.testdir({
  'ratings.csv': ratings,
  'items.csv': items,
  'model.ts': `${schema}export const data = Dataset.from('ratings.csv', schema).with('items.csv', { key: 'itemId' });
export const settings = { epochs: 2, batchSize: 128 };
`,
  'plain.ts': schema,
  'none.ts': 'export const modle = 3;',
  'parts.ts': `${schema}export const data = { train: [], tset: [] };`,
  'slip.ts': `${schema}export const settings = { epoch: 2 };`,
  'number.ts': `import { Dataset, defineModel, defineSchema, f, nn, ops } from 'monolith-ts';
const schema = defineSchema({ itemId: f.id(), price: f.number(), rating: f.label() });
export default defineModel(schema, { name: 'stars' }, ({ itemId, price }, m) => {
  const [item] = m.embed([itemId], { dim: 4 });
  return m.regression(nn.mlp(ops.concatColumns([item!, price]), [8, 1], { name: 'deep' }));
});
export const data = Dataset.from('ratings.csv', schema);
`,
});
const named = (events: readonly CliEvent[], name: string) => events.filter(({ event }) => event === name);

t.test('a module with a model and its data is trained as a table is', async (t) => {
  const { code, out, err } = await runHere(['train', 'model.ts', '--threads', '2', '--json'], { cwd });
  t.equal(code, 0, err);
  const events = eventsOf(out);
  t.match(named(events, 'split')[0], { by: 'time', validation: Number, test: 200 });
  t.equal(named(events, 'eval').length, 3, 'before the first step and after each epoch');
  const done = events.at(-1)!;
  t.match(done, { event: 'done', model_dir: 'runs/model', auc: Number, checkpoint: /best\/model\.ckpt-\d+$/ });
  t.ok(Number(done.auc) > 0.6, `AUC ${done.auc}`);
  t.match(JSON.parse(readFileSync(join(cwd, 'runs/model/run.json'), 'utf8')), {
    module: 'model.ts',
    settings: { epochs: { value: 2, origin: 'module model.ts' }, seed: { origin: 'default' } },
  });
  t.ok(existsSync(join(cwd, 'runs/model/model.ts.txt')));
});

t.test('rows may come from the command line, and flags go before the module', async (t) => {
  const args = ['train', 'plain.ts', '--data', 'ratings.csv', '--with', 'items.csv:itemId', '--epochs', '1'];
  const { code, out, err } = await runHere([...args, '--split', 'row', '--threads', '2', '--json', '--quiet'], { cwd });
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { epochs: 1, auc: Number });
});

t.test('commands go on from such a run when its module is named again', async (t) => {
  const trained = await runHere(['train', 'model.ts', '--threads', '2', '--model-dir', 'own', '--quiet', '--json'], {
    cwd,
  });
  t.equal(trained.code, 0, trained.err);
  const { auc } = JSON.parse(trained.out) as { auc: number };
  const on = async (...args: string[]) => {
    const { code, out, err } = await runHere([...args, '--threads', '1', '--json'], { cwd });
    t.equal(code, 0, err);
    return eventsOf(out);
  };
  const own = ['own', '--module', 'model.ts'];
  t.ok(Math.abs(Number((await on('eval', ...own))[0]!.auc) - auc) < 1e-6, 'the rows that reported, again');
  const file = ['--data', 'ratings.csv', '--with', 'items.csv:itemId'];
  t.match((await on('eval', ...own, ...file))[0], { examples: 2000, source: 'ratings.csv' });
  t.equal((await on('predict', ...own, ...file)).length, 2000);
  t.same(((await on('explain', ...own, '--repeats', '1'))[0]!.columns as unknown[]).length, 3);
  const who = ratings.split('\n')[1]!.split(',')[0]!;
  t.match(await on('recommend', ...own, '--for', `userId=${who}`, '--item', 'itemId', '--top', '2'), [
    { items: { length: 2 } },
  ]);
  t.match((await on('compare', 'own', 'own', '--module', 'model.ts'))[0], { why: null, difference: Object });
});

t.test('a model of numbers is evaluated by its loss', async (t) => {
  const trained = await runHere(['train', 'number.ts', '--threads', '2', '--epochs', '1', '--model-dir', 'stars'], {
    cwd,
  });
  t.equal(trained.code, 0, trained.err);
  const { code, out, err } = await runHere(['eval', 'stars', '--module', 'number.ts', '--threads', '1'], { cwd });
  t.equal(code, 0, err);
  t.match(out, /held-out loss \S+ +mse/);
});

t.test('a folder runs no code, and a run of a table needs none', async (t) => {
  await runHere(['train', 'model.ts', '--threads', '1', '--model-dir', 'mine', '--epochs', '1', '--quiet'], { cwd });
  t.match((await runHere(['eval', 'mine'], { cwd })).err, /no code is run from a folder\nhint: --module model\.ts/);
  const table = ['--data', 'ratings.csv', '--label', 'rating>=4', '--epochs', '1', '--model-dir', 'table', '--quiet'];
  await runHere(['train', ...table, '--threads', '1'], { cwd });
  t.match(
    (await runHere(['eval', 'table', '--module', 'model.ts'], { cwd })).err,
    /--module: table is a run of a table/,
  );
  t.match(
    (await runHere(['eval', 'table', '--with', 'items.csv:itemId'], { cwd })).err,
    /--with: is for a run of a module/,
  );
});

t.test('--smoke tries a model of the user on a few steps', async (t) => {
  const { code, out, err } = await runHere(['train', 'model.ts', '--smoke', '--threads', '2'], { cwd });
  t.equal(code, 0, err);
  t.match(out, /^smoke test passed in .*: 3 steps, evaluation, save, restore, export, 200 predictions$/m);
});

t.test('a model of numbers is judged by its loss', async (t) => {
  const { code, out, err } = await runHere(['train', 'number.ts', '--threads', '2', '--epochs', '2'], { cwd });
  t.equal(code, 0, err);
  t.match(out, /held-out loss \S+ +mse \S+.*rmse \S+.*rows that chose nothing/);
});

t.test('a module that is no good is told with a hint', async (t) => {
  const cases: [string[], RegExp][] = [
    [['none.ts'], /ML_MODEL: model none\.ts cannot be used: its default export is no model; it exports modle/],
    [['parts.ts'], /its data has a part tset\nhint: did you mean test\?/],
    [['slip.ts'], /there is no setting epoch\nhint: did you mean epochs\?/],
    [['plain.ts'], /it says nothing of its data\nhint: .*--data FILE/],
    [['nowhere.ts'], /ML_FILE_READ: file nowhere\.ts/],
    [['model.ts', '--label', 'rating'], /ML_FLAG: --label: is for a table/],
    [['model.ts', '--vocab', '5'], /--vocab: is of the built-in demo/],
  ];
  for (const [args, wanted] of cases) t.match((await runHere(['train', ...args], { cwd })).err, wanted, args.join(' '));
});
