import t from 'tap';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { HashTable, type TableOptions } from '../../src/sparse/table/hash-table.js';
import { TouchedKeySet } from '../../src/sparse/table/touched-key-set.js';

const ids = (...list: number[]) => BigInt64Array.from(list, BigInt);

async function make(options: TableOptions, { banks = 1, dim = 1, bytes = 2 << 20 } = {}) {
  const memory = await TableMemory.create({ budgetBytes: bytes * banks, bankBytes: bytes + 65536 });
  const apart = await TableMemory.create({ budgetBytes: 8 << 20 });
  const set = new TouchedKeySet({ ...apart.region(4 << 20), capacity: 100_000, concurrencyLevel: 4 });
  const segment = { dim, initializer: ZerosInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) };
  const table = HashTable.create(memory, defineTable('t', [segment]), {
    touchedKeys: { set, tableIndex: 0 },
    ...options,
  });
  return { table, touched: () => [...set.steal()].map(Number).sort((a, b) => a - b) };
}

for (const banks of [1, 2]) {
  t.test(`a gradient that is skipped touches nothing (${banks} banks)`, async (t) => {
    const { table, touched } = await make({ badGradients: 'skip' }, { banks });
    table.optimize(ids(1, 2, 3, 3), Float32Array.of(Number.NaN, 1, Number.POSITIVE_INFINITY, 1));
    t.same(touched(), [2, 3], 'an id with one good gradient is changed');
    t.same([...table.contains(ids(1, 2, 3))], [0, 1, 1]);
  });

  t.test(`a call that fails has touched what it changed (${banks} banks)`, async (t) => {
    const { table, touched } = await make({ badGradients: 'fail' }, { banks });
    const list = ids(...Array.from({ length: 40 }, (_, i) => i));
    const gradients = new Float32Array(40).fill(1);
    gradients[20] = Number.NaN;
    t.throws(() => table.optimize(list, gradients), { code: 'ML_GRADIENT' });
    const changed = [...list].filter((_, i) => table.contains(list)[i] === 1).map(Number);
    t.ok(changed.length > 0 && !changed.includes(20));
    t.same(touched(), changed);
    table.optimize(ids(7), Float32Array.of(1));
    t.same(touched(), [7], 'later calls go on as ever');
  });
}

t.test('an id that a full table passes over is not touched', async (t) => {
  const { table, touched } = await make({ whenFull: 'stop-admitting' }, { dim: 16, bytes: 1 << 20 });
  const list = ids(...Array.from({ length: 20_000 }, (_, i) => i));
  table.optimize(list, new Float32Array(20_000 * 16));
  t.ok(table.passedOver > 0);
  const first = touched();
  t.equal(first.length, table.size);
  t.ok(table.contains(ids(...first)).every((has) => has === 1));
  t.throws(() => table.reinitialize(list), { code: 'ML_MEMORY' });
  const again = touched();
  t.ok(again.length > 0 && table.contains(ids(...again)).every((has) => has === 1), 'what came before is made anew');
});
