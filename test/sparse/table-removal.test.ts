import fc from 'fast-check';
import t from 'tap';
import { PARTITIONS } from '../../src/memory/table-layout.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { TableFixture } from './table-fixture.js';

const CONFIG = defineTable('table', [{ dim: 3, initializer: ConstantsInitializer(2), optimizer: SgdOptimizer() }]);
const DAY = 86400;

/** Few ids, so that they come and go and come again; the slot of an id is bits 48 to 62. */
const id = fc
  .record({ slot: fc.integer({ min: 0, max: 3 }), signature: fc.integer({ min: 0, max: 400 }), sign: fc.boolean() })
  .map(({ slot, signature, sign }) =>
    BigInt.asIntN(64, (BigInt(slot) << 48n) | BigInt(signature) | (sign ? 1n << 63n : 0n)),
  );
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ insert: fc.array(id, { maxLength: 300 }), day: fc.integer({ min: 0, max: 30 }) }),
  },
  { weight: 2, arbitrary: fc.record({ evictDay: fc.integer({ min: 0, max: 40 }), kept: fc.nat({ max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ clear: true }) },
);

/** Days an id of the slot lives: none at all in slot 0. */
const daysOf = (slot: number, kept: number) => slot * kept;

for (const backend of ['wasm', 'reference'] as const) {
  t.test(`rows come and go as in a plain map, ${backend}`, async () => {
    const property = fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
      const fixture = new TableFixture(backend, { heapBytes: 2 << 20 });
      const table = fixture.table(CONFIG);
      const model = new Map<bigint, number>();
      for (const step of actions) {
        if ('insert' in step) {
          fixture.upsert(table, step.insert, step.day * DAY);
          for (const one of step.insert) model.set(one, step.day * DAY);
        } else if ('evictDay' in step) {
          const days = new Map([0, 1, 2, 3].map((slot) => [slot, daysOf(slot, step.kept)]));
          const removed = fixture.evict(table, step.evictDay * DAY, days);
          const before = model.size;
          for (const [one, time] of model) {
            const slot = Number((BigInt.asUintN(64, one) >> 48n) & 0x7fffn);
            if (step.evictDay * DAY - time >= daysOf(slot, step.kept) * DAY) model.delete(one);
          }
          if (removed !== before - model.size) return false;
        } else {
          fixture.kernels.tableClear(table.address, 0, PARTITIONS);
          model.clear();
        }
      }
      const rows = [...table.rows()];
      const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
      return (
        table.size === model.size &&
        rows.length === expected.length &&
        rows.every(({ id, lastUpdateSec, weights }, i) => {
          const [wanted, time] = expected[i]!;
          return id === wanted && lastUpdateSec === time && weights.every((weight) => weight === 2);
        })
      );
    });
    fc.assert(property, { numRuns: backend === 'wasm' ? 60 : 20 });
  });
}

t.test('ids that come and go for ever need no more memory', async (t) => {
  const fixture = new TableFixture('wasm', { heapBytes: 1 << 20 });
  const table = fixture.table(CONFIG);
  for (let round = 0; round < 200; round++) {
    const ids = Array.from({ length: 1000 }, (_, i) => BigInt(round * 1000 + i));
    if (fixture.upsert(table, ids, round * DAY) < ids.length) t.fail(`round ${round} finds no room`);
    fixture.evict(table, (round + 1) * DAY, new Map([[0, 1]]));
  }
  t.equal(table.size, 0);
});
