import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { EntryDumpCodec } from '../../src/io/entry-dump.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ConstantsInitializer, ZerosInitializer } from '../../src/sparse/config/initializers.js';
import * as optimizers from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { MapTable } from './map-table.js';

const BANK_BYTES = (1 << 20) + 65536;
const memories = await Promise.all(
  [1, 3].map((banks) => TableMemory.create({ budgetBytes: banks << 20, bankBytes: BANK_BYTES })),
);
const DAY = 86400;
const EXPIRY = { slotExpireTimes: new Map([1, 2, 3].map((slot) => [slot, slot * 2])), defaultExpireTime: 9 };
const daysOf = (slot: number) => EXPIRY.slotExpireTimes.get(slot) ?? EXPIRY.defaultExpireTime;
const NOW = 12 * DAY;

const rate = new PolynomialDecay({ initialLearningRate: 0.5, decaySteps: 4, endLearningRate: 0.1 });
const { FixedR8Compressor, Fp16Compressor, OneBitCompressor } = optimizers;
const CONFIGS: readonly TableConfig[] = [
  defineTable(
    'common',
    [
      { dim: 1, initializer: ZerosInitializer(), optimizer: optimizers.FtrlOptimizer({ beta: 1 }), learningRate: 0.1 },
      { dim: 5, optimizer: optimizers.SgdOptimizer(), learningRate: rate },
      { dim: 3, optimizer: optimizers.AdagradOptimizer({ learningRate: 0.1, warmupSteps: 3 }) },
    ],
    EXPIRY,
  ),
  defineTable(
    'others',
    [
      { dim: 3, optimizer: optimizers.AdamOptimizer({ useNesterov: true }), learningRate: rate },
      { dim: 4, optimizer: optimizers.AmsgradOptimizer({ weightDecayFactor: 0.1 }) },
      { dim: 1, initializer: ConstantsInitializer(2), optimizer: optimizers.BatchSoftmaxOptimizer() },
      { dim: 2, optimizer: optimizers.AdadeltaOptimizer() },
      { dim: 5, optimizer: optimizers.MomentumOptimizer({ useNesterov: true }) },
      { dim: 2, optimizer: optimizers.MovingAverageOptimizer() },
      { dim: 3, optimizer: optimizers.RmspropOptimizer() },
      { dim: 3, optimizer: optimizers.RmspropV2Optimizer() },
      { dim: 4, optimizer: optimizers.AdaGradWithGroupLassoOptimizer({ l2Regularization: 0.01 }) },
      { dim: 2, optimizer: optimizers.FTRLWithGroupSparsityOptimizer() },
      { dim: 2, optimizer: optimizers.DynamicWdAdagradOptimizer({ enableDynamicWd: false }) },
    ],
    EXPIRY,
  ),
  defineTable(
    'quantized',
    [
      { dim: 6, optimizer: optimizers.SgdOptimizer({ learningRate: 0.2 }), compressor: FixedR8Compressor(2) },
      { dim: 2, optimizer: optimizers.AdagradOptimizer(), compressor: Fp16Compressor() },
    ],
    EXPIRY,
  ),
  defineTable(
    'serving',
    [
      { dim: 3, compressor: Fp16Compressor() },
      { dim: 2 },
      { dim: 5, compressor: FixedR8Compressor(4) },
      { dim: 2, compressor: OneBitCompressor(200, 0.25) },
    ],
    { ...EXPIRY, entryType: 'serving', skipZeroEmbedding: true },
  ),
];

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const id = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(0n, -1n, MIN, MAX) },
    {
      weight: 6,
      arbitrary: fc.record({ slot: fc.integer({ min: 0, max: 4 }), low: fc.integer({ min: 0, max: 12 }) }),
    },
  )
  .map((one) => (typeof one === 'bigint' ? one : (BigInt(one.slot) << 48n) | BigInt(one.low)));
