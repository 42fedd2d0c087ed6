import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { PartitionedHashTable } from '../../src/feature/serving/partitioned-hash-table.js';
import { EXAMPLE, OUT_TYPE, POOLING_TYPE } from '../../src/io/example-messages.js';
import { MultiTypeHashTable } from '../../src/sparse/many/multi-type-hash-table.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { modelTable } from '../sparse/multi-fixture.js';
import { wholeTensor } from '../tensor/ops/arbitraries.js';
import { randomBatch } from './random-batch.js';

const DIM = 8;

/** A server with a part of each table, rows of all small ids that are its own. */
function serverOf(names: readonly string[], server: number, servers: number): MultiTypeHashTable {
  const table = new MultiTypeHashTable(Object.fromEntries(names.map((name) => [name, modelTable(name, DIM)])));
  for (let id = -6n; id < 5n; id++) {
    if (BigInt.asUintN(64, id) % BigInt(servers) !== BigInt(server)) continue;
    const values = Float32Array.from({ length: DIM }, (_, c) => Number(id) + c / 8);
    for (const name of names) table.assign({ [name]: { ids: BigInt64Array.of(id), values } });
  }
  return table;
}

const layoutsOf = (layouts: Readonly<Record<string, readonly Tensor<'float32'>[]>>) =>
  Object.entries(layouts).map(([name, list]) => [name, list.map((one) => one.toArray())]);

t.test('many servers give the layouts of one, before and after a step', async () => {
  fc.assert(
    fc.property(randomBatch, fc.boolean(), (batch, unique) => {
      const names = batch.order.tables.map(({ name }) => name);
      const partitioned = [1, batch.psNum].map((servers) => {
        const parts = Array.from({ length: servers }, (_, server) => serverOf(names, server, servers));
        return new PartitionedHashTable(batch.configs, parts);
      });
      const [one, many] = partitioned.map((table) => {
        const sharded = table.shardColumns(batch.columns, { unique });
        const before = table.lookup(sharded);
        const grads = Object.fromEntries(
          Object.entries(before.layouts).map(([name, list]) => [
            name,
            list.map(({ shape }, i) => wholeTensor(shape, i)),
          ]),
        );
        table.applyGradients(before, grads, { learningRates: names.map(() => 0.25), globalStep: 1 });
        return [layoutsOf(before.layouts), layoutsOf(table.lookup(sharded).layouts)];
      });
      assert.deepEqual(many, one);
    }),
    { numRuns: 50 },
  );
});

const feature = (table: string) => ({ table, sliceDims: [1, 2], poolingType: POOLING_TYPE.SUM });
const configs = {
  featureConfigs: new Map([
    ['a', feature('t')],
    ['b', feature('t')],
  ]),
  outConfigs: new Map([
    [
      'bias',
      { outType: OUT_TYPE.ADDN, sliceConfigs: ['a', 'b'].map((featureName) => ({ featureName, start: 0, end: 1 })) },
    ],
    [
      'vec',
      { outType: OUT_TYPE.NONE, sliceConfigs: ['a', 'b'].map((featureName) => ({ featureName, start: 1, end: 3 })) },
    ],
  ]),
};

t.test('examples go in, layouts come out, and their gradients reach the rows', async (t) => {
  const servers = [0, 1].map(() => new MultiTypeHashTable({ t: modelTable('t', 3) }));
  const table = new PartitionedHashTable(configs, servers);
  const example = (a: bigint[], b: bigint[]) =>
    EXAMPLE.encode({
      namedFeature: [
        { name: 'a', feature: { fidV2List: { value: BigInt64Array.from(a) } } },
        { name: 'b', feature: { fidV2List: { value: BigInt64Array.from(b) } } },
      ],
    });
  const sharded = table.shard([example([1n, 2n], [4n]), example([3n], [])], 'example');
  const before = table.lookup(sharded);
  t.same(before.layouts.bias![0]!.toArray(), [[0], [0]], 'nothing is there yet');
  const grads = {
    bias: [Tensor.of('float32', [[1], [0]])],
    vec: [
      Tensor.of('float32', [
        [0, 0],
        [0, 0],
      ]),
      Tensor.of('float32', [
        [0, 2],
        [0, 0],
      ]),
    ],
  };
  table.applyGradients(before, grads);
  const row = (id: bigint) => [...servers[Number(id % 2n)]!.lookup({ t: BigInt64Array.of(id) }).t!];
  t.equal(row(1n)[0], row(2n)[0], 'both ids of the sum have its gradient');
  t.ok(row(1n)[0]! < 0.5);
  t.same(row(3n), [0.5, 0.5, 0.5], 'a gradient of zeros makes the row and leaves it');
  t.ok(row(4n)[2]! < 0.5);
  t.throws(() => table.applyGradients(before, { bias: grads.bias }), { code: 'ML_LAYOUT' });
});

t.test('a feature must be as wide as its table', async (t) => {
  const narrow = new MultiTypeHashTable({ t: modelTable('t', 2) });
  t.throws(() => new PartitionedHashTable(configs, [narrow]), { code: 'ML_SHARDING' });
  t.throws(() => new PartitionedHashTable(configs, [new MultiTypeHashTable({})]), { code: 'ML_TABLE_UNKNOWN' });
});
