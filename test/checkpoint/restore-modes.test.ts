import { appendFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { reportText } from '../../src/checkpoint/restore-report.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { AdagradOptimizer, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { saveMultiTable } from '../../src/sparse/files/save-multi-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import type { HashTable } from '../../src/sparse/table/hash-table.js';
import { lookup, open, saved, trained } from './trained-model.js';

t.test('exact: two lines save and restore a model, and the report names everything', async (t) => {
  const dir = t.testdir();
  const { session, contents } = await trained(t);
  const { path } = await saveCheckpoint(dir, snapshotSession(session, 'm'));
  const same = await open(t, { dense: { kernel: [2, 3], 'kernel/m': [2, 3] }, tables: { users: 2, items: 1 } });
  const report = await restoreSession(same.session, dir);
  t.same(same.contents(), contents());
  t.same(report, {
    path,
    mode: 'exact',
    step: 9,
    tensors: ['kernel', 'kernel/m', 'global_step'].map((name) => ({ name, outcome: 'restored' })),
    tables: ['users', 'items'].map((name) => ({ name, outcome: 'restored' })),
    filters: [],
  });
  t.equal(reportText(report), `${path}: 3 variables, 2 tables restored`);
  const there = basename(path);
  await t.rejects(restoreSession(same.session, join(dir, 'no')), { code: 'ML_CKPT_PATH', hint: `${dir} has ${there}` });
  const isDirectory = `it is a directory, with ${there}; latestCheckpoint names its newest one`;
  await t.rejects(loadCheckpoint(dir), { code: 'ML_CKPT_PATH', hint: isDirectory });
  await t.rejects(loadCheckpoint(join(dir, 'no/way')), { code: 'ML_CKPT_PATH', hint: /^there is no checkpoint in / });
  await t.rejects(restoreSession(same.session, t.testdir({ empty: {} })), { code: 'ML_CKPT_NONE' });
});

t.test('subset: a graph that predicts takes its part of a training checkpoint', async (t) => {
  const path = await saved(t);
  const serving = { entryType: 'serving' as const };
  for (const definition of [{}, serving]) {
    const optimizer = definition === serving ? SgdOptimizer() : AdagradOptimizer();
    const predict = await open(t, {
      dense: { kernel: [2, 3] },
      tables: { users: 2 },
      counts: false,
      definition,
      optimizer,
    });
    const report = await restoreSession(predict.session, path, { mode: 'subset' });
    t.same([...predict.session.readVariable('kernel')], [1, 2, 3, 4, 5, 6]);
    t.same(lookup(predict.tables.users, 7n), [1, 2]);
    t.same(report.tensors, [
      { name: 'kernel', outcome: 'restored' },
      { name: 'kernel/m', outcome: 'extra' },
    ]);
    t.same(report.tables.at(-1), { name: 'items', outcome: 'extra' });
  }
  const more = await open(t, { dense: { kernel: [2, 3], bias: [1] } });
  const before = more.contents();
  await t.rejects(restoreSession(more.session, path, { mode: 'subset' }), {
    code: 'ML_CKPT_MODEL',
    message: /bias: the checkpoint does not have it/,
    hint: /warm-start/,
    fields: { report: { tensors: [{}, { name: 'bias', outcome: 'missing' }, {}] } },
  });
  t.same(more.contents(), before);
});

t.test('warm start: a new feature begins from its initial values, all else is restored', async (t) => {
  const path = await saved(t);
  const dense = { kernel: [2, 3], 'kernel/m': [2, 3], 'new/kernel': [2] };
  const model = await open(t, { dense, tables: { users: 2, items: 1, new_slot: 4 } });
  model.session.writeVariable('new/kernel', Float32Array.of(5, 5));
  model.tables.new_slot!.assign([1n], Float32Array.of(1, 1, 1, 1));
  const report = await restoreSession(model.session, path, { mode: 'warm-start', missing: ['new*'] });
  t.same(
    [...report.tensors, ...report.tables].map(({ name, outcome }) => [name, outcome]),
    [
      ['kernel', 'restored'],
      ['kernel/m', 'restored'],
      ['new/kernel', 'initialised'],
      ['global_step', 'restored'],
      ['users', 'restored'],
      ['items', 'restored'],
      ['new_slot', 'initialised'],
    ],
  );
  t.same([...model.session.readVariable('new/kernel')], [1, 1], 'initial values, whatever it had');
  t.equal(model.tables.new_slot!.size, 0);
  t.same(lookup(model.tables.items, 8n), [3]);
  t.match(reportText(report), /3 variables, 2 tables restored; initialised: new\/kernel, new_slot$/);
});

t.test('warm start: renamed, reshaped, resized and extra ones, by name', async (t) => {
  const path = await saved(t);
  const model = await open(t, { dense: { 'dense/kernel': [3, 2], bias: [1] }, tables: { people: 2, items: 5 } });
  const options = {
    mode: 'warm-start',
    rename: { 'dense/kernel': 'kernel', people: 'users' },
    reshape: ['dense/kernel'],
    missing: ['bias', 'items'],
    extra: ['*/m'],
    globalStep: false,
  } as const;
  const report = await restoreSession(model.session, path, options);
  t.match(report.tensors[0], { name: 'dense/kernel', outcome: 'reshaped', from: 'kernel' });
  t.match(report.tables, [
    { name: 'people', outcome: 'restored', from: 'users' },
    { name: 'items', outcome: 'initialised', reason: /expected adagrad\[5\], found adagrad\[1\]/ },
  ]);
  t.same([...model.session.readVariable('dense/kernel')], [1, 2, 3, 4, 5, 6]);
  t.same(lookup(model.tables.people, 7n), [1, 2]);
  t.equal(model.session.globalStep, 0);

  const before = model.contents();
  const without = (key: keyof typeof options) => ({ ...options, [key]: undefined });
  const refused: [keyof typeof options, RegExp, RegExp][] = [
    ['rename', /dense\/kernel: the checkpoint does not have it/, /rename/],
    ['reshape', /expected float32\[3, 2\], found float32\[2, 3\]/, /reshape/],
    ['missing', /bias: the checkpoint does not have it; items: expected/, /missing/],
    ['extra', /kernel\/m: only the checkpoint has it/, /extra/],
  ];
  for (const [key, message, hint] of refused) {
    await t.rejects(restoreSession(model.session, path, without(key)), { code: 'ML_CKPT_MODEL', message, hint });
    t.same(model.contents(), before, `without ${key} nothing changes`);
  }
  const slips: [object, RegExp, RegExp][] = [
    [{ mode: 'warm' }, /no mode warm/, /warm-start/],
    [{ reshape: ['bias'] }, /reshape is not for the mode exact/, /warm-start/],
    [{ mode: 'warm-start', missing: ['biass'] }, /no variable or table biass/, /bias\?/],
    [{ mode: 'warm-start', rename: { peeple: 'x' } }, /no variable or table peeple/, /people\?/],
    [{ mode: 'warm-start', extra: 'all' }, /list of names/, /./],
    [{ modes: 'exact' }, /no option modes/, /mode/],
  ];
  for (const [given, message, hint] of slips) {
    const error = await restoreSession(model.session, path, given).then(
      () => null,
      (thrown) => thrown,
    );
    t.match(error, { code: 'ML_OPTION', message });
    t.match(error.hint ?? '.', hint);
  }
});

t.test('a restore that fails half-way leaves rows, filters, variables and the step as they were', async (t) => {
  const path = await saved(t);
  const loaded = await loadCheckpoint(path);
  const model = await open(t, { dense: { kernel: [2, 3], 'kernel/m': [2, 3] }, tables: { users: 2, items: 1 } });
  model.tables.users!.assign([1n], Float32Array.of(8, 9));
  model.tables.items!.assign([2n], Float32Array.of(4));
  const before = model.contents();
  // Whole when it was loaded, damaged since: the first table is read by the time the second one fails.
  const file = `${path}.assets/items-00000-of-00001`;
  appendFileSync(file, 'x');
  await t.rejects(restoreSession(model.session, loaded), { code: 'ML_CKPT_CORRUPT', fields: { file } });
  t.same(model.contents(), before);
  rmSync(file);
  await t.rejects(restoreSession(model.session, loaded), { code: 'ML_CKPT_READ' });
  t.same(model.contents(), before);
  model.tables.users!.assign([3n], Float32Array.of(1, 1));
  t.equal(model.tables.users!.size, 2, 'the table works on');
});

t.test('a table is found under a name that it had before', async (t) => {
  const path = await saved(t);
  const definition = { extraRestoreNames: ['users'] };
  const dense = { kernel: [2, 3], 'kernel/m': [2, 3] };
  const model = await open(t, { dense, tables: { members: 2 }, definition });
  const report = await restoreSession(model.session, path, { mode: 'subset' });
  t.same(report.tables[0], { name: 'members', outcome: 'restored', from: 'users' });
  t.same(lookup(model.tables.members, 7n), [1, 2]);
  const { path: one } = await saveCheckpoint(join(path, '../one'), {
    ...(await loadCheckpoint(path)),
    tables: (await loadCheckpoint(path)).tables.slice(0, 1),
  });
  const exact = await open(t, { dense, tables: { members: 2 }, definition });
  await loadCheckpoint(one, { expect: snapshotSession(exact.session, 'm') });
  await restoreSession(exact.session, one);
  t.same(lookup(exact.tables.members, 7n), [1, 2], 'in an exact restore too');
});

/** Files as the reference leaves them: a bundle and tables, no manifest. */
async function foreign(
  t: Test,
  prefix: string,
  write: (assets: string, tables: Record<string, HashTable>) => Promise<void>,
) {
  const { session, tables } = await trained(t);
  await writeTensorBundle(prefix, [
    { name: 'kernel', dtype: 'float32', shape: [2, 3], data: session.readVariable('kernel').slice() as Float32Array },
    { name: 'kernel/Adam', dtype: 'float32', shape: [1], data: Float32Array.of(0) },
    { name: 'words', dtype: 'string', shape: [1], data: [new Uint8Array(2)] },
    { name: 'global_step', dtype: 'int64', shape: [], data: BigInt64Array.of(70n) },
  ]);
  await write(`${prefix}.assets`, tables as Record<string, HashTable>);
}

t.test('foreign: a checkpoint of the reference is read, in each of the forms that tables have there', async (t) => {
  const forms: Record<string, (assets: string, tables: Record<string, HashTable>) => Promise<void>> = {
    single: async (assets, { users, items }) => {
      await saveTable(users!, join(assets, 'MonolithHashTable_users'));
      await saveTable(items!, join(assets, 'MonolithHashTable_items'));
    },
    servers: async (assets, { users, items }) => {
      await saveTable(users!, join(assets, 'MonolithHashTable_users_0'));
      users!.clear();
      users!.assign([70n], Float32Array.of(5, 6));
      await saveTable(users!, join(assets, 'MonolithHashTable_users_1'));
      await saveTable(items!, join(assets, 'MonolithHashTable_items_0'));
    },
    multi: async (assets, { users, items }) => {
      const named = [
        { name: 'items', table: items! },
        { name: 'users', table: users! },
      ];
      await saveMultiTable(named, join(assets, 'MonolithMultiHashTable_'));
    },
  };
  for (const [form, write] of Object.entries(forms)) {
    const prefix = join(t.testdir(), 'model.ckpt-70');
    await foreign(t, prefix, write);
    const model = await open(t, { dense: { kernel: [2, 3] }, tables: { users: 2, items: 1 } });
    model.tables.users!.assign([1n], Float32Array.of(1, 1));
    const report = await restoreSession(model.session, prefix, { mode: 'foreign' });
    t.equal(model.session.globalStep, 70, form);
    t.same(lookup(model.tables.users, 7n), [1, 2], form);
    t.same(lookup(model.tables.items, 8n), [3], form);
    t.equal(model.tables.users!.size, form === 'servers' ? 2 : 1, 'what it had is gone');
    t.match(report.tensors, [{ name: 'kernel', outcome: 'restored' }, { outcome: 'extra' }, { outcome: 'extra' }, {}]);
    t.same(
      report.tables.map(({ outcome }) => outcome),
      ['restored', 'restored'],
      form,
    );
    await t.rejects(restoreSession(model.session, prefix), { code: 'ML_CKPT_CORRUPT' }, 'only when asked for');

    const other = await open(t, { dense: { kernel: [2, 3] }, tables: { users: 3, items: 1 } });
    const before = other.contents();
    await t.rejects(restoreSession(other.session, prefix, { mode: 'foreign' }), { code: 'ML_CKPT_TABLE' });
    t.same(other.contents(), before, 'rows that do not fit change nothing');
    const more = await open(t, { dense: { kernel: [2, 3] }, tables: { users: 2, likes: 1 } });
    await t.rejects(restoreSession(more.session, prefix, { mode: 'foreign' }), {
      code: 'ML_CKPT_MODEL',
      message: /likes/,
    });
    t.same(
      (await restoreSession(more.session, prefix, { mode: 'foreign', missing: ['likes'] })).tables.map(
        ({ name, outcome }) => [name, outcome],
      ),
      [
        ['users', 'restored'],
        ['likes', 'initialised'],
        [
          form === 'multi' ? 'items' : form === 'single' ? 'MonolithHashTable_items' : 'MonolithHashTable_items_0',
          'extra',
        ],
      ],
    );
  }
});

t.test('foreign: tables alone, a server that is missing, and one of ours', async (t) => {
  const dir = t.testdir();
  const { tables } = await trained(t);
  await saveTable(tables.users!, join(dir, 'model.ckpt-1.assets/users'));
  const model = await open(t, { tables: { users: 2 }, counts: false });
  await restoreSession(model.session, dir, { mode: 'foreign' });
  t.same(lookup(model.tables.users, 7n), [1, 2]);
  await saveTable(tables.users!, join(dir, 'model.ckpt-2.assets/users'));
  await t.rejects(
    restoreSession(model.session, dir, { mode: 'foreign' }),
    { code: 'ML_CKPT_NONE' },
    'which of the two?',
  );

  const prefix = join(t.testdir(), 'model.ckpt-3');
  await saveTable(tables.users!, `${prefix}.assets/users_1`);
  await t.rejects(restoreSession(model.session, prefix, { mode: 'foreign' }), {
    code: 'ML_CKPT_SHARDS',
    message: /Shard 0/,
  });

  const ours = await saved(t);
  const whole = await open(t, { dense: { kernel: [2, 3] }, tables: { users: 2 } });
  const report = await restoreSession(whole.session, ours, { mode: 'foreign' });
  t.same(report.tables, [
    { name: 'users', outcome: 'restored' },
    { name: 'items', outcome: 'extra' },
  ]);
  t.equal(whole.session.globalStep, 9);
});
