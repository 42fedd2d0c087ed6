import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { orderFeatures } from '../../src/feature/serving/feature-order.js';
import { createKernelSharding } from '../../src/feature/serving/sharding-backend.js';
import {
  SHARED_FLAG,
  type ShardedFids,
  type ShardingInputType,
  type ShardingVersion,
  shardFidColumns,
  shardingSparseFids,
} from '../../src/feature/serving/sharding-sparse-fids.js';
import { EXAMPLE, EXAMPLE_BATCH } from '../../src/io/example-messages.js';
import { INSTANCE } from '../../src/io/instance-messages.js';
import { fidV1, fidV1ToV2, fidV2 } from '../../src/sparse/config/fid.js';
import { KernelHarness } from '../kernels/harness.js';
import { randomBatch } from './random-batch.js';
import { generateExampleBatch, generateFeatureConfigs, SERVING_FEATURES } from './serving-fixture.js';

const VERSIONS: readonly ShardingVersion[] = [1, 2, 3, 4, 5];
const harness = await KernelHarness.create(16 << 20);

t.test('every fid_offset leads to its id, on the server the id belongs to', async () => {
  fc.assert(
    fc.property(randomBatch, fc.constantFrom(...VERSIONS), fc.boolean(), (batch, version, unique) => {
      const { order, columns, psNum } = batch;
      const sharded = shardFidColumns(columns, order, { psNum, version, unique });
      let at = 0;
      for (const { index, tableIndex, indexInTable, dim } of order.features) {
        const { fids } = columns.columns[index]!;
        for (const fid of fids) {
          const word = sharded.fidOffset[at++]!;
          const low = Number(word & 0xffffffffn);
          const server = Number(BigInt.asUintN(64, fid) % BigInt(psNum));
          const list = tableIndex * psNum + server;
          const splits = sharded.rowSplits[list]!;
          const row = version === 2 ? splits[indexInTable]! + low : version === 1 ? low : low / dim;
          assert.equal(sharded.fidList[list]![row], fid);
          assert.ok(row >= splits[indexInTable]! && row < splits[indexInTable + 1]!);
          if (version !== 2) assert.equal(Number(word >> 32n), list);
        }
        for (let server = 0; unique && server < psNum; server++) {
          const list = tableIndex * psNum + server;
          const splits = sharded.rowSplits[list]!;
          const own = [...sharded.fidList[list]!.subarray(splits[indexInTable], splits[indexInTable + 1])];
          const seen = [...new Set(fids)].filter((fid) => Number(BigInt.asUintN(64, fid) % BigInt(psNum)) === server);
          assert.deepEqual(own, seen, 'distinct ids in first-seen order');
        }
      }
    }),
    { numRuns: 80 },
  );
});

/** All arrays of a result, wherever they lie. */
function contents(sharded: ShardedFids): unknown {
  const plain = (value: unknown): unknown => {
    if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)];
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  };
  return plain(sharded);
}

t.test('the kernels shard as the plain form does', async () => {
  fc.assert(
    fc.property(randomBatch, fc.constantFrom(...VERSIONS), fc.boolean(), (batch, version, unique) =>
      harness.scope(() => {
        const options = { psNum: batch.psNum, version, unique };
        const backend = createKernelSharding(harness.wasm, harness.memory, harness.arena, 64);
        const kernel = shardFidColumns(batch.columns, batch.order, { ...options, backend });
        assert.deepEqual(contents(kernel), contents(shardFidColumns(batch.columns, batch.order, options)));
      }),
    ),
    { numRuns: 80 },
  );
});

t.test('version 4 merges the lists server by server', async (t) => {
  const configs = {
    featureConfigs: new Map([
      ['a', { table: 'x', sliceDims: [2] }],
      ['b', { table: 'y', sliceDims: [3] }],
    ]),
  };
  const order = orderFeatures(configs);
  const column = (...fids: bigint[]) => ({
    shared: false,
    fids: BigInt64Array.from(fids),
    splits: Int32Array.of(0, fids.length),
  });
  const batch = { batchSize: 1, columns: [column(1n, 2n, 3n), column(4n, 5n)] };
  const { merged } = shardFidColumns(batch, order, { psNum: 2, version: 4 });
  t.same([...merged!.fids], [2n, 4n, 1n, 3n, 5n]);
  t.same([...merged!.tableSizes], [1, 1, 2, 1]);
  t.same([...merged!.tableEmbSizes], [2, 3, 4, 3]);
  t.same([...merged!.shardSizes], [2, 3]);
  t.same([...merged!.shardEmbSizes], [5, 7]);
});

