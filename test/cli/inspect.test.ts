import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fieldsOf, inspect, makeModelDir, RECORD, USER, USER_FILE } from './inspect-helpers.js';
import { runCli } from './run-cli.js';

t.test('a model directory shows its newest checkpoint', async (t) => {
  const dir = await makeModelDir(t);
  const { code, out, err } = await inspect(dir);
  t.equal(code, 0, err);
  t.equal(err, '');
  t.equal(
    out,
    `checkpoint ${dir}/model.ckpt-20 (step 20, model ffm)
5 dense variables, 36 B
  b            float32 []
  global_step  int64   []
  k            int32   [0]
  n            int64   [1]
  w            float32 [2, 2]
table ${USER}
  segments  1 ftrl + 2 adagrad
  rows      5 in 1 file, ${5 * RECORD} B, ${RECORD}.0 bytes each
  updated   2023-11-14T22:13:20Z to 2023-11-14T22:13:24Z
  slots     2: 16384 (3 rows), 16383 (2 rows)
table MonolithHashTable_bias
  segments  1 sgd
  rows      1 in 1 file, 38 B, 38.0 bytes each
  updated   no time was kept
  slots     1: 0 (1 row)
`,
  );
});

t.test('whatever part of a checkpoint is named, it is found', async (t) => {
  const dir = await makeModelDir(t);
  for (const [path, step] of [
    [`${dir}/`, 20],
    [join(dir, 'checkpoint'), 20],
    [join(dir, 'model.ckpt-10'), 10],
    [join(dir, 'model.ckpt-10.index'), 10],
    [join(dir, 'model.ckpt-10.data-00000-of-00001'), 10],
    [join(dir, 'model.ckpt-10.assets'), 10],
    [join(dir, 'model.ckpt-10.assets/monolith_model.json'), 10],
  ] as const) {
    t.match(await fieldsOf(path), { step, has_manifest: true, tables: [{ name: USER }, { rows: 1 }] }, path);
  }
  rmSync(join(dir, 'checkpoint'));
  t.match(await inspect(dir), { code: 0, out: /model\.ckpt-20 .*\nnote: .* no file "checkpoint"/ });

  const assets = join(dir, 'model.ckpt-20.assets');
  for (const path of [join(assets, 'MonolithHashTable_user-0-x'), join(assets, USER_FILE)]) {
    const fields = await fieldsOf(path);
    t.match(fields, { step: 20, dense: [], tables: [{ name: USER, rows: 5, files: 1 }] }, path);
    t.equal(fields.tables.length, 1);
  }
});

t.test('JSON has everything', async (t) => {
  const dir = await makeModelDir(t);
  const fields = await fieldsOf(dir);
  t.same(fields.tables[0], {
    name: USER,
    segments: [
      { dim: 1, optimizer: 'ftrl' },
      { dim: 2, optimizer: 'adagrad' },
    ],
    rows: 5,
    bytes: 5 * RECORD,
    files: 1,
    oldest_sec: 1_700_000_000,
    newest_sec: 1_700_000_004,
    bytes_per_row: RECORD,
    slot_count: 2,
    slots: [
      { slot: 16384, rows: 3 },
      { slot: 16383, rows: 2 },
    ],
  });
  t.same(fields.dense.at(-1), { name: 'w', dtype: 'float32', shape: [2, 2], bytes: 16 });
  t.same((await fieldsOf(dir, '--slots', '--top', '1')).tables[0].slots, [{ slot: 16384, rows: 3 }]);
});

t.test('--quick leaves the rows unread', async (t) => {
  const dir = await makeModelDir(t);
  truncateSync(join(dir, 'model.ckpt-20.assets', USER_FILE), 100);
  t.match(await inspect(dir, '--quick'), { code: 0, out: /rows {6}5 in 1 file/ });
  t.match(await fieldsOf(dir, '--quick'), { tables: [{ rows: 5, slots: [], newest_sec: null }, {}] });
  rmSync(join(dir, 'model.ckpt-20.assets/monolith_model.json'));
  t.match(await inspect(dir, '--quick'), { code: 0, out: /rows {6}not read; 100 B in 1 file/ });
});

