/** @file Savers of variables with listeners for tables, filters and counts: checkpoints in the reference's layout. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import {
  FidSlotCountSaverListener,
  HashFilterCheckpointRestorerListener,
  HashFilterCheckpointSaverListener,
  HashTableCheckpointRestorerListener,
  HashTableCheckpointSaverListener,
  HashTableRestorerSaverListener,
  MultiHashTableCheckpointRestorerListener,
  MultiHashTableCheckpointSaverListener,
  MultiHashTableRestorerSaverListener,
} from '../../src/compat/index.js';
import type { Session } from '../../src/runtime/session/session.js';
import type { TableConfig } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { modelOf, run } from './saver-run.js';

const DAY = 86_400;

const rowsOf = (session: Session, config: TableConfig) =>
  [...HashTable.of(session, config).rows()].map(({ id, weights }) => [Number(id), weights[0]]);

function assign(
  session: Session,
  config: TableConfig,
  ids: readonly number[],
  value: number,
  timeSec = 10 * DAY,
): void {
  const bits = BigInt64Array.from(ids, BigInt);
  HashTable.of(session, config).assign(bits, new Float32Array(ids.length).fill(value), { timeSec });
}

t.test(
  'test_save_restore_hook: variables and tables of a run come back in the next one, from sharded files',
  async (t) => {
    const dir = t.testdir();
    const names: [string, string[]][] = [
      ['a', []],
      ['a_1', []],
    ];
    const base = join(dir, 'model.ckpt');
    const first = modelOf(names);
    const savers = [new HashTableCheckpointSaverListener(base), new FidSlotCountSaverListener(dir)];
    await run(first, { dir, savers, sharded: true }, (session) => {
      session.writeVariable('v0', Float32Array.of(1, 2));
      session.writeVariable('v1', Float32Array.of(3, 4));
      assign(session, first.tables[0]!, [1, 2], 5);
      assign(session, first.tables[1]!, [3], 6);
    });
    t.same(readdirSync(dir).sort(), [
      'checkpoint',
      'ckpt.info-1',
      'meta_graph_for_debugging.pb',
      'model.ckpt-1.assets',
      'model.ckpt-1.data-00000-of-00003',
      'model.ckpt-1.data-00001-of-00003',
      'model.ckpt-1.data-00002-of-00003',
      'model.ckpt-1.index',
      'model.ckpt-1.meta',
      'monolith_checkpoint',
    ]);
    t.equal(readFileSync(join(dir, 'ckpt.info-1'), 'utf8'), 'slot_counts {\n  key: 0\n  value: 3\n}\n');
    // The second table had another name before; the first one's is the beginning of it.
    const second = modelOf([
      ['a', []],
      ['b', ['a_1']],
    ]);
    const restorers = [new HashTableCheckpointRestorerListener(base)];
    await run(second, { dir, restorers }, (session) => {
      t.equal(session.globalStep, 1);
      t.same([...session.readVariable('v0'), ...session.readVariable('v1')], [1, 2, 3, 4]);
      t.same(rowsOf(session, second.tables[0]!), [
        [1, 5],
        [2, 5],
      ]);
      t.same(rowsOf(session, second.tables[1]!), [[3, 6]]);
    });
  },
);

t.test('a table that no checkpoint has is an error, and a lone folder of tables is a checkpoint', async (t) => {
  const dir = t.testdir();
  const base = join(dir, 'model.ckpt');
  const first = modelOf([['a', []]]);
  const saver = new HashTableCheckpointSaverListener(base, { nshards: 2 });
  await run(first, { dir, savers: [saver] }, (session) => assign(session, first.tables[0]!, [1, 2], 5));
  const restorers = () => [new HashTableCheckpointRestorerListener(base)];
  await t.rejects(
    run(modelOf([['c', ['d']]]), { dir, restorers: restorers() }, () => undefined),
    {
      code: 'ML_CKPT_NO_TABLE',
      message: [
        `Unable to find table checkpoint in '${base}-1.assets/' for table: c, d.`,
        'Maybe the model structure has been changed.',
      ].join(' '),
    },
  );
  for (const name of readdirSync(dir)) if (!name.endsWith('.assets')) rmSync(join(dir, name));
  const alone = modelOf([['a', []]]);
  await run(alone, { dir, restorers: restorers() }, (session) => {
    t.same(rowsOf(session, alone.tables[0]!), [
      [1, 5],
      [2, 5],
    ]);
  });
  rmSync(join(dir, 'checkpoint'));
  for (const name of readdirSync(dir)) if (name.endsWith('.index')) rmSync(join(dir, name));
  mkdirSync(join(dir, 'other.assets'));
  const none = modelOf([['a', []]]);
  await run(none, { dir, restorers: restorers() }, (session) => t.same(rowsOf(session, none.tables[0]!), []));
});

t.test('several tables in one set of files, and filters beside them', async (t) => {
  const dir = t.testdir();
  const base = join(dir, 'model.ckpt');
  const filtered = (names: [string, string[]][]) => modelOf(names, [], true);
  const first = filtered([
    ['a', []],
    ['b', []],
  ]);
  const savers = [new MultiHashTableCheckpointSaverListener(base), new HashFilterCheckpointSaverListener(base)];
  await run(first, { dir, savers }, (session) => {
    // An id gets a row only after it was seen twice.
    for (let seen = 0; seen < 3; seen++) {
      assign(session, first.tables[0]!, [1], 5);
      assign(session, first.tables[1]!, [2, 3], 6);
    }
  });
  const assets = readdirSync(`${base}-1.assets`);
  t.ok(assets.includes('MonolithMultiHashTable_-00000-of-00001'));
  t.ok(assets.some((name) => name.startsWith('hash_filter_0-00000-of-')));
  t.match(
    readFileSync(join(dir, 'ckpt.info-1'), 'utf8'),
    /^feature_counts {\n {2}key: "a"\n {2}value: 1\n}\nfeature_counts/,
  );
  const warned: string[] = [];
  const before = setLogSink((level, text) => void (level === 'warn' && warned.push(text)));
  const restorers = [
    new MultiHashTableCheckpointRestorerListener(base),
    new HashFilterCheckpointRestorerListener(base),
  ];
  const second = filtered([
    ['b', []],
    ['c', []],
  ]);
  await run(second, { dir, restorers }, (session) => {
    t.same(rowsOf(session, second.tables[0]!), [
      [2, 6],
      [3, 6],
    ]);
    t.same(rowsOf(session, second.tables[1]!), []);
  });
  setLogSink(before);
  t.match(warned, [/table c is not in/]);
  // Filters of old checkpoints are beside them.
  for (const name of assets.filter((file) => file.startsWith('hash_filter_0'))) {
    renameSync(join(`${base}-1.assets`, name), `${base}-1_${name}`);
  }
  rmSync(`${base}-1.assets`, { recursive: true });
  for (const name of readdirSync(dir))
    if (name.startsWith('model.ckpt-2')) rmSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, 'checkpoint'), 'model_checkpoint_path: "model.ckpt-1"\n');
  const legacy = [new HashFilterCheckpointRestorerListener(base)];
  await run(filtered([['b', []]]), { dir, restorers: legacy }, (session) => t.equal(session.globalStep, 1));
  rmSync(`${base}-1_hash_filter_0-00000-of-00007`, { force: true });
});

t.test('test_restore_after_save: what has expired is out of the tables once it is out of the files', async (t) => {
  for (const [number, [save, restore]] of (
    [
      [HashTableCheckpointSaverListener, HashTableRestorerSaverListener],
      [MultiHashTableCheckpointSaverListener, MultiHashTableRestorerSaverListener],
    ] as const
  ).entries()) {
    const dir = join(t.testdir(), String(number));
    mkdirSync(dir);
    const base = join(dir, 'model.ckpt');
    const model = modelOf([['a', []]], []);
    let after: unknown;
    const look = {
      afterSave: (session: Session) => {
        after = rowsOf(session, model.tables[0]!);
      },
    };
    await run(model, { dir, savers: [new save(base), new restore(base), look] }, (session) => {
      assign(session, model.tables[0]!, [1], 5, 8 * DAY);
      assign(session, model.tables[0]!, [2], 6, 10 * DAY);
    });
    t.same(after, [[2, 6]]);
  }
});

t.test('counts without tables are refused before there is a session', async (t) => {
  const dir = t.testdir();
  const { graph } = modelOf([], ['v']);
  t.throws(() => new FidSlotCountSaverListener(dir).begin(graph), {
    code: 'ML_SAVER',
    message: /creating the listener before calling model_fn/,
  });
  t.notOk(existsSync(join(dir, 'ckpt.info-0')));
});
