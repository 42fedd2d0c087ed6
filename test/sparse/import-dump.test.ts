/** @file Tables of the reference come into tables of a model by their names, and a hostile folder does no harm. */
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { frameRecord, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../src/io/record-writer.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { isDump, tablesOfDump } from '../../src/sparse/files/dump-folder.js';
import { importTableDump } from '../../src/sparse/files/import-dump.js';
import { saveMultiTable } from '../../src/sparse/files/save-multi-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';

const optimizer = () => AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
const memory = await TableMemory.create({ budgetBytes: 16 << 20 });

let made = 0;

/** Names are taken once in a memory; those that matter are the keys of maps. */
function tableOf(t: Test, name: string, dim = 2) {
  const table = HashTable.create(
    memory,
    defineTable(`${name}_${made++}`, [{ dim, initializer: ZerosInitializer(), optimizer: optimizer() }]),
  );
  t.teardown(() => table.dispose());
  return table;
}

function filled(t: Test, name: string, ids: readonly bigint[], dim = 2) {
  const table = tableOf(t, name, dim);
  table.optimize(
    ids,
    Float32Array.from({ length: ids.length * dim }, (_, at) => at + 1),
    { timeSec: 1_700_000_000 },
  );
  return table;
}

const root = t.testdir();
const MULTI = 'MonolithMultiHashTable_';

/** A folder as the reference leaves it: several tables together, one by itself, a filter. */
async function dump(t: Test, name: string) {
  const dir = join(root, name, 'model.ckpt-900.assets');
  mkdirSync(dir, { recursive: true });
  const [user, item] = [filled(t, 'fc_slot_1', [1n, 2n, -3n]), filled(t, 'item', [7n, 8n])];
  const together = [
    { name: 'fc_slot_1', table: user },
    { name: 'item', table: item },
  ];
  await saveMultiTable(together, join(dir, MULTI), { nshards: 2 });
  const single = filled(t, 'single', [5n], 3);
  await saveTable(single, join(dir, 'MonolithHashTable_0123456789abcdef'));
  writeFileSync(join(dir, 'hash_filter_0-00000-of-00001'), '');
  return { dir, user, item, single };
}

t.test('rows come in by name, of files of several tables and of one', async (t) => {
  const { dir, user, item, single } = await dump(t, 'names');
  t.ok(isDump(dir) && isDump(join(root, 'names')));
  t.same(
    tablesOfDump(dir).map(({ name, together }) => [name, together]),
    [
      ['0123456789abcdef', false],
      ['fc_slot_1', true],
      ['item', true],
    ],
  );
  const mine = { user: tableOf(t, 'user'), item: tableOf(t, 'item'), other: tableOf(t, 'other', 3) };
  mine.item.assign([8n, 9n], [0, 0, 5, 5]);
  const rename = { user: 'fc_slot_1' };
  const report = await importTableDump(join(root, 'names'), new Map(Object.entries(mine)), { rename });
  t.same(report, {
    dir,
    imported: [
      { table: 'user', from: 'fc_slot_1', rows: 3, added: 3, state: false },
      { table: 'item', from: 'item', rows: 2, added: 1, state: false },
    ],
    skipped: ['0123456789abcdef'],
    untouched: ['other'],
  });
  t.same(mine.user.lookup([1n, 2n, -3n]), user.lookup([1n, 2n, -3n]));
  t.same(mine.item.lookup([7n, 8n]), item.lookup([7n, 8n]));
  t.same([...mine.item.lookup([9n])], [5, 5], 'rows that the dump has not stay');
  const whole = { rename: { other: '0123456789abcdef' } };
  const one = await importTableDump(dir, new Map([['other', mine.other]]), whole);
  t.match(one.imported, [{ table: 'other', rows: 1, added: 1 }]);
  t.same(mine.other.lookup([5n]), single.lookup([5n]));
});

t.test('the state of optimizers comes too where it is asked for', async (t) => {
  const { dir, user, single } = await dump(t, 'state');
  const [mine, other] = [tableOf(t, 'user'), tableOf(t, 'other', 3)];
  const rename = { user: 'fc_slot_1', other: '0123456789abcdef' };
  const tables = new Map(Object.entries({ user: mine, other }));
  const { imported } = await importTableDump(dir, tables, { rename, state: true });
  t.ok(imported.every(({ state }) => state));
  t.same(mine.lookupEntry([1n, -3n]), user.lookupEntry([1n, -3n]), 'all of the row');
  t.same(other.lookupEntry([5n]), single.lookupEntry([5n]));
  t.equal(mine.maxUpdateSec, 1_700_000_000);
});

t.test('names that nobody has, and rows of another table, are refused before anything changes', async (t) => {
  const { dir } = await dump(t, 'refused');
  const [user, item] = [tableOf(t, 'user'), tableOf(t, 'item', 4)];
  const tables = new Map(Object.entries({ user, item }));
  const rejects = (
    options: object,
    error: { readonly code: string; readonly message?: RegExp; readonly hint?: RegExp },
  ) => t.rejects(importTableDump(dir, tables, options), error);
  await rejects({ rename: { usr: 'item' } }, { code: 'ML_TABLE_UNKNOWN', hint: /user/ });
  await rejects({ rename: { user: 'fc_slot_2' } }, { code: 'ML_TABLE_UNKNOWN', hint: /fc_slot_1/ });
  await rejects({ renam: {} }, { code: 'ML_OPTION', hint: /rename/ });
  const error = { code: 'ML_CKPT_TABLE', message: /item .* holds 2 values, and rows of the table have 4/ };
  await rejects({ rename: { user: 'fc_slot_1' } }, error);
  t.same([user.size, item.size], [0, 0]);
  await t.rejects(importTableDump(join(root, 'nowhere'), tables), { code: 'ML_FILE_READ' });
  mkdirSync(join(root, 'empty'));
  await t.rejects(importTableDump(join(root, 'empty'), tables), { code: 'ML_CKPT_NONE', hint: /assets/ });
});

/** Files of records of these payloads. */
function records(...payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    payloads.map((payload) => {
      const bytes = new Uint8Array(RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES);
      bytes.set(payload, RECORD_HEADER_BYTES);
      frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
      return bytes;
    }),
  );
}