t.test('an example batch: version 1 ids are converted, a missing feature is a shared empty one', async (t) => {
  const batch = generateExampleBatch();
  const configs = generateFeatureConfigs();
  const names = Object.keys(SERVING_FEATURES).sort();
  const whole = shardingSparseFids([EXAMPLE_BATCH.encode(batch)], 'examplebatch', configs, { psNum: 3 });
  const ids = batch.namedFeatureList.flatMap(({ feature }) =>
    feature.flatMap(({ fidV1List, fidV2List }) => [...(fidV1List?.value.map(fidV1ToV2) ?? fidV2List!.value)]),
  );
  t.same(whole.fidList.flatMap((list) => [...list]).sort(), ids.sort(), 'every id is in a list, as version 2');
  t.equal(whole.fidOffset.length, 1 + 1 + 10 + 10 + 10 + 10);
  const fewer = { ...batch, namedFeatureList: batch.namedFeatureList.filter(({ name }) => name !== 'f_page') };
  const part = shardingSparseFids([EXAMPLE_BATCH.encode(fewer)], 'examplebatch', configs, { psNum: 3 });
  const missing = part.nflOffset[names.indexOf('f_page')]!;
  t.ok(missing >= SHARED_FLAG);
  t.equal(part.featureOffset[missing - SHARED_FLAG], part.featureOffset[missing - SHARED_FLAG + 1], 'it has no id');
});

t.test('examples and instances row by row: a missing feature has an empty sample per row', async (t) => {
  const features = ['fc_slot_3', 'slot_4', 'name'];
  const configs = { featureConfigs: new Map(features.map((name) => [name, { table: 't', sliceDims: [1] }])) };
  const v2 = (slot: number, signature: bigint) => fidV2(slot, signature);
  const instance = INSTANCE.encode({
    fid: BigInt64Array.of(fidV1(4, 1n), fidV1(3, 2n), fidV1(4, 3n), fidV1(9, 9n)),
    feature: [{ name: 'name', fid: BigInt64Array.of(v2(7, 5n)) }],
  });
  const example = EXAMPLE.encode({
    namedFeature: [
      { name: 'slot_4', feature: { fidV1List: { value: BigInt64Array.of(fidV1(4, 1n), fidV1(4, 3n)) } } },
      { name: 'fc_slot_3', feature: { fidV1Lists: { list: [{ value: BigInt64Array.of(fidV1(3, 2n)) }] } } },
      { name: 'name', feature: { fidV2Lists: { list: [{ value: BigInt64Array.of(v2(7, 5n)) }] } } },
      { name: 'other', feature: { fidV2List: { value: BigInt64Array.of(1n) } } },
    ],
  });
  const empty = EXAMPLE.encode({});
  const fromInstances = shardingSparseFids([instance, INSTANCE.encode({})], 'instance', configs, { psNum: 2 });
  const fromExamples = shardingSparseFids([example, empty], 'example', configs, { psNum: 2 });
  t.same(contents(fromInstances), contents(fromExamples));
  t.same([...fromExamples.nflOffset], [0, 2, 4, 7]);
  t.same([...fromExamples.featureOffset], [0, 1, 1, 2, 2, 4, 4]);
  t.same(
    [...fromExamples.fidList[0]!, ...fromExamples.fidList[1]!].sort(),
    [v2(3, 2n), v2(4, 1n), v2(4, 3n), v2(7, 5n)].sort(),
  );
});

t.test('bad input is refused', async (t) => {
  const configs = generateFeatureConfigs();
  const batch = generateExampleBatch();
  const wrong = (type: string) => () => shardingSparseFids([], type as ShardingInputType, configs, { psNum: 1 });
  t.throws(wrong('x'), { code: 'ML_INPUT_TYPE', message: 'input_type only support example/examplebatch.' });
  t.throws(wrong('examplebatch'), { code: 'ML_SHARDING' });
  const bytes = [EXAMPLE_BATCH.encode(batch)];
  t.throws(() => shardingSparseFids(bytes, 'examplebatch', configs, { psNum: 0 }), { code: 'ML_SHARDING' });
  const short = [EXAMPLE_BATCH.encode({ ...batch, batchSize: 9 })];
  t.throws(() => shardingSparseFids(short, 'examplebatch', configs, { psNum: 1 }), {
    message: /has 10 samples, not 9/,
  });
  t.throws(() => orderFeatures({ featureConfigs: new Map([['a', { sliceDims: [1] }]]) }), { message: /no table/ });
  t.throws(() => orderFeatures({ featureConfigs: new Map([['a', { table: 't', sliceDims: [] }]]) }), {
    message: /slices of/,
  });
});
