import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { LearningRateFunction } from '../../src/base/rates/rate.js';
import { HEAP } from '../../src/memory/table-layout.js';
import {
  ConstantsInitializer,
  RandomUniformInitializer,
  ZerosInitializer,
} from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer, FtrlOptimizer, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import type { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS } from '../runtime/with-session.js';
import { initialValue, MapTable } from './map-table.js';
import { type SliceGradients, TableFixture } from './table-fixture.js';

const sgd = (learningRate: number) => SgdOptimizer({ learningRate });
const CONFIGS: readonly TableConfig[] = [
  defineTable('sgd', [{ dim: 5, optimizer: sgd(0.1) }]),
  defineTable('adagrad', [
    { dim: 4, initializer: ConstantsInitializer(0.3), optimizer: AdagradOptimizer({ weightDecayFactor: 0.01 }) },
  ]),
  defineTable('mixed', [
    {
      dim: 1,
      initializer: ZerosInitializer(),
      optimizer: FtrlOptimizer({ learningRate: 0.1, beta: 1, l1Regularization: 0.01 }),
    },
    { dim: 16, initializer: RandomUniformInitializer(-1, 2), optimizer: sgd(0.5) },
    { dim: 3, initializer: RandomUniformInitializer(-0.1, 0.1), optimizer: AdagradOptimizer({ learningRate: 0.3 }) },
    {
      dim: 2,
      initializer: ZerosInitializer(),
      optimizer: FtrlOptimizer({ l2Regularization: 0.5, initialAccumulatorValue: 1 }),
    },
  ]),
];

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const id = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(0n, -1n, 1n, MIN, MAX, MIN + 1n) },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 30n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: MIN, max: MAX }) },
);
const uniqueIds = fc.uniqueArray(id, { maxLength: 25 });
const action = fc.oneof(
  fc.record({ kind: fc.constant('upsert' as const), ids: fc.array(id, { maxLength: 30 }) }),
  fc.record({ kind: fc.constant('find' as const), ids: fc.array(id, { maxLength: 30 }) }),
  fc.record({
    kind: fc.constant('apply' as const),
    slices: fc.array(uniqueIds, { maxLength: 4 }),
    threads: fc.constantFrom(1, 3, 64),
    floats: fc.array(fc.float({ min: -4, max: 4, noNaN: true }), { minLength: 1, maxLength: 20 }),
  }),
);

function gradientsFor(
  slices: readonly (readonly bigint[])[],
  dim: number,
  floats: readonly number[],
): SliceGradients[] {
  let at = 0;
  const next = () => Math.fround(floats[at++ % floats.length]! * (1 + (at % 7) / 3));
  return slices.map((ids) => ({ ids, gradients: ids.map(() => Array.from({ length: dim }, next)) }));
}

const contents = (table: HashTable) =>
  [...table.rows()].map(({ id, lastUpdateSec, weights, state }) => [id, lastUpdateSec, [...weights], [...state]]);

/** Every row once, and each as the model has it, to the last bit. */
function holds(table: HashTable, model: MapTable): void {
  const rows = [...table.rows()];
  assert.equal(table.size, model.rows.size);
  assert.equal(rows.length, model.rows.size);
  assert.equal(new Set(rows.map((row) => row.id)).size, rows.length, 'an id came twice');
  for (const row of rows) {
    const expected = model.rows.get(row.id);
    assert.ok(expected, `${row.id} was never put in`);
    assert.deepEqual([...row.weights], [...expected.weights], `weights of ${row.id}`);
    assert.deepEqual([...row.state], [...expected.state], `state of ${row.id}`);
  }
}

