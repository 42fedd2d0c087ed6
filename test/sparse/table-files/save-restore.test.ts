import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { type DumpedOptimizer, type DumpSegment, OPTIMIZER_DUMPS } from '../../../src/io/optimizer-dump.js';
import { restoreTable } from '../../../src/sparse/files/restore-table.js';
import { saveTable } from '../../../src/sparse/files/save-table.js';
import { faultyFileSystem } from '../../checkpoint/helpers.js';
import { sampleRows, TestTable } from './fixture.js';
import { foreignRecord } from './foreign-record.js';

const ADAGRAD: readonly DumpSegment[] = [{ dim: 3, optimizer: 'adagrad' }];

/** Saves without forcing files to disk. */
const quick = { sync: false } as const;

function filesIn(dir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name)).toString('hex')]));
}

t.test('rows of every optimizer survive, whatever the number of files and banks', async (t) => {
  const optimizers = Object.keys(OPTIMIZER_DUMPS) as DumpedOptimizer[];
  for (const [index, optimizer] of optimizers.entries()) {
    const segments: DumpSegment[] = [
      { dim: 1, optimizer },
      ...(optimizer === 'batchSoftmax' ? [] : ([{ dim: 5, optimizer }] as const)),
      { dim: 2, optimizer: 'ftrl' },
    ];
    const table = await TestTable.create({ segments, banks: 1 + (index % 3) });
    table.put(sampleRows(300, segments));
    const base = join(t.testdir({}), 'a', 'b', optimizer);
    const { files, rows } = await saveTable(table, base, { ...quick, nshards: 1 + (index % 4) });
    t.equal(rows, 300);
    t.equal(files.length, 1 + (index % 4));
    const copy = await TestTable.create({ segments, banks: 1 + ((index + 1) % 3) });
    copy.put(sampleRows(50, segments, 1000));
    t.same(await restoreTable(copy, base), { files, rows: 300, inPlace: false });
    t.same(copy.rows(), table.rows(), optimizer);
    t.equal(copy.image.maxUpdateSec, 1_700_000_299);
  }
});

t.test('bytes do not depend on the history of a table', async (t) => {
  const dir = t.testdir({ a: {}, b: {} });
  const rows = sampleRows(500, ADAGRAD);
  const [one, two] = [await TestTable.create({ segments: ADAGRAD }), await TestTable.create({ segments: ADAGRAD })];
  one.put(rows);
  two.put(rows.slice(250));
  two.put(rows.toReversed());
  await saveTable(one, join(dir, 'a', 'x'), { ...quick, nshards: 3 });
  await saveTable(two, join(dir, 'b', 'x'), { ...quick, nshards: 3, bufferBytes: 4096 });
  t.same(filesIn(join(dir, 'a')), filesIn(join(dir, 'b')));
});

t.test('golden record of the serving guide', async (t) => {
  const table = await TestTable.create({ segments: [{ dim: 4, optimizer: 'sgd' }] });
  table.put([{ id: 1n, time: 0, weights: [0, 1, 2, 3], state: [] }]);
  const base = join(t.testdir({}), 'save_restore');
  await saveTable(table, base, quick);
  const wanted =
    '2500000000000000eabc36f30901000000000000001500000000150000803f150000004015000040401a040a021200200073def474';
  t.equal(readFileSync(`${base}-00000-of-00001`).toString('hex'), wanted);
});

t.test('rows that expired are left out', async (t) => {
  const segments: DumpSegment[] = [{ dim: 1, optimizer: 'sgd' }];
  const days = new Uint32Array(32768).fill(1);
  days[7] = 0;
  days[8] = 3;
  const table = await TestTable.create({ segments, expireDays: days });
  const row = (id: bigint, time: number) => ({ id, time, weights: [Number(id & 0xffn)], state: [] });
  table.put([row(1n, 9913599), row(2n, 9913601), row(3n, 10000000), row((7n << 48n) + 4n, 10000000)]);
  table.put([row((8n << 48n) + 5n, 9913599)]);
  const base = join(t.testdir({}), 'table');
  t.equal((await saveTable(table, base, quick)).rows, 3);
  const copy = await TestTable.create({ segments });
  await restoreTable(copy, base);
  t.same(
    copy.rows().map(({ id }) => id & 0xffn),
    [2n, 3n, 5n],
  );
});