t.test('--table and --slots narrow it down', async (t) => {
  const dir = await makeModelDir(t);
  for (const name of [USER, 'MonolithHashTable_user-0-x']) {
    const { out } = await inspect(dir, '--table', name);
    t.match(out, /table MonolithHashTable_user/);
    t.notMatch(out, /bias|dense/);
  }
  t.match(await inspect(dir, '--slots', '--top', '1', '--table', USER), {
    code: 0,
    out: / slot +rows +share\n +16384 +3 +60\.0%\n {2}and 1 slot more; --top 2 shows all\n$/,
  });
  t.match(await inspect(dir, '--table', 'MonolithHashTable_bais'), {
    code: 2,
    err: /--table: there is no table "MonolithHashTable_bais"\nhint: did you mean MonolithHashTable_bias\?/,
  });
  t.match(await inspect(dir, '--table', 'zz', '--quick'), { code: 2, err: /hint: there are MonolithHashTable_user/ });
});

t.test('--id shows the row of an id from every table that has it', async (t) => {
  const dir = await makeModelDir(t);
  const id = -(2n ** 62n + 1n);
  const { code, out } = await inspect(dir, '--id', String(id));
  t.equal(code, 0);
  t.equal(
    out,
    `id ${id} (slot 16383, signature 281474976710655)
table ${USER}
  record    1 of ${dir}/model.ckpt-20.assets/${USER_FILE}
  updated   2023-11-14T22:13:21Z
  segment   1 ftrl
    weights   21
    zero      18.875
    norm      19
  segment   2 adagrad
    weights   21.125 21.25
    norm      18.75 18.625
`,
  );
  const unsigned = BigInt.asUintN(64, id);
  for (const text of [String(unsigned), `0x${unsigned.toString(16)}`]) {
    t.match(await fieldsOf(dir, '--id', text), {
      event: 'row',
      id: String(id),
      slot: 16383,
      found: [{ table: USER, record: 1, last_update_sec: 1_700_000_001, segments: [{ weights: [21] }, { dim: 2 }] }],
    });
  }
  t.match(await inspect(dir, '--id', '12'), {
    code: 1,
    out: /^id 12 .* is in no table, of 2 that were read\n$/,
    err: '',
  });
  t.match(await fieldsOf(dir, '--id', '12'), { event: 'row', found: [] });
  for (const bad of ['zz', '1.5', '0x', String(2n ** 64n), '1e3']) {
    t.match(await inspect(dir, '--id', bad), { code: 2, err: /--id: must/ }, bad);
  }
});

t.test('a place without a checkpoint is told, with what to try', async (t) => {
  const dir = await makeModelDir(t);
  const top = join(dir, '..');
  mkdirSync(join(top, 'empty'));
  writeFileSync(join(top, 'text'), 'hello');
  const cases: [string, RegExp][] = [
    [join(top, 'empty'), /the directory is empty\nhint: monolith train --model-dir/],
    [top, /no file in this directory is part of one\nhint: try .*\/m$/m],
    [join(top, 'text'), /the file is not part of one\nhint: give a model directory/],
    [join(dir, 'model.ckpt-30'), /no such file or directory\nhint: did you mean .*model\.ckpt-\d0\?/],
    [join(top, 'text/x'), /no such file or directory/],
    ['', /the path is empty\nhint: give a model directory/],
    [join(top, 'x/y/z'), /no such file or directory\nhint: give a model directory/],
  ];
  for (const [path, message] of cases) {
    t.match(await inspect(path), { code: 1, out: '', err: /ML_CKPT_NONE: there is no checkpoint at / }, path);
    t.match((await inspect(path)).err, message, path);
  }
  t.match(await inspect(), { code: 2, err: /missing required argument 'checkpoint'/ });
  t.match(await inspect(dir, '--quick', '--slots'), { code: 2, err: /--quick: contradicts --slots/ });
  t.match(await inspect(dir, '--slots', '--id', '1'), { code: 2, err: /--slots: contradicts --id/ });
  t.match(await inspect(dir, '--idd', '1'), { code: 2, err: /--idd: unknown flag\nhint: did you mean --id/ });
});

t.test('as a process: help, a reader that goes away, and a file that cannot be', async (t) => {
  const dir = await makeModelDir(t);
  t.match(await runCli(['inspect', '--help'], { cwd: dir }), { code: 0, out: /Examples:\n {2}monolith inspect runs/ });
  t.match(await runCli(['inspect', '.'], { cwd: dir }), { code: 0, out: /^checkpoint model\.ckpt-20 /, err: '' });
  const gone = await runCli(['inspect', '.'], { cwd: dir, during: (child) => child.stdout?.destroy() });
  t.match(gone, { code: 0, err: '' });
});