const row = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const GOLDEN = '0901000000000000001500000000150000803f150000004015000040401a040a0212002000';

t.test(
  'a hostile folder is an error: links, cut files, numbers that are not borne out, rows without end',
  async (t) => {
    const { dir } = await dump(t, 'hostile');
    const user = tableOf(t, 'user');
    const tables = new Map([['user', user]]);
    const files = readdirSync(dir).filter((name) => name.startsWith(MULTI));
    /** A copy of the dump in a folder of its own. */
    const copy = (name: string) => {
      const to = join(root, `hostile-${name}`);
      mkdirSync(to);
      for (const file of files) copyFileSync(join(dir, file), join(to, file));
      return to;
    };
    const rejects = async (folder: string, code: string, message = /./) => {
      await t.rejects(importTableDump(folder, tables, { rename: { user: 'fc_slot_1' } }), { code, message }, folder);
      t.equal(user.size, 0);
    };
    const linked = join(root, 'hostile-linked');
    mkdirSync(linked);
    for (const file of files) symlinkSync(join(dir, file), join(linked, file));
    await rejects(linked, 'ML_FILE_READ', /links are not followed/);
    const cut = copy('cut');
    truncateSync(join(cut, `${MULTI}-00001-of-00002`), 20);
    await rejects(cut, 'ML_CKPT_CORRUPT');
    const missing = join(root, 'hostile-missing');
    mkdirSync(missing);
    for (const file of files.filter((name) => !name.includes('meta-00001')))
      copyFileSync(join(dir, file), join(missing, file));
    await rejects(missing, 'ML_CKPT_SHARDS');
    const meta = copy('meta');
    // 2^62 rows of a table called as a path outside.
    const lies = records(
      row('0a0966635f736c6f745f31108080808080808080408001'.slice(0, 42)),
      row('0a0b2e2e2f2e2e2f65746378781001'),
    );
    writeFileSync(join(meta, `${MULTI}.meta-00000-of-00002`), lies);
    await t.rejects(importTableDump(meta, tables, { rename: { user: 'fc_slot_1' } }), /./);
    t.equal(user.size, 0);

    const single = join(root, 'hostile-single');
    mkdirSync(single);
    const file = join(single, 'user-00000-of-00001');
    const four = tableOf(t, 'user', 4);
    const given = async (bytes: Uint8Array, code: string, message = /./) => {
      writeFileSync(file, bytes);
      await t.rejects(importTableDump(single, new Map([['user', four]])), { code, message });
      t.equal(four.size, 0);
    };
    await given(records(row('0801')), 'ML_CKPT_CORRUPT');
    await given(records(row('150000803f')), 'ML_CKPT_TABLE', /id is missing/);
    await given(Buffer.concat([records(row(GOLDEN)), Buffer.from('rest')]), 'ML_CKPT_CORRUPT');
    await given(records(row(`0901000000000000 00${'150000803f'.repeat(140_000)}`.replace(' ', ''))), 'ML_CKPT_TABLE');
    const huge = new Uint8Array(12);
    new DataView(huge.buffer).setBigUint64(0, 2n ** 50n, true);
    await given(huge, 'ML_CKPT_CORRUPT');
    writeFileSync(file, records(row(GOLDEN)));
    t.match(await importTableDump(single, new Map([['user', four]])), { imported: [{ rows: 1 }] });
    t.same([...four.lookup([1n])], [0, 1, 2, 3], 'the row of the reference');
  },
);
