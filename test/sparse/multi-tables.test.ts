import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import { MergedMultiTypeHashTable } from '../../src/sparse/many/merged-multi-type-hash-table.js';
import { MultiHashTable } from '../../src/sparse/many/multi-hash-table.js';
import { MultiTypeHashTable } from '../../src/sparse/many/multi-type-hash-table.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { ModelTable } from './model-table.js';
import { adagradConfig, copyOf, DIMS, idsOf, modelTable, modelTables, plain, SLOTS, updates } from './multi-fixture.js';

const sorted = [...SLOTS].sort();
const modelTablesOf = (configs: Readonly<Record<string, HashTableConfigInstance>>) =>
  MultiTypeHashTable.fromConfigs(configs, (name, config) => new ModelTable(name, config));

t.test('slots are served as their tables are one by one', async () => {
  fc.assert(
    fc.property(updates, updates, updates, (assigned, added, gradients) => {
      const several = new MultiTypeHashTable(modelTables());
      const single = modelTables();
      several.assign(assigned, { timeSec: 3 });
      several.assignAdd(added);
      several.applyGradients(copyOf(gradients), { globalStep: 2 });
      for (const slot of SLOTS) {
        if (assigned[slot]) single[slot].assign(assigned[slot].ids, assigned[slot].values, { timeSec: 3 });
        if (added[slot]) single[slot].assignAdd(added[slot].ids, added[slot].values);
        if (gradients[slot]) single[slot].optimize(gradients[slot].ids, gradients[slot].values.slice());
      }
      const asked = idsOf(gradients);
      const expected = Object.fromEntries(
        Object.entries(asked).map(([slot, ids]) => [slot, single[slot as 'slot0'].lookup(ids)]),
      );
      assert.deepEqual(plain(several.lookup(asked)), plain(expected));
    }),
  );
});

t.test('rates come in the order of the names', async (t) => {
  const table = new MultiTypeHashTable(modelTables());
  t.same(table.tables.names, sorted);
  t.equal(table.tables.sliceSize, 3);
  t.same(table.tableDimSizes, DIMS);
  const ids = BigInt64Array.of(1n);
  const step = () =>
    Object.fromEntries(SLOTS.map((slot) => [slot, { ids, values: new Float32Array(DIMS[slot]).fill(1) }]));
  table.applyGradients(step(), { learningRates: [0, 1, 0] });
  const rows = table.lookup({ other: ids, slot0: ids, slot1: ids });
  t.equal(rows.other![0], 0.5);
  t.not(rows.slot0![0], 0.5);
  t.equal(rows.slot1![0], 0.5);
  t.throws(() => table.applyGradients(step(), { learningRates: [0, 1] }), { code: 'ML_MULTI_SHORT' });
});

t.test('a slot without a table is refused before anything is done', async (t) => {
  const table = new MultiTypeHashTable(modelTables());
  const update = { ids: BigInt64Array.of(1n), values: Float32Array.of(1) };
  t.throws(() => table.assign({ slot0: update, zzz: update }), { code: 'ML_TABLE_UNKNOWN', fields: { table: 'zzz' } });
  t.equal(table.tables.get('slot0').size, 0);
  t.throws(() => table.reinitialize('zzz', update.ids), { code: 'ML_TABLE_UNKNOWN' });
});

t.test('the raw forms of the native table do what the forms by slot do', async () => {
  fc.assert(
    fc.property(updates, updates, (added, gradients) => {
      const [raw, bySlot] = [new MultiHashTable(modelTables()), new MultiHashTable(modelTables())];
      const flat = (given: typeof added) =>
        Float32Array.from(sorted.flatMap((slot) => [...(given[slot]?.values ?? [])]));
      raw.rawAssignAdd(raw.getRaggedId(idsOf(added)), flat(added));
      raw.rawApplyGradients(raw.getRaggedId(idsOf(gradients)), flat(gradients));
      bySlot.assignAdd(added);
      bySlot.applyGradients(copyOf(gradients));
      const asked = raw.getRaggedId(idsOf(added));
      const found = raw.getEmbeddings(asked, raw.rawLookup(asked));
      const expected = bySlot.lookup(
        Object.fromEntries(SLOTS.map((slot) => [slot, added[slot]?.ids ?? new BigInt64Array(0)])),
      );
      assert.deepEqual(plain(found), plain(expected));
      const entries = raw.rawLookupEntry(asked);
      assert.equal(
        entries.length,
        Object.values(added).reduce((sum, { ids }) => sum + ids.length, 0),
      );
    }),
  );
});