const call = fc.record({
  kind: fc.constantFrom(
    ...(['lookup', 'contains', 'entry', 'assign', 'assignAdd', 'optimize', 'dedup', 'one', 'reinitialize'] as const),
    ...(['remove', 'evict', 'clear', 'restore'] as const),
  ),
  ids: fc.array(id, { maxLength: 40 }),
  floats: fc.array(fc.float({ min: -2, max: 2, noNaN: true }), { minLength: 1, maxLength: 9 }),
  day: fc.integer({ min: 0, max: 12 }),
  globalStep: fc.integer({ min: 0, max: 6 }),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

/** Every third row is of zeros. */
function rowsOf({ ids, floats }: Call, dim: number): Float32Array {
  return Float32Array.from({ length: ids.length * dim }, (_, i) =>
    Math.floor(i / dim) % 3 === 2 ? 0 : floats[i % floats.length]! * (1 + (i % 5)),
  );
}

/** An EntryDump without its id, read back. */
function decoded(table: HashTable, entry: Uint8Array) {
  const codec = new EntryDumpCodec(table.plan.dump);
  const row = codec.makeRow();
  codec.decode(Uint8Array.from([9, 0, 0, 0, 0, 0, 0, 0, 0, ...entry]), row);
  return { weights: row.weights, state: bits(row.state), time: row.lastUpdateSec };
}

/** State as words, since half of a step counter may be a NaN. */
const bits = (state: Float32Array) => new Uint32Array(state.buffer, state.byteOffset, state.length).slice();

function run(table: HashTable, model: MapTable, given: Call): void {
  const ids = BigInt64Array.from(given.ids);
  const values = rowsOf(given, table.dim);
  const update = { timeSec: given.day * DAY, globalStep: given.globalStep };
  const { serving } = table.plan;
  switch (given.kind) {
    case 'lookup':
      assert.deepEqual(table.lookup(ids), Float32Array.from(given.ids.flatMap((one) => [...model.show(one)])));
      break;
    case 'contains':
      assert.deepEqual(
        [...table.contains(new BigUint64Array(ids.buffer))],
        given.ids.map((one) => +model.rows.has(one)),
      );
      break;
    case 'entry':
      if (!serving) entriesAgree(table, model, ids);
      break;
    case 'assign':
      table.assign(ids, values, update);
      model.assign(ids, values, update);
      break;
    case 'assignAdd':
      table.assignAdd(ids, values, update);
      model.assign(ids, values, update, true);
      break;
    case 'optimize':
    case 'dedup': {
      if (serving) break;
      const options = { ...update, enableDedup: given.kind === 'dedup' };
      model.optimize(ids, values, options);
      table.optimize(ids, values, options);
      break;
    }
    case 'one':
      if (serving || ids.length === 0) break;
      model.optimize(ids.subarray(0, 1), values.slice(0, table.dim), update);
      table.optimizeOne(ids[0]!, values.slice(0, table.dim), update);
      break;
    case 'reinitialize':
      assert.deepEqual([...table.reinitialize(ids)], model.reinitialize(ids, NOW));
      break;
    case 'remove':
      assert.equal(table.remove(ids), model.remove(ids));
      break;
    case 'evict':
      assert.equal(table.evict(given.day * DAY), model.evict(given.day * DAY, daysOf));
      break;
    case 'clear':
      table.clear();
      model.rows.clear();
      break;
    case 'restore':
      if (serving) break;
      table.restore([...table.rows()]);
      // What is put back counts as an update, a reinitialized row does not.
      for (const { time } of model.rows.values()) model.maxUpdateSec = Math.max(model.maxUpdateSec, time);
      break;
    default:
      given.kind satisfies never;
  }
}

function entriesAgree(table: HashTable, model: MapTable, ids: BigInt64Array): void {
  table.lookupEntry(ids).forEach((entry, i) => {
    const row = model.rows.get(ids[i]!);
    if (row === undefined) assert.equal(entry.length, 0);
    else assert.deepEqual(decoded(table, entry), { ...row, state: bits(row.state) });
  });
}

for (const config of CONFIGS) {
  for (const memory of memories) {
    const { length } = memory.banks;
    t.test(`a ${config.name} table in ${length} bank${length > 1 ? 's' : ''} does what a Map does`, async () => {
      const property = fc.property(fc.array(call, { maxLength: 14 }), fc.constantFrom(0, 77), (calls, seed) => {
        const table = HashTable.create(memory, config, { seed, nowSec: () => NOW });
        try {
          const model = new MapTable(config, seed);
          for (const given of calls) {
            run(table, model, given);
            assert.equal(table.size, model.rows.size);
            assert.equal(table.maxUpdateSec, model.maxUpdateSec);
          }
          const ids = BigInt64Array.from(model.rows.keys());
          assert.deepEqual(table.lookup(ids), Float32Array.from([...ids].flatMap((one) => [...model.show(one)])));
          if (!table.plan.serving) entriesAgree(table, model, ids);
        } finally {
          table.dispose();
        }
      });
      fc.assert(property, { numRuns: 40 });
    });
  }
}
