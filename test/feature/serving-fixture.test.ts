import t from 'tap';
import { EXAMPLE_BATCH, FEATURE_CONFIGS, FEATURE_LIST_TYPE } from '../../src/io/example-messages.js';
import { slotOfFidV1, slotOfFidV2 } from '../../src/sparse/config/fid.js';
import { parityCase } from '../io/parity.js';
import {
  generateExampleBatch,
  generateFeatureConfigs,
  SERVING_BATCH_SIZE,
  SERVING_FEATURES,
  SERVING_TABLES,
} from './serving-fixture.js';

t.test('the generated batch has the lists of serving_ps_test, and every id is of its slot', async (t) => {
  interface Expected {
    feature_counts: Record<string, number>;
    ids: Record<string, number>;
  }
  const { expected } = parityCase<unknown, Expected>('idl/example', 'generated example batch structure');
  const batch = EXAMPLE_BATCH.decode(EXAMPLE_BATCH.encode(generateExampleBatch()));
  t.equal(batch.batchSize, SERVING_BATCH_SIZE);
  t.same(Object.fromEntries(batch.namedFeatureList.map(({ name, id }) => [name, id])), expected.ids);
  for (const { name, feature, type } of batch.namedFeatureList) {
    const { slot, maxSeq, version, type: typeName } = SERVING_FEATURES[name]!;
    t.equal(feature.length, expected.feature_counts[name]);
    t.equal(type, FEATURE_LIST_TYPE[typeName]);
    for (const { fidV1List, fidV2List } of feature) {
      const fids = [...(version === 'v1' ? fidV1List : fidV2List)!.value];
      t.equal(fids.length, maxSeq);
      t.ok(fids.every((fid) => (version === 'v1' ? slotOfFidV1(fid) : slotOfFidV2(fid)) === slot));
    }
  }
});

t.test('the same seed gives the same batch, another seed another', async (t) => {
  const bytes = (seed: number) => Buffer.from(EXAMPLE_BATCH.encode(generateExampleBatch(undefined, { seed })));
  t.same(bytes(3), bytes(3));
  t.not(Buffer.compare(bytes(3), bytes(4)), 0);
});

t.test('the generated configs survive the wire', async (t) => {
  const given = generateFeatureConfigs();
  const { featureConfigs, outConfigs } = FEATURE_CONFIGS.decode(FEATURE_CONFIGS.encode(given));
  t.same([...featureConfigs.keys()].sort(), Object.keys(SERVING_FEATURES).sort());
  t.same([...outConfigs.keys()], ['bias', 'iffm', 'seq', 'uffm', 'user_only', 'vec'], 'maps are written in key order');
  for (const [name, { table, sliceDims }] of featureConfigs) {
    t.equal(table, SERVING_FEATURES[name]!.table);
    t.same(sliceDims, SERVING_TABLES[table]);
  }
  t.same(outConfigs.get('bias')!.shape, [{ dims: [10, 5] }]);
  t.equal(outConfigs.get('uffm')!.shape.length, 3);
  t.match(outConfigs.get('seq')!.sliceConfigs, [{ featureName: 'f_user_id-f_page', start: 0, end: 8 }]);
  t.equal(outConfigs.get('user_only')!.outType, 1);
});
