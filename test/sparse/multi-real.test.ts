import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import type { HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import { DistributedMultiTypeHashTable } from '../../src/sparse/many/distributed-multi-type-hash-table.js';
import { MergedMultiTypeHashTable } from '../../src/sparse/many/merged-multi-type-hash-table.js';
import { MultiHashTable } from '../../src/sparse/many/multi-hash-table.js';
import { type BaseMultiTypeHashTable, MultiTypeHashTable } from '../../src/sparse/many/multi-type-hash-table.js';
import type { EmbeddingTable } from '../../src/sparse/table/embedding-table.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { ModelTable } from './model-table.js';
import { adagradConfig, copyOf, DIMS, idsOf, plain, SLOTS, type Updates, updates } from './multi-fixture.js';

type Make = (name: string, config: HashTableConfigInstance) => EmbeddingTable;

const configs = Object.fromEntries(SLOTS.map((slot) => [slot, adagradConfig(DIMS[slot])]));

/** Every form of it, over tables that `make` makes. */
const FORMS: Readonly<Record<string, (make: Make) => BaseMultiTypeHashTable>> = {
  multiType: (make) => MultiTypeHashTable.fromConfigs(configs, make),
  native: (make) => MultiHashTable.fromConfigs(configs, make),
  merged: (make) => new MergedMultiTypeHashTable(configs, (merged) => MultiTypeHashTable.fromConfigs(merged, make)),
  distributed: (make) =>
    new DistributedMultiTypeHashTable(
      [0, 1, 2].map((server) =>
        MultiTypeHashTable.fromConfigs(configs, (name, config) => make(`${name}/${server}`, config)),
      ),
    ),
};

/** Writes, steps and reads, and what was read. */
function play(table: BaseMultiTypeHashTable, rounds: readonly Updates[]): unknown[] {
  return rounds.map((round, step) => {
    if (step % 3 === 0) table.assign(round, { timeSec: step });
    else if (step % 3 === 1) table.assignAdd(round);
    table.applyGradients(copyOf(round), { globalStep: step, learningRates: SLOTS.map((_, i) => 0.1 + i) });
    const found = plain(table.lookup(idsOf(round)));
    const [slot] = Object.keys(round);
    return slot === undefined ? found : [found, [...table.reinitialize(slot, round[slot]!.ids.subarray(0, 1))]];
  });
}

for (const [name, form] of Object.entries(FORMS)) {
  t.test(`the ${name} form over real tables is the one over models`, async () => {
    const memory = await TableMemory.create({ budgetBytes: 16 << 20, bankBytes: 9 << 20 });
    assert.equal(memory.banks.length, 2);
    await fc.assert(
      fc.property(fc.array(updates, { minLength: 1, maxLength: 5 }), (rounds) => {
        const made: HashTable[] = [];
        const real = form((table, instance) => {
          made.push(HashTable.create(memory, { name: table, instance }));
          return made.at(-1)!;
        });
        try {
          const model = form((table, instance) => new ModelTable(table, instance));
          assert.deepEqual(play(real, rounds), play(model, rounds));
        } finally {
          for (const table of made) table.dispose();
        }
      }),
      { numRuns: 30 },
    );
  });
}

t.test('a native table has a name of its own in its memory, and so do its tables', async (t) => {
  const memory = await TableMemory.create({ budgetBytes: 16 << 20 });
  const table = MultiHashTable.create(memory, configs, { nameSuffix: 'x' });
  t.equal(table.name, 'MonolithMultiHashTable_x');
  t.equal(table.tables.get('slot0').name, 'MonolithMultiHashTable_x/slot0');
  const message = 'shared_name MonolithMultiHashTable_x has already been used.';
  t.throws(() => MultiHashTable.create(memory, configs, { nameSuffix: 'x' }), { code: 'ML_TABLE_NAME', message });
  const ids = BigInt64Array.of(1n);
  t.throws(() => table.assign({ slot0: { ids, values: new Float32Array(2) } }), {
    message: "The dim doesn't match expectation. 2 vs 1",
  });
});

t.test('a native table goes on after a restore as if it had never stopped', async (t) => {
  const dir = t.testdir();
  await fc.assert(
    fc.asyncProperty(updates, updates, async (before, after) => {
      const make = async () =>
        MultiHashTable.create(await TableMemory.create({ budgetBytes: 4 << 20 }), configs, { nameSuffix: 'x' });
      const [table, restored] = [await make(), await make()];
      table.applyGradients(copyOf(before));
      const base = `${dir}/${table.name}`;
      const { rows } = await table.save(base);
      assert.equal(
        rows,
        table.tables.tables.reduce((sum, { size }) => sum + size, 0),
      );
      await restored.restore(base);
      for (const one of [table, restored]) one.applyGradients(copyOf(after));
      const asked = { ...idsOf(before), ...idsOf(after) };
      assert.deepEqual(plain(restored.lookup(asked)), plain(table.lookup(asked)));
    }),
    { numRuns: 10 },
  );
  const models = MultiHashTable.fromConfigs(configs, (name, config) => new ModelTable(name, config));
  await t.rejects(models.save(`${dir}/models`), { code: 'ML_UNSUPPORTED' });
});