for (const config of CONFIGS) {
  t.test(`a ${config.name} table does what a Map does, in WASM and in TypeScript`, async () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 12 }), fc.constantFrom(0, 1, 12345), (actions, seed) => {
        const fixtures = BACKENDS.map((backend) => new TableFixture(backend, { seed, heapBytes: 2 << 20 }));
        const tables = fixtures.map((fixture) => fixture.table(config));
        const model = new MapTable(config, seed);
        const { dim } = tables[0]!;
        for (const act of actions) {
          if (act.kind === 'upsert') {
            for (const one of act.ids) model.upsert(one);
            tables.forEach((table, i) => {
              assert.equal(fixtures[i]!.upsert(table, act.ids), act.ids.length);
            });
          } else if (act.kind === 'find') {
            const zeros = new Array<number>(dim).fill(0);
            const expected = act.ids.flatMap((one) => [...(model.rows.get(one)?.weights ?? zeros)]);
            for (const table of tables) {
              assert.deepEqual([...table.lookup(BigInt64Array.from(act.ids))], expected.map(Math.fround));
            }
          } else {
            const slices = gradientsFor(act.slices, dim, act.floats);
            const stepped = model.apply(slices);
            tables.forEach((table, i) => {
              assert.equal(fixtures[i]!.apply(table, slices, { threads: act.threads }), stepped);
            });
          }
          for (const table of tables) holds(table, model);
        }
        assert.deepEqual(contents(tables[0]!), contents(tables[1]!), 'also the order of rows is the same');
      }),
      { numRuns: 100 },
    );
  });
}

t.test('an index grows through many doublings and loses nothing', async (t) => {
  for (const [backend, count] of [
    ['wasm', 60_000],
    ['reference', 6_000],
  ] as const) {
    const fixture = new TableFixture(backend, { heapBytes: 32 << 20 });
    const table = fixture.table(CONFIGS[0]!);
    const ids = Array.from({ length: count }, (_, i) => BigInt.asIntN(64, BigInt(i) * 0x9e3779b97f4a7c15n));
    for (let begin = 0; begin < count; begin += 10_000) fixture.upsert(table, ids.slice(begin, begin + 10_000));
    fixture.upsert(table, ids.slice(0, 10_000));
    t.equal(table.size, count);
    const found = new Set([...table.rows()].map((row) => row.id));
    t.equal(found.size, count);
    t.ok(ids.every((one) => found.has(one)));
    const picked = ids.filter((_, i) => i % 997 === 0);
    const segment = table.plan.segments[0]!;
    const expected = picked.flatMap((one) => Array.from({ length: 5 }, (_, c) => initialValue(segment, 0, one, c)));
    t.same([...table.lookup(BigInt64Array.from(picked))], expected);
  }
});

t.test('absent ids read as zeros and stay absent', async (t) => {
  for (const backend of BACKENDS) {
    const table = new TableFixture(backend).table(CONFIGS[0]!);
    t.same(table.lookup(BigInt64Array.of(0n, -1n, MIN, MAX)), new Float32Array(20));
    t.equal(table.size, 0);
  }
});

t.test('a gradient of zero still creates the row', async (t) => {
  for (const backend of BACKENDS) {
    const fixture = new TableFixture(backend);
    const table = fixture.table(CONFIGS[0]!);
    t.equal(fixture.apply(table, [{ ids: [7n], gradients: [[0, 0, 0, 0, 0]] }], { updateSec: 99 }), 1);
    t.same(
      [...table.rows()].map((row) => [row.id, row.lastUpdateSec]),
      [[7n, 99]],
    );
  }
});

t.test('a full heap ends an upsert early and an update with -1, and rows stay usable', async (t) => {
  for (const backend of BACKENDS) {
    const fixture = new TableFixture(backend, { heapBytes: 65536 });
    const table = fixture.table(CONFIGS[2]!);
    const ids = Array.from({ length: 2000 }, (_, i) => BigInt(i));
    const handled = fixture.upsert(table, ids);
    t.ok(handled > 0 && handled < ids.length, `${handled} rows fit`);
    t.equal(table.size, handled);
    const gradient = new Array<number>(table.dim).fill(1);
    const slice = (list: bigint[]) => ({ ids: list, gradients: list.map(() => gradient) });
    t.equal(fixture.apply(table, [slice(ids)]), -1);
    t.ok(
      [...table.rows()].every((row) => fixture.views.u32[row.weights.byteOffset / 4 - 1] === 0),
      'no sum is left',
    );
    const before = table.lookup(BigInt64Array.of(0n));
    t.equal(fixture.apply(table, [slice([0n])]), 1, 'a known id still trains');
    t.notSame(table.lookup(BigInt64Array.of(0n)), before);
    const other = new TableFixture(backend).table(CONFIGS[2]!);
    const rows = ids.map((one) => ({
      id: one,
      lastUpdateSec: 0,
      weights: new Float32Array(22),
      state: new Float32Array(9),
    }));
    t.throws(() => table.restore(rows), { code: 'ML_MEMORY', message: /mixed/ });
    t.throws(() => other.restore([{ ...rows[0]!, weights: new Float32Array(3) }]), {
      code: 'ML_CKPT_MODEL',
      message: /row 0 has 3\+9 floats, not 22\+9/,
    });
  }
});

