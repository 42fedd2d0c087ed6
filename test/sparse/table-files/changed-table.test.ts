import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TableMemory } from '../../../src/runtime/tables/table-memory.js';
import { SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import { defineTable } from '../../../src/sparse/config/table-config.js';
import { saveTable } from '../../../src/sparse/files/save-table.js';
import { HashTable } from '../../../src/sparse/table/hash-table.js';

t.test('a table that is changed while it is saved fails the save, and only the save', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 32 << 20 });
  const table = HashTable.create(memory, defineTable('busy', [{ dim: 4, optimizer: SgdOptimizer() }]));
  const idsFrom = (first: number) => BigInt64Array.from({ length: 20_000 }, (_, i) => BigInt(first + i));
  table.assign(idsFrom(0), new Float32Array(80_000).fill(1));
  const dir = t.testdir();
  const saving = saveTable(table, join(dir, 'busy'), { bufferBytes: 1 << 14 });
  const failed = t.rejects(saving, { code: 'ML_CKPT_WRITE', message: /changed while it was saved/ });
  await new Promise((resolve) => setImmediate(resolve));
  table.assign(idsFrom(20_000), new Float32Array(80_000).fill(2));
  await failed;
  t.strictSame(readdirSync(dir), [], 'nothing is left of it');
  t.ok(table.lookup(idsFrom(0)).every((value) => value === 1));
  t.ok(table.lookup(idsFrom(20_000)).every((value) => value === 2));
  const { rows } = await saveTable(table, join(dir, 'busy'));
  t.equal(rows, 40_000);
});
