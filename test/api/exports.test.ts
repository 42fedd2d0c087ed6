/** @file Exported values that other tests reach otherwise: through a name in text, or a function above them. */
import t from 'tap';
import * as compat from '../../src/compat/index.js';
import * as ml from '../../src/index.js';

t.test('metrics by class give what those by name do', async (t) => {
  const { metrics } = ml;
  const pairs: [metrics: ml.metrics.Metric, name: ml.metrics.MetricName][] = [
    [new metrics.Calibration(), 'calibration'],
    [new metrics.LogLoss(), 'logLoss'],
    [new metrics.MeanAbsoluteError(), 'mae'],
    [new metrics.RootMeanSquaredError(), 'rmse'],
    [new metrics.NdcgAtK(2), 'ndcg@2'],
    [new metrics.RecallAtK(2), 'recall@2'],
  ];
  const [labels, predictions, groups] = [
    [1, 0, 1, 0, 0],
    [0.9, 0.2, 0.4, 0.7, 0.1],
    [1, 1, 2, 2, 2],
  ];
  for (const [metric, name] of pairs) {
    const named = metrics.createMetric(name);
    for (const one of [metric, named]) one.update(labels, predictions, undefined, groups);
    t.type(metric.result(), 'number', name);
    t.equal(metric.result(), named.result(), name);
  }
});

t.test('a whole value is added to a sum over the batch once, in whatever slices', async (t) => {
  const graph = new ml.Graph();
  const x = ml.ops.placeholder(graph, { name: 'x' });
  const w = ml.ops.variable(graph, { name: 'w', shape: [1], initial: () => new Float32Array([100]) });
  const sum = ml.ops.add(ml.ops.reduceSum(x), ml.ops.asPartial(ml.ops.reduceSum(w)));
  t.same(graph.getCollection(ml.graphs.LOCAL_VARIABLES), []);
  for (const threads of [1, 3]) {
    const schema = [{ name: 'x', kind: 'dense' as const, width: 1 }];
    const session = await ml.Session.create(graph, { schema, batchSize: 6, threads });
    t.equal(await session.run(sum, { x: [1, 2, 3, 4, 5, 6] }), 121, `${threads} threads`);
    await session.close();
  }
});

t.test('a source fills a queue to its end', async (t) => {
  const queue = new ml.queues.PrefetchQueue<number>({ capacity: 3 });
  await ml.queues.enqueueAll(queue, [1, 2, 3]);
  t.same([await queue.dequeue(), await queue.dequeue(), await queue.dequeue()], [1, 2, 3]);
  await t.rejects(queue.dequeue(), { code: 'ML_OUT_OF_RANGE' });
  queue.destroy();
});

t.test('what stands for a clock, chance and a counter of nobody', async (t) => {
  const drawn = Array.from({ length: 200 }, () => ml.hooks.systemRandom.nextInt(2, 4));
  t.same([...new Set(drawn)].sort(), [2, 3, 4]);
  const { emitCounter, emitStore, emitTimer, flush } = ml.hooks.noMetrics;
  for (const emit of [emitCounter, emitStore, emitTimer]) t.equal(emit('steps', 1), undefined);
  t.equal(flush(), undefined);
  t.same(ml.checkpoints.RESTORE_MODES, ['exact', 'subset', 'warm-start', 'foreign']);
});

t.test('words of the reference', async (t) => {
  const { KDATA, KMETA, KTYPE, MONOLITH_FI_DATA, MONOLITH_NAS_DATA, PLUGIN_NAME, SAVE_ACTION, STOP_ACTION } = compat;
  t.same([KTYPE, KMETA, KDATA, PLUGIN_NAME], ['tag_type', 'meta', 'data', 'monolith']);
  t.same([SAVE_ACTION, STOP_ACTION], ['Save', 'Stop']);
  t.same([MONOLITH_NAS_DATA, MONOLITH_FI_DATA], ['monolith_nas_weight', 'monolith_feature_insight']);
  t.same(Object.keys(compat.ServiceDiscoveryType), ['PRIMUS', 'CONSUL', 'ZK', 'MLP']);
  let printed = '';
  await compat.printStackTrace('SIGUSR2', { sampleMs: 1, write: (text) => (printed += text) });
  t.match(printed, /SIGUSR2/);
});
