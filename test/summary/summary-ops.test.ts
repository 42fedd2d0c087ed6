import { join } from 'node:path';
import t from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { Graph } from '../../src/graph/graph.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { getNasWeightJson } from '../../src/summary/nas-weight.js';
import { prepareHead, SummaryType } from '../../src/summary/summary-metadata.js';
import { featureInsightData, histogram, nasData, SUMMARIES, scalar } from '../../src/summary/summary-ops.js';
import { summaryValue } from '../../src/summary/summary-values.js';
import { openSession } from '../runtime/with-session.js';

const NAMES = ['f1', 'f2', 'f3'];
const SIZES = [3, 5, 9];

t.test('a head without segments is empty, and has the type it was given', async (t) => {
  t.same(prepareHead(null, null), ['', null]);
  t.same(prepareHead(null, null, { rawTag: SummaryType.MIXED, outType: 'json' }), [{}, 'mixed']);
});

t.test('a head numbers the groups that occur, in their order', async (t) => {
  const groupInfo = [['x'], ['f3', 'f1'], ['f2'], ['f1']];
  const [head] = prepareHead(NAMES, SIZES, { groupInfo, outType: 'json' });
  t.same((head as { group_index: unknown }).group_index, [2, 1, 0], 'a name in two groups is of the last');
  const [repeated] = prepareHead(['a', 'b', 'a'], [1, 1, 1], { outType: 'json' });
  t.same((repeated as { group_index: unknown }).group_index, [2, 1, 2], 'without groups the last position counts');
  t.throws(() => prepareHead(NAMES, SIZES, { groupInfo: [['f1']] }), {
    code: 'ML_OPTION',
    message: /f2 is in no group/,
  });
  t.throws(() => prepareHead(NAMES, SIZES, { outType: 'yaml' as never }), { code: 'ML_OPTION' });
});

t.test('tags of one graph do not repeat, and text beyond ASCII is escaped', async (t) => {
  const graph = new Graph();
  const weight = variable(graph, { name: 'w', shape: [2], initial: () => Float32Array.of(0.5, 0.8) });
  const tag = () => nasData(weight, { segmentNames: ['é😀'], segmentSizes: [2] }).tag;
  t.same(
    [tag(), tag(), tag()],
    ['', '_1', '_2'].map((suffix) => `gating${suffix}/monolith_nas_weight`),
  );
  const named = nasData(weight, { rawTag: 'simple', name: 'arch', collections: ['mine'] });
  t.equal(named.tag, 'arch_simple/monolith_nas_weight');
  t.same(graph.getCollection('mine'), [named]);
  const content = graph.getCollection(SUMMARIES)[0]!.metadata!.pluginData!.content;
  t.match(Buffer.from(content).toString(), '"segment_names": ["\\u00e9\\ud83d\\ude00"]');
  t.throws(() => nasData(weight), { code: 'ML_OPTION' });
});

t.test('feature insight is the product of each segment with its rows of the weight', async (t) => {
  const graph = new Graph();
  const input = placeholder(graph, { name: 'x', width: 3 });
  const label = placeholder(graph, { name: 'y', width: 1 });
  const weight = variable(graph, { name: 'w', shape: [3, 2], initial: () => Float32Array.of(1, 2, 3, 4, 5, 6) });
  const options = { segmentNames: ['a', 'b'], segmentSizes: [1, 2], weight };
  const train = featureInsightData(input, { ...options, label });
  const direct = featureInsightData(input, { ...options, name: 'top' });
  const plain = featureInsightData(input, { segmentNames: ['a', 'b'], segmentSizes: [1, 2] });
  t.equal(direct.tag, 'top_fi_direct/monolith_feature_insight');
  const headOf = (metadata: typeof direct.metadata) =>
    JSON.parse(Buffer.from(metadata!.pluginData!.content).toString());
  t.same(headOf(direct.metadata).segment_sizes, [1, 1]);
  t.same(headOf(plain.metadata), {
    tag_type: 'fi_direct',
    segment_names: ['a', 'b'],
    segment_sizes: [1, 2],
    label_size: 0,
  });
  t.throws(() => featureInsightData(input, { segmentNames: ['a'], segmentSizes: [1, 2] }), { code: 'ML_OPTION' });
  t.throws(() => featureInsightData(input, { ...options, segmentSizes: [1, 1] }), { code: 'ML_OPTION' });
  const session = await openSession(graph, {
    schema: [
      { name: 'x', kind: 'dense', width: 3 },
      { name: 'y', kind: 'dense', width: 1 },
    ],
    batchSize: 2,
    threads: 1,
  });
  try {
    const found = await session.run([train.tensor, direct.tensor, plain.tensor], {
      x: [1, 1, 1, 2, 0, 1],
      y: [1, 0],
    });
    const values = [train, direct, plain].map((summary, index) => summaryValue(summary, found[index] as never).tensor!);
    const floats = values.map(({ tensorContent }) => [...new Float32Array(tensorContent.slice().buffer)]);
    t.same(floats[0], [1, 2, 8, 10, 1, 2, 4, 5, 6, 0]);
    t.same(floats[1], [5, 164, 20, 61]);
    t.same(floats[2], [1, 1, 1, 2, 0, 1]);
    t.same(
      values.map(({ tensorShape }) => tensorShape!.dim.map(({ size }) => Number(size))),
      [
        [2, 5],
        [2, 2],
        [2, 3],
      ],
    );
  } finally {
    await session.close();
  }
});

t.test('a scalar is one number, and what is written is what the collection holds', async (t) => {
  const graph = new Graph();
  const weight = variable(graph, { name: 'w', shape: [2], initial: () => Float32Array.of(1, 2) });
  t.throws(() => scalar('w', weight), { code: 'ML_OPTION' });
  t.throws(() => histogram('w', weight, { colections: [] } as never), { code: 'ML_OPTION' });
  t.same(graph.getCollection(SUMMARIES), []);
});

t.test('weights of a search are read from a checkpoint as text', async (t) => {
  const graph = new Graph();
  variable(graph, { name: 'other', shape: [1], initial: () => Float32Array.of(3) });
  variable(graph, { name: 'nas/arch_tensor', shape: [4], initial: () => Float32Array.of(0.1, 1, -2.5e-5, 16777216) });
  const dir = t.testdir({});
  const session = await openSession(graph, { threads: 1 });
  try {
    await saveCheckpoint(dir, snapshotSession(session, 'm'));
  } finally {
    await session.close();
  }
  const expected = ['0.1', '1.0', '-2.5e-05', '16777216.0'];
  t.same(await getNasWeightJson(dir, 'arch_tensor'), expected);
  t.equal(await getNasWeightJson(dir, 'arch_tensor'), await getNasWeightJson(dir, 'arch_tensor'), 'remembered');
  await t.rejects(getNasWeightJson(dir, 'no_such'), { message: /not arch_weights in ckpt/ });
  await t.rejects(getNasWeightJson(join(dir, 'x'), 'a'), { code: 'ML_FILE_READ' });
  await t.rejects(getNasWeightJson(t.testdir({}), 'a'), { code: 'ML_CKPT_NONE' });
});