t.test('the heap hands retired blocks out again, cleared', async (t) => {
  const fixture = new TableFixture('wasm');
  const { kernels, views, heap } = fixture;
  const block = kernels.heapAlloc(heap, 1000) >>> 0;
  views.u8.fill(255, block, block + 1024);
  const top = views.u32[heap / 4 + HEAP.top];
  kernels.heapFree(heap, block, 1000);
  t.equal(kernels.heapAlloc(heap, 600) >>> 0, block, 'sizes are powers of two');
  t.equal(views.u32[heap / 4 + HEAP.top], top);
  t.ok(views.u8.subarray(block, block + 1024).every((byte) => byte === 0));
  t.equal(kernels.heapAlloc(heap, 2 ** 30), 0, 'too much is refused');
});

t.test('the heap hands out parts of a larger retired block before it takes new memory', async (t) => {
  const { kernels, views, heap } = new TableFixture('wasm');
  const large = kernels.heapAlloc(heap, 4096) >>> 0;
  views.u8.fill(255, large, large + 4096);
  kernels.heapFree(heap, large, 4096);
  const top = views.u32[heap / 4 + HEAP.top]!;
  const parts = [1024, 1024, 2048].map((bytes) => kernels.heapAlloc(heap, bytes) >>> 0);
  t.strictSame(parts, [large, large + 1024, large + 2048]);
  t.equal(views.u32[heap / 4 + HEAP.top], top);
  t.ok(views.u8.subarray(large, large + 4096).every((byte) => byte === 0));
  t.equal(kernels.heapAlloc(heap, 64) >>> 0, top, 'nothing of it is left');
});

t.test('rows put into another table make it equal, over what was there', async (t) => {
  const source = new TableFixture('wasm', { seed: 1 });
  const table = source.table(CONFIGS[2]!);
  const ids = Array.from({ length: 3000 }, (_, i) => BigInt(i * 7919 - 9000));
  source.apply(table, gradientsFor([ids], table.dim, [0.5, -1, 2]), { updateSec: 5 });
  const target = new TableFixture('wasm', { seed: 2 });
  const copy = target.table(CONFIGS[2]!);
  target.upsert(copy, ids.slice(0, 100));
  copy.restore(table.rows());
  const sorted = (one: HashTable) =>
    [...one.rows()].map(({ id, lastUpdateSec, weights, state }) => [id, lastUpdateSec, [...weights], [...state]]);
  t.same(sorted(copy), sorted(table));
  t.same(
    sorted(copy).map(([one]) => one),
    ids.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

t.test('a learning rate by step is what the next update uses', async (t) => {
  const fixture = new TableFixture('wasm');
  class Rising extends LearningRateFunction {
    override call(step: number): number {
      return 1 + step / 10;
    }
  }
  const segment = { dim: 1, initializer: ZerosInitializer(), optimizer: sgd(9), learningRate: new Rising() };
  const table = fixture.table(defineTable('rates', [segment]));
  const values = [0, 1].map((step) => {
    table.setGlobalStep(step);
    fixture.apply(table, [{ ids: [3n], gradients: [[2]] }]);
    return table.lookup(BigInt64Array.of(3n))[0];
  });
  t.same(values, [-2, Math.fround(-4.2)]);
});