t.test('several requests are answered one after the other, each with its own ids', async () => {
  fc.assert(
    fc.property(updates, fc.array(updates, { minLength: 1, maxLength: 3 }), (assigned, requests) => {
      const table = new MultiHashTable(modelTables());
      table.assign(assigned);
      const rows = requests.flatMap((request) => sorted.map((slot) => [...(request[slot]?.ids ?? [])]));
      const expected = requests.flatMap((request) => {
        const ids = Object.fromEntries(sorted.map((slot) => [slot, request[slot]?.ids ?? new BigInt64Array(0)]));
        return Object.values(table.lookup(ids)).flatMap((values) => [...values]);
      });
      assert.deepEqual([...table.rawLookup(RaggedTensor.fromRows('int64', rows))], expected);
    }),
  );
});

t.test('the native table says what does not fit in the words of the reference', async (t) => {
  const table = new MultiHashTable(modelTables());
  const ragged = (rows: number[][]) => RaggedTensor.fromRows('int64', rows);
  t.throws(() => table.rawLookup(ragged([[1], [2]])), { message: 'table size: 3. Error id_split size: 3' });
  t.throws(() => table.rawLookup(ragged([])), { message: 'table size: 3. Error id_split size: 1' });
  const message = "The length of tensor `id` doesn't equal to table num. 2v.s.3";
  const six = new Float32Array(6);
  t.throws(() => table.rawAssign(ragged([[1], [2]]), six), { message });
  t.throws(() => table.rawAssignAdd(ragged([[1], [2]]), six), { message });
  t.throws(() => table.rawApplyGradients(ragged([[1], [2]]), six), { message });
  const short = 'The length of tensor `value` is too short. Currently value6';
  t.throws(() => table.rawAssign(ragged([[1], [2], [3]]), six), { message: short });
  t.throws(() => table.rawApplyGradients(ragged([[1], [2], [3]]), six, { learningRates: [1] }), { message: short });
  const rates = 'The length of tensor `learning_rate` is too short. Currently value1';
  const seven = new Float32Array(7);
  t.throws(() => table.rawApplyGradients(ragged([[1], [2], [3]]), seven, { learningRates: [1] }), { message: rates });
  t.throws(() => table.rawLookup(RaggedTensor.fromRows('int32', [[1], [2], [3]])), { code: 'ML_RAGGED_INVALID' });
  t.equal(table.tables.get('slot0').size, 0, 'nothing was written');
  t.same([...table.reinitialize('none', BigInt64Array.of(1n, 2n))], [-1, -1]);
  t.same([...table.reinitialize('slot0', BigInt64Array.of(1n, 1n))], [0, 1]);
});

t.test('merged slots are one table that has the ids of all of them in the order of their names', async () => {
  fc.assert(
    fc.property(updates, updates, (added, gradients) => {
      // Slots of one dimension have equal configs here, so that slot1 and other share a table.
      const configs = Object.fromEntries(SLOTS.map((slot) => [slot, adagradConfig(DIMS[slot])]));
      const merged = new MergedMultiTypeHashTable(configs, modelTablesOf);
      assert.deepEqual(
        merged.merged.map(({ slots }) => slots),
        [['other', 'slot1'], ['slot0']],
      );
      const wide = modelTable('wide', 3);
      const narrow = modelTable('narrow', 1);
      merged.assignAdd(added);
      merged.applyGradients(copyOf(gradients));
      for (const [slot, table] of [
        ['other', wide],
        ['slot1', wide],
        ['slot0', narrow],
      ] as const) {
        if (added[slot]) table.assignAdd(added[slot].ids, added[slot].values);
      }
      for (const [slot, table] of [
        ['other', wide],
        ['slot1', wide],
        ['slot0', narrow],
      ] as const) {
        if (gradients[slot]) table.optimize(gradients[slot].ids, gradients[slot].values.slice());
      }
      const found = merged.lookup(idsOf(gradients));
      for (const [slot, { ids }] of Object.entries(gradients)) {
        assert.deepEqual([...found[slot]!], [...(slot === 'slot0' ? narrow : wide).lookup(ids)], slot);
      }
    }),
  );
});

t.test('a merged table refuses rows that would slip into another slot', async (t) => {
  const merged = new MergedMultiTypeHashTable({ a: adagradConfig(1), b: adagradConfig(1) }, modelTablesOf);
  t.same(merged.tableDimSizes, { a: 1, b: 1 });
  const ids = BigInt64Array.of(1n);
  const long = { a: { ids, values: Float32Array.of() }, b: { ids, values: Float32Array.of(1, 2) } };
  t.throws(() => merged.assign(long), { code: 'ML_TABLE_DIM' });
  t.throws(() => merged.lookup({ c: ids }), { code: 'ML_TABLE_UNKNOWN' });
  t.same([...merged.reinitialize('b', ids)], [0]);
  t.same([...merged.reinitialize('a', ids)], [1], 'it is the same row');
});