t.test('an empty table, and one whose partitions are mostly empty', async (t) => {
  const base = join(t.testdir({}), 'table');
  const table = await TestTable.create({ segments: ADAGRAD });
  t.same((await saveTable(table, base, quick)).files, [`${base}-00000-of-00001`]);
  const copy = await TestTable.create({ segments: ADAGRAD });
  copy.put(sampleRows(4, ADAGRAD));
  t.equal((await restoreTable(copy, base)).rows, 0);
  t.same(copy.rows(), []);
  table.put(sampleRows(2, ADAGRAD));
  await saveTable(table, base, { ...quick, nshards: 5 });
  t.equal(readdirSync(join(base, '..')).length, 5, 'files of another number of shards are gone');
  await restoreTable(copy, base);
  t.same(copy.rows(), table.rows());
  await t.rejects(saveTable(table, base, { nshards: 0 }), { code: 'ML_CKPT_WRITE' });
});

t.test('any changed, cut or added byte is found, and the table stays as it was', async (t) => {
  const base = join(t.testdir({}), 'table');
  const saved = await TestTable.create({ segments: ADAGRAD });
  saved.put(sampleRows(9, ADAGRAD));
  const { files } = await saveTable(saved, base, { ...quick, nshards: 2 });
  const table = await TestTable.create({ segments: ADAGRAD });
  table.put(sampleRows(20, ADAGRAD, 100));
  const before = table.rows();
  const intact = readFileSync(files[1]!);
  for (let at = 0; at < intact.length; at += 3) {
    const damaged = Buffer.from(intact);
    damaged[at]! ^= 1 << (at % 8);
    writeFileSync(files[1]!, damaged);
    await t.rejects(restoreTable(table, base), { code: 'ML_CKPT_CORRUPT', fields: { file: files[1]! } });
  }
  for (const length of [1, 11, 12, 40, intact.length - 1]) {
    writeFileSync(files[1]!, intact.subarray(0, length));
    await t.rejects(restoreTable(table, base), {
      code: 'ML_CKPT_CORRUPT',
      message: /file ends after/,
      fields: { file: files[1]!, record: length > 40 ? 3 : 0 },
    });
  }
  writeFileSync(files[1]!, Buffer.concat([intact, intact.subarray(0, 20)]));
  await t.rejects(restoreTable(table, base), { code: 'ML_CKPT_CORRUPT', fields: { record: 4, field: 'payload' } });
  t.same(table.rows(), before);
  writeFileSync(files[1]!, intact);
  await restoreTable(table, base);
  t.same(table.rows(), saved.rows());
  rmSync(files[0]!);
  await t.rejects(restoreTable(table, base), { code: 'ML_CKPT_SHARDS', message: /Shard 0 doesn't show up/ });
  await t.rejects(restoreTable(table, `${base}-none`), { message: /There is no valid sharded files/ });
  await t.rejects(restoreTable(table, join(base, 'no', 'such')), { message: /There is no valid sharded files/ });
});

t.test('a row of another shape names file, record and field', async (t) => {
  const base = join(t.testdir({}), 'table');
  const saved = await TestTable.create({ segments: ADAGRAD });
  saved.put(sampleRows(5, ADAGRAD));
  const { files } = await saveTable(saved, base, quick);
  for (const [segments, field] of [
    [[{ dim: 2, optimizer: 'adagrad' }], /2|num/],
    [[{ dim: 3, optimizer: 'ftrl' }], /opt/],
    [[{ dim: 3, optimizer: 'sgd' }], /opt/],
  ] as [DumpSegment[], RegExp][]) {
    const table = await TestTable.create({ segments });
    table.put(sampleRows(3, segments));
    const before = table.rows();
    const error = { code: 'ML_CKPT_TABLE', fields: { table: 'table', file: files[0]!, record: 0, field } };
    await t.rejects(restoreTable(table, base), error);
    t.same(table.rows(), before);
  }
});

t.test('rows of other writers, without a time, and with fewer weights than the table has', async (t) => {
  const base = join(t.testdir({}), 'table');
  const saved = await TestTable.create({ segments: ADAGRAD });
  saved.put(sampleRows(700, ADAGRAD));
  const { files } = await saveTable(saved, base, quick);
  const foreign = [
    foreignRecord(5n, [1, 2, 3], [4, 5, 6], 77),
    foreignRecord(6n, [1, 2, 3], [4, 5, 6]),
    foreignRecord(7n, [9], [4, 5, 6], 78),
  ];
  writeFileSync(files[0]!, Buffer.concat([foreign[0]!, readFileSync(files[0]!), ...foreign.slice(1)]));
  for (const banks of [1, 2]) {
    const table = await TestTable.create({ segments: ADAGRAD, banks });
    t.equal((await restoreTable(table, base)).rows, 703);
    const rows = new Map(table.rows().map((row) => [row.id, row]));
    t.same(rows.get(5n), { id: 5n, time: 77, weights: [1, 2, 3], state: [4, 5, 6] });
    t.same(rows.get(6n), { id: 6n, time: 0, weights: [1, 2, 3], state: [4, 5, 6] });
    const { weights, state } = rows.get(7n)!;
    t.equal(weights[0], 9);
    t.ok(
      weights.slice(1).every((w) => w !== 0 && Math.abs(w) <= 1),
      'the rest is from the initializer',
    );
    t.same(state, [4, 5, 6]);
  }
  writeFileSync(files[0]!, foreignRecord(5n, [1, 2, 3, 4], [4, 5, 6], 77));
  await t.rejects(restoreTable(saved, base), { code: 'ML_CKPT_TABLE', fields: { record: 0 } });
});

t.test('a serving table keeps encoded weights, and leaves zeros out when it should', async (t) => {
  const base = join(t.testdir({}), 'table');
  const segments: DumpSegment[] = [{ dim: 1, optimizer: 'adagrad' }];
  const saved = await TestTable.create({ segments });
  saved.put(
    Array.from({ length: 3000 }, (_, i) => ({ id: BigInt(i), time: 5 + (i % 7), weights: [i % 2], state: [1] })),
  );
  await saveTable(saved, base, { ...quick, nshards: 2 });
  for (const skipZero of [false, true]) {
    const serving = await TestTable.create({ segments, serving: true, skipZero });
    t.equal((await restoreTable(serving, base)).rows, 3000);
    const rows = serving.rows();
    t.equal(rows.length, skipZero ? 1500 : 3000);
    t.ok(rows.every(({ id, weights, time }) => weights[0] === Number(id % 2n) && time === 5 + (Number(id) % 7)));
    await t.rejects(saveTable(serving, base), { message: /ServingEntryAccessor doesn't support Save/ });
  }
});

t.test('threads save and load the same as one', async (t) => {
  const dir = t.testdir({ a: {}, b: {} });
  const table = await TestTable.create({ segments: ADAGRAD, banks: 2 });
  table.put(sampleRows(3000, ADAGRAD));
  await saveTable(table, join(dir, 'a', 'x'), { ...quick, nshards: 4, threads: 1 });
  await saveTable(table, join(dir, 'b', 'x'), { ...quick, nshards: 4, threads: 2 });
  t.same(filesIn(join(dir, 'b')), filesIn(join(dir, 'a')));
  const copy = await TestTable.create({ segments: ADAGRAD });
  await restoreTable(copy, join(dir, 'b', 'x'), { threads: 2 });
  t.same(copy.rows(), table.rows());
  writeFileSync(join(dir, 'b', 'x-00002-of-00004'), 'damage');
  await t.rejects(restoreTable(copy, join(dir, 'b', 'x'), { threads: 2 }), { code: 'ML_CKPT_CORRUPT' });
  t.same(copy.rows(), table.rows());
});

t.test('a restore replaces a table that fills more than half of its memory', async (t) => {
  const base = join(t.testdir({}), 'table');
  const saved = await TestTable.create({ segments: ADAGRAD });
  saved.put(sampleRows(9000, ADAGRAD));
  await saveTable(saved, base, quick);
  const table = await TestTable.create({ segments: ADAGRAD, budgetBytes: 6 << 18 });
  table.put(sampleRows(9000, ADAGRAD, 9999));
  const before = table.rows();
  const file = `${base}-00000-of-00001`;
  const intact = readFileSync(file);
  // The last record is damaged: only a check of all files, before the old rows go, keeps them.
  const damaged = Buffer.from(intact);
  damaged[damaged.length - 9]! ^= 1;
  writeFileSync(file, damaged);
  await t.rejects(restoreTable(table, base), { code: 'ML_CKPT_CORRUPT', fields: { file, record: 8999 } });
  t.same(table.rows(), before);
  writeFileSync(file, intact);
  t.equal((await restoreTable(table, base)).inPlace, true, 'old and new rows do not fit together');
  t.same(table.rows(), saved.rows());
  const roomy = await TestTable.create({ segments: ADAGRAD });
  roomy.put(sampleRows(9000, ADAGRAD, 9999));
  t.equal((await restoreTable(roomy, base)).inPlace, false);
  // Nothing is left for buffers, and it can be saved all the same.
  const bank = table.memory.banks[0]!;
  for (let bytes = 1 << 19; bytes >= 64; bytes /= 2) while (bank.kernels.heapAlloc(bank.heap, bytes) !== 0);
  t.equal((await saveTable(table, `${base}2`, quick)).rows, 9000);
  t.same(readFileSync(`${base}2-00000-of-00001`), readFileSync(`${base}-00000-of-00001`));
});

t.test('a failure of any file operation leaves the earlier save', async (t) => {
  const dir = t.testdir({});
  const base = join(dir, 'table');
  const [old, next] = [await TestTable.create({ segments: ADAGRAD }), await TestTable.create({ segments: ADAGRAD })];
  old.put(sampleRows(5, ADAGRAD));
  next.put(sampleRows(6, ADAGRAD, 50));
  await saveTable(old, base, { ...quick, nshards: 2 });
  const before = filesIn(dir);
  const counter = faultyFileSystem({ at: Number.POSITIVE_INFINITY, mode: 'once' });
  await saveTable(old, base, { nshards: 2, fileSystem: counter });
  t.ok(counter.operations >= 10, `${counter.operations} operations`);
  let failed = 0;
  for (let at = 0; at < counter.operations; at++) {
    const fileSystem = faultyFileSystem({ at, mode: 'once', code: 'ENOSPC' });
    try {
      const { warnings } = await saveTable(next, base, { nshards: 2, fileSystem });
      t.equal(warnings.length, 1, 'only what comes after the new files are in place');
      await saveTable(old, base, { ...quick, nshards: 2 });
    } catch (error) {
      t.match(error, { code: 'ML_CKPT_WRITE', hint: /disk space/ });
      t.same(filesIn(dir), before, `operation ${at}`);
      failed++;
    }
    for (const name of readdirSync(dir)) if (/-tmp-\d+$/.test(name)) rmSync(join(dir, name));
  }
  t.ok(failed >= 8 && failed < counter.operations, `${failed} of them fail the save, the others only warn`);
});

t.test('what is saved is restored, whatever the ids and times', async (t) => {
  const dir = t.testdir({});
  const row = fc.record({
    id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    time: fc.integer({ min: 0, max: 2 ** 31 }),
    weights: fc.array(fc.float({ noNaN: true }), { minLength: 3, maxLength: 3 }),
    state: fc.array(fc.float({ noNaN: true }), { minLength: 3, maxLength: 3 }),
  });
  const table = await TestTable.create({ segments: ADAGRAD, banks: 2 });
  const copy = await TestTable.create({ segments: ADAGRAD });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      async (rows, nshards) => {
        table.image.clear();
        table.put(rows);
        await saveTable(table, join(dir, 'table'), { ...quick, nshards, bufferBytes: 300 });
        await restoreTable(copy, join(dir, 'table'));
        return isDeepStrictEqual(copy.rows(), table.rows());
      },
    ),
    { numRuns: 25 },
  );
});
