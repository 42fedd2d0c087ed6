import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DirLock } from '../../../src/checkpoint/dir-lock.js';
import { readEvents } from '../../../src/report/event-lines.js';
import { type CliEvent, eventsOf, treeOf } from '../run-cli.js';
import { runHere } from '../run-here.js';
import { madeTable } from './made-table.js';

const { ratings, items } = madeTable();
const cwd = t.testdir({ 'ratings.csv': ratings, 'items.csv': items });
const BASE = ['--data', 'ratings.csv', '--label', 'rating>=4', '--threads', '2'];
const named = (events: readonly CliEvent[], name: string) => events.filter(({ event }) => event === name);

t.test('a file and the name of a label are enough', async (t) => {
  const { code, out, err } = await runHere(
    ['train', ...BASE, '--with', 'items.csv:itemId', '--split', 'row', '--model-dir', 'runs/words'],
    { cwd },
  );
  t.equal(code, 0, err);
  t.match(out, /^ratings\.csv {2}csv, comma, header; 4,000 rows; items\.csv joined by itemId$/m);
  t.match(out, /^ {2}userId +text +60 distinct +id$/m);
  t.match(out, /^ {2}itemId +int +80 distinct +id$/m);
  t.match(out, /^ {2}rating +int +5 distinct +label: 1 where rating >= 4, [\d.]+ % of the rows$/m);
  t.match(out, /^ {2}timestamp +time +4,000 distinct +time: no feature/m);
  t.match(out, /^ {2}title .*left out: one value per item; --words title uses its words$/m);
  t.match(out, /^ {2}genres +list .*ids, split at \|$/m);
  t.match(out, /^training on 3,\d+ rows; \d+ choose the best epoch, \d+ report: by a hash of the row's number$/m);
  t.match(out, /^before +step 0 +loss \S+ +AUC \S+$/m);
  t.match(out, /^epoch 1 +step 13 +loss \S+ +AUC 0\.\d{4}$/m);
  t.match(out, /^ {2}loss +[\d.]+ [▁▂▃▄▅▆▇█]+ [\d.]+$/m);
  const [, auc, averages] = /held-out AUC {2}(\S+) +averages of userId and itemId alone: (\S+)/.exec(out) ?? [];
  t.ok(Number(auc) > 0.9 && Number(averages) > 0.9, `the model has ${auc}, averages ${averages}`);
  t.match(out, /^next +monolith recommend runs\/words --for userId=u\d+/m);
  for (const file of ['events.jsonl', 'run.json', 'schema.json', 'report.html', 'checkpoint', 'best']) {
    t.ok(existsSync(join(cwd, 'runs/words', file)), file);
  }
  t.match(out, /^report +runs\/words\/report\.html$/m);
  t.match(readFileSync(join(cwd, 'runs/words/report.html'), 'utf8'), new RegExp(`AUC ${auc} on `));
});

t.test('with --json every event is a line, and the last one has what scripts look for', async (t) => {
  const { code, out, err } = await runHere(['train', ...BASE, '--json', '--epochs', '2', '--seed', '3'], { cwd });
  t.equal(code, 0, err);
  const events = eventsOf(out);
  t.same(
    ['data', 'split', 'model', 'start', 'trained', 'test', 'done'].map((name) => named(events, name).length),
    [1, 1, 1, 1, 1, 1, 1],
  );
  t.match(named(events, 'split')[0], { by: 'time', train: 3200, validation: 400, test: 400 });
  t.same(
    named(events, 'eval').map(({ step }) => step),
    [0, 13, 26],
    'before the first step and after each epoch',
  );
  const done = events.at(-1)!;
  t.match(done, {
    event: 'done',
    step: 26,
    model_dir: 'runs/ratings',
    checkpoint: /^runs\/ratings\/best\/model\.ckpt-/,
  });
  t.type(done.auc, 'number');
  t.type(done.loss, 'number');
  t.equal(done.auc, named(events, 'test')[0]!.auc);
  const kept = readEvents(join(cwd, 'runs/ratings'));
  const rest = kept.filter(({ event }) => event !== 'progress').map(({ event }) => event);
  t.same(
    rest,
    events.filter(({ event }) => event !== 'progress').map(({ event }) => event),
    'the folder has the same',
  );
  t.match(JSON.parse(readFileSync(join(cwd, 'runs/ratings/run.json'), 'utf8')), {
    settings: { seed: { value: 3, origin: 'flag --seed' } },
    data: { files: [{ file: 'ratings.csv', bytes: ratings.length, modified: /^20/ }] },
    machine: { cores: Number },
  });
});

t.test('a second run has a folder of its own, and --model-dir goes on', async (t) => {
  const first = await runHere(['train', ...BASE, '--epochs', '1', '--quiet', '--json'], { cwd });
  t.match(JSON.parse(first.out), { model_dir: 'runs/ratings-2', step: 13 });
  const more = await runHere(
    ['train', ...BASE, '--epochs', '1', '--quiet', '--json', '--model-dir', 'runs/ratings-2'],
    { cwd },
  );
  t.match(JSON.parse(more.out), { step: 26 });
  const other = await runHere(
    ['train', '--data', 'ratings.csv', '--label', 'rating>=2', '--model-dir', 'runs/ratings-2'],
    { cwd },
  );
  t.equal(other.code, 1);
  t.match(other.err, /ML_CKPT_SETTINGS: .*label rating>=4, now rating>=2/);
  const same = ['train', ...BASE, '--epochs', '1', '--quiet', '--model-dir', 'runs/ratings-2'];
  const columns = await runHere([...same, '--ignore', 'userId', '--dim', '3'], { cwd });
  t.match(columns, { code: 1, err: /ML_CKPT_SETTINGS: .*dim of the model, now 3; column userId for id, now left out/ });
  const file = await runHere(['train', ...BASE, '--json', '--model-dir', 'ratings.csv'], { cwd });
  t.match(file, {
    code: 1,
    err: /ML_DIR: model directory ratings\.csv cannot be used: it is a file\nhint: name a folder/,
  });
  t.match(JSON.parse(file.out), { event: 'error', code: 'ML_DIR' });
  t.equal((await runHere([...same, '--id', 'userId'], { cwd })).code, 0, 'what it was anyhow may be said again');
});

t.test('the report is left out, and made again from the events alone', async (t) => {
  const made = await runHere(['train', ...BASE, '--epochs', '1', '--no-report', '--model-dir', 'runs/bare'], { cwd });
  t.equal(made.code, 0, made.err);
  t.notMatch(made.out, /report {2}/);
  t.notOk(existsSync(join(cwd, 'runs/bare/report.html')));
  copyFileSync(join(cwd, 'runs/bare/events.jsonl'), join(cwd, 'events.jsonl'));
  const json = await runHere(['report', 'events.jsonl', '--out', 'bare.html', '--json'], { cwd });
  t.same(JSON.parse(json.out), { event: 'report', run: 'events.jsonl', file: 'bare.html' });
  const plain = await runHere(['report', 'runs/bare'], { cwd });
  t.equal(plain.out, 'report  runs/bare/report.html\n');
  const page = readFileSync(join(cwd, 'runs/bare/report.html'), 'utf8');
  t.equal(readFileSync(join(cwd, 'bare.html'), 'utf8'), page);
  t.match(page, /<h1>ratings\.csv<\/h1>/);
  const none = await runHere(['report', 'runs/nothing'], { cwd });
  t.equal(none.code, 1);
  t.match(none.err, /ML_FILE_READ: .*nothing.events\.jsonl/);
});

t.test('a training that fails leaves a report that says so', async (t) => {
  const args = ['train', ...BASE, '--model-dir', 'runs/small', '--dim', '1024', '--table-memory', '1m', '--quiet'];
  const failed = await runHere(args, { cwd });
  t.equal(failed.code, 1, failed.out);
  const [, code] = /^error (ML_\w+):/m.exec(failed.err) ?? [];
  t.match(readFileSync(join(cwd, 'runs/small/report.html'), 'utf8'), `<b>${code}</b>`);
});

t.test('what is wrong is told with a hint, and leaves nothing behind', async (t) => {
  const before = readdirSync(join(cwd, 'runs'));
  const cases: [args: string[], code: number, says: RegExp, hint: RegExp][] = [
    [
      ['--data', 'ratings.csv', '--label', 'ratings'],
      1,
      /ML_COLUMN: ratings\.csv has no column "ratings"/,
      /--label rating\?/,
    ],
    [
      ['--data', 'ratings.csv', '--label', 'rating'],
      1,
      /ML_LABEL: .*it has 5 values, 1 … 5/,
      /--label 'rating>=3' makes it one/,
    ],
    [['--data', 'ratings.csv'], 2, /ML_FLAG: --label: which column of ratings\.csv/, /such as --label rating/],
    [['--data', 'rating.csv', '--label', 'x'], 1, /ML_FILE_READ: file rating\.csv/, /did you mean ratings\.csv\?/],
    [[...BASE, '--vocab', '3'], 2, /ML_FLAG: --vocab: is of the built-in demo alone/, /leave it out/],
    [['--epochs', '3'], 2, /ML_FLAG: --label: there is no data/, /--data FILE/],
    [
      [...BASE, '--with', 'items.csv:itemid'],
      1,
      /ML_COLUMN: ratings\.csv has no column "itemid"/,
      /did you mean itemId/,
    ],
    [[...BASE, '--ignore', 'pric'], 1, /ML_COLUMN: .* no column "pric"/, /did you mean price\?/],
    [[...BASE, '--split', 'userid'], 1, /ML_COLUMN/, /--split userId\?/],
    [[...BASE, '--model', 'deepfn'], 2, /ML_FLAG: --model/, /did you mean deepfm\?/],
    [['--data', 'ratings.csv', '--label', 'rating>=9'], 1, /ML_LABEL: .* 0 in all 4000 rows/, /^/],
    [['--data', 'header.csv', '--label', 'click'], 1, /ML_DATASET: .*header\.csv has a header and no rows/, /^/],
    [
      ['--data', '.', '--label', 'click'],
      1,
      /ML_FILE_READ: file \. cannot be read: it is a folder/,
      /'\*\.csv' in quotes/,
    ],
    [['--data', 'wide.csv', '--label', 'click'], 1, /ML_DATASET: .*wide\.csv is no text: it has bytes of 0/, /UTF-8/],
  ];
  writeFileSync(join(cwd, 'header.csv'), 'user,item,click\n');
  writeFileSync(join(cwd, 'wide.csv'), Buffer.from('user,click\nu1,1\n', 'utf16le'));
  for (const [args, code, says, hint] of cases) {
    const found = await runHere(['train', ...args], { cwd });
    t.equal(found.code, code, args.join(' '));
    t.match(found.err, says);
    t.match(found.err, hint);
  }
  t.same(readdirSync(join(cwd, 'runs')), before, 'no folder of a run');
});

t.test('a run in the folder of another one is refused, and changes nothing in it', async (t) => {
  const dir = join(cwd, 'runs/taken');
  mkdirSync(dir, { recursive: true });
  const lock = DirLock.take(dir);
  t.teardown(() => lock.release());
  const before = treeOf(dir);
  const { code, err } = await runHere(['train', ...BASE, '--epochs', '1', '--model-dir', 'runs/taken'], { cwd });
  t.equal(code, 1);
  t.match(err, /ML_DIR: .*trains or saves there/);
  t.same(treeOf(dir), before, 'neither run.json nor schema.json nor events.jsonl');
});

t.test('bad cells stop with their place, or are skipped and counted', async (t) => {
  const lines = ratings.split('\n');
  lines[2001] = lines[2001]!.replace(/,[\d.]+$/, ',cheap');
  lines[3001] = 'u1,1001';
  writeFileSync(join(cwd, 'bad.csv'), lines.join('\n'));
  const args = ['train', '--data', 'bad.csv', '--label', 'rating>=4', '--epochs', '1'];
  const stopped = await runHere(args, { cwd });
  t.equal(stopped.code, 1);
  t.match(stopped.err, /ML_DATA: bad\.csv line 3002, byte \d+, column itemId|line 3002.*2 cells, not 5/);
  t.match(stopped.err, /--bad-rows skip/);
  const skipped = await runHere([...args, '--bad-rows', 'skip', '--json'], { cwd });
  t.equal(skipped.code, 0, skipped.err);
  t.match(named(eventsOf(skipped.out), 'data')[0], { rows: 3998, bad_rows: 2 });
});

t.test('a column that gives the label away is told of', async (t) => {
  const leaky = ratings.split('\n').map((line, index) => {
    if (line === '') return line;
    return index === 0 ? `${line},refunded` : `${line},${Number(line.split(',')[2]) >= 4 ? 'yes' : 'no'}`;
  });
  writeFileSync(join(cwd, 'leaky.csv'), leaky.join('\n'));
  const { err } = await runHere(['train', '--data', 'leaky.csv', '--label', 'rating>=4', '--epochs', '1'], { cwd });
  t.match(err, /warning ML_LABEL: column "refunded" alone predicts the label with AUC 1\.000.*--ignore refunded/);
});

t.test('--smoke tries everything and leaves nothing', async (t) => {
  const before = readdirSync(cwd);
  const { code, out, err } = await runHere(['train', ...BASE, '--smoke'], { cwd });
  t.equal(code, 0, err);
  t.match(out, /^smoke test passed in [\d.]+ s: 3 steps, evaluation, save, restore, export, 256 predictions$/m);
  t.same(readdirSync(cwd), before);
});

t.test('--dry-run says what would be done', async (t) => {
  const { code, out } = await runHere(['train', ...BASE, '--dry-run'], { cwd });
  t.equal(code, 0);
  t.match(out, /^label +rating>=4 +flag --label$/m);
  t.match(out, /^batchSize +256 +default$/m);
  t.match(out, /4,000 rows/);
  t.notMatch(out, /epoch 1/);
});
