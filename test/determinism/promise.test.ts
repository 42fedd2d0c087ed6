import { join } from 'node:path';
import t from 'tap';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { generateTestHashTableConfig } from '../../src/sparse/config/table-config.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { shrink } from './check.js';
import { buildModel } from './model.js';
import type { Recipe } from './recipe.js';
import { difference, train, type Way } from './train.js';

/** What docs/determinism.md says is not equal; what it says is equal is in determinism.test.ts. */
const RECIPE: Recipe = { seed: 3, features: ['batch-norm', 'dropout', 'row:adagrad', 'dense:adam'] };
const FIXED: Way = { threads: 1, deterministic: true };

const differ = async (one: Way, other: Way) => difference(await train(RECIPE, one), await train(RECIPE, other));

t.test('without `deterministic` another number of threads gives other bytes', async (t) => {
  t.type(await differ({ threads: 1 }, { threads: 2 }), 'string');
  t.equal(await differ({ threads: 2 }, { threads: 2 }), undefined);
});

t.test('another seed gives other bytes, room for larger batches does not', async (t) => {
  t.type(await differ(FIXED, { ...FIXED, seed: 4 }), 'string');
  t.equal(await differ(FIXED, { ...FIXED, batchRoom: 40 }), undefined);
});

t.test('the backends agree closely', async (t) => {
  const wasm = await train(RECIPE, FIXED);
  const plain = await train(RECIPE, { ...FIXED, backend: 'reference' });
  for (const [i, loss] of wasm.losses.entries()) t.ok(Math.abs(loss - plain.losses[i]!) < 1e-5 * Math.abs(loss));
});

t.test('the reference backend gives the same bytes for any number of threads too', async (t) => {
  const plain: Way = { ...FIXED, backend: 'reference' };
  t.equal(await differ(plain, { ...plain, threads: 3 }), undefined);
});

t.test('a table that is saved without rows forgets the newest time it has seen', async (t) => {
  const instance = generateTestHashTableConfig(2, { defaultExpireTime: 1 });
  const memory = await TableMemory.create({ budgetBytes: 4 << 20 });
  const [table, restored] = ['one', 'other'].map((name) => HashTable.create(memory, { name, instance })) as [
    HashTable,
    HashTable,
  ];
  table.assign(BigInt64Array.of(1n), Float32Array.of(1, 2), { timeSec: 1000 });
  table.evict(1000 + 86_400);
  t.equal(table.maxUpdateSec, 1000);
  const base = join(t.testdir(), 'table');
  await saveTable(table, base);
  await restoreTable(restored, base);
  t.equal(restored.maxUpdateSec, 0);
});

t.test('a save leaves out expired rows, so a run that goes on from it begins without them', async (t) => {
  const recipe: Recipe = { seed: 29, features: ['dropout', 'expiry', 'row:sgd'] };
  const { evictAt } = buildModel(recipe);
  t.ok(evictAt! > 1, 'the rows are there for some steps');
  const one = await train(recipe, FIXED);
  const resumed: Way = { ...FIXED, resumeAt: 1 };
  const what = difference(one, await train(recipe, resumed));
  t.type(what, 'string');
  t.equal(difference(one, await train(recipe, { ...FIXED, resumeAt: evictAt! })), undefined, 'when none are expired');
  // The search for the guilty feature, on the one difference that is meant.
  t.same(await shrink(recipe, { name: 'resume', what: what!, one: FIXED, other: resumed }), ['expiry']);
});
