import t from 'tap';
import { exampleOfInstance } from '../../src/feature/serving/instance-to-example.js';
import { shardingSparseFids } from '../../src/feature/serving/sharding-sparse-fids.js';
import { EXAMPLE } from '../../src/io/example-messages.js';
import { INSTANCE } from '../../src/io/instance-messages.js';
import { fidV1 } from '../../src/sparse/config/fid.js';

const bytes = INSTANCE.encode({
  fid: BigInt64Array.of(fidV1(9, 1n), fidV1(2, 2n), fidV1(9, 3n)),
  value: Float32Array.of(0.5),
  label: Float32Array.of(1, 0),
  lineId: { uid: 4n },
  feature: [
    { name: 'ids', fid: BigInt64Array.of(7n), floatValue: Float32Array.of(1) },
    { name: 'texts', bytesList: [{ value: [Uint8Array.of(1)] }] },
    { name: 'nothing' },
  ],
});

t.test(
  'an instance becomes an example: slots by first appearance, columns by their first group of values',
  async (t) => {
    const example = exampleOfInstance(INSTANCE.decode(bytes));
    t.same(
      example.namedFeature.map(({ name, id }) => [name, id]),
      [
        ['value', 0],
        ['fc_slot_9', 1],
        ['fc_slot_2', 2],
        ['ids', 3],
        ['texts', 4],
        ['nothing', 5],
      ],
    );
    t.same(
      example.namedFeature.map(({ feature }) => Object.keys(feature!)),
      [['floatList'], ['fidV1List'], ['fidV1List'], ['fidV2List'], ['bytesLists'], []],
    );
    t.same(
      [...example.namedFeature[1]!.feature!.fidV1List!.value].map((fid) => BigInt.asUintN(54, fid)),
      [1n, 3n],
    );
    t.same([...example.label], [1, 0]);
    t.equal(example.instanceWeight, 1);
    t.equal(example.lineId?.uid, 4n);
  },
);

t.test('sharding an instance and its example gives the same', async (t) => {
  const configs = {
    featureConfigs: new Map(['fc_slot_9', 'fc_slot_2', 'ids'].map((n) => [n, { table: 't', sliceDims: [2] }])),
  };
  const example = EXAMPLE.encode(exampleOfInstance(INSTANCE.decode(bytes)));
  t.same(
    shardingSparseFids([bytes], 'instance', configs, { psNum: 2 }),
    shardingSparseFids([example], 'example', configs, { psNum: 2 }),
  );
});
