import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TableMemory } from '../../../src/runtime/tables/table-memory.js';
import { AdagradOptimizer, Fp16Compressor, SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import { defineTable } from '../../../src/sparse/config/table-config.js';
import { restoreMultiTable } from '../../../src/sparse/files/restore-multi-table.js';
import { restoreTable } from '../../../src/sparse/files/restore-table.js';
import { saveMultiTable } from '../../../src/sparse/files/save-multi-table.js';
import { saveTable } from '../../../src/sparse/files/save-table.js';
import { HashTable } from '../../../src/sparse/table/hash-table.js';

const ids = BigInt64Array.from({ length: 2000 }, (_, i) => BigInt(i - 1000) * 77n);
const values = Float32Array.from({ length: 4000 }, (_, i) => i / 8);
const segments = [
  { dim: 1, optimizer: SgdOptimizer() },
  { dim: 1, optimizer: AdagradOptimizer({ learningRate: 0.1 }), compressor: Fp16Compressor() },
];

t.test('hash tables are saved, and restored into other memories, for training and for serving', async (t) => {
  const base = join(t.testdir({}), 'table');
  const memory = await TableMemory.create({ budgetBytes: 8 << 20, bankBytes: 4 << 20 });
  t.ok(memory.banks.length > 1);
  const table = HashTable.create(memory, defineTable('users', segments));
  table.assign(ids, values, { timeSec: 100 });
  table.optimize(ids.slice(0, 500), new Float32Array(1000).fill(0.5), { timeSec: 200 });
  t.equal((await saveTable(table, base, { nshards: 3, sync: false })).rows, 2000);

  const copy = HashTable.create(await TableMemory.create({ budgetBytes: 8 << 20 }), defineTable('users', segments));
  await restoreTable(copy, base);
  t.equal(copy.maxUpdateSec, 200);
  const plain = (one: HashTable) =>
    [...one.rows()].map((row) => ({ ...row, weights: [...row.weights], state: [...row.state] }));
  t.same(plain(copy), plain(table));
  for (const one of [copy, table]) one.optimize(ids.slice(0, 9), new Float32Array(18).fill(1), { timeSec: 300 });
  t.same(copy.lookup(ids), table.lookup(ids), 'the optimizer goes on where it was');

  const serving = HashTable.create(memory, defineTable('serving', segments, { entryType: 'serving' }));
  await restoreTable(serving, base);
  await restoreTable(copy, base);
  const want = copy.lookup(ids);
  t.ok(serving.lookup(ids).every((value, i) => Math.abs(value - want[i]!) <= Math.abs(want[i]!) / 1000));

  await saveMultiTable([{ name: 'users', table: copy }], `${base}-multi`);
  table.clear();
  const restored = await restoreMultiTable([{ name: 'users', table }], `${base}-multi`);
  t.same([...restored.featureCounts], [['users', 2000]]);
  t.same(table.lookup(ids), want);
});

t.test('what expired rows leave behind is in the order it has without them', async (t) => {
  const [day, now] = [86_400, 100 * 86_400];
  const dir = t.testdir({});
  const config = defineTable('users', segments, { defaultExpireTime: 1 });
  const tableOf = async () => HashTable.create(await TableMemory.create({ budgetBytes: 8 << 20 }), config);
  const bytesOf = async (table: HashTable, name: string, nshards: number) => {
    const { files, rows } = await saveTable(table, join(dir, name), { nshards, sync: false });
    return { rows, bytes: files.map((file) => readFileSync(file).toString('hex')) };
  };
  for (const young of [1990, 900, 300, 1]) {
    const table = await tableOf();
    table.assign(ids, values, { timeSec: now - day });
    table.assign(ids.slice(0, young), values.slice(0, 2 * young), { timeSec: now });
    const whole = await bytesOf(table, `a${young}`, 1);
    t.equal(whole.rows, young);
    const copy = await tableOf();
    await restoreTable(copy, join(dir, `a${young}`));
    t.same(await bytesOf(copy, `b${young}`, 1), whole, `${young} of 2000 rows`);
    const { rows, bytes } = await bytesOf(table, `c${young}`, 3);
    t.equal(rows, young, 'and each once in several files');
    t.equal(bytes.join('').length, whole.bytes[0]!.length);
  }
});
