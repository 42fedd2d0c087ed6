import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { globalStep, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { EvictionHook } from '../../src/train/hooks/eviction.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession, raggedOf } from '../runtime/with-session.js';

const DAY = 86400;

function model(featureEvictEveryNHours?: number) {
  const graph = new Graph();
  globalStep(graph);
  const evicts = featureEvictEveryNHours === undefined ? {} : { featureEvictEveryNHours };
  const config = defineTable('t', [{ dim: 2, optimizer: SgdOptimizer() }], { defaultExpireTime: 3, ...evicts });
  const lookup = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 }), config);
  const seed = placeholder(graph, { name: 'seed', width: 2 });
  const updates = applyEmbeddingGradients([[gradients([lookup], [lookup], { gradYs: [seed] })[0]!, lookup]]);
  return { graph, config, updates };
}

t.test('tables that ask for it lose their expired rows between steps, every so many hours', async (t) => {
  const { graph, config, updates } = model(2);
  let nowSec = 1_000_000;
  const evicted: [string, number][] = [];
  const hook = new EvictionHook({ nowSec: () => nowSec, pollMs: 0, onEvicted: (...what) => evicted.push(what) });
  const monitored = await MonitoredSession.create({ graph, hooks: [hook], createSession: () => openSession(graph) });
  t.teardown(() => monitored.close());
  const table = HashTable.of(monitored.session, config);
  table.assign(BigInt64Array.of(1n, 2n), new Float32Array(4), { timeSec: DAY });
  table.assign(BigInt64Array.of(3n), new Float32Array(2), { timeSec: 5 * DAY });
  const step = () => monitored.run(updates, { ids: raggedOf([[2n, 4n]]), seed: new Float32Array(2) });
  await step();
  nowSec += 7199;
  await step();
  t.equal(table.size, 4, 'the hours have not gone by');
  nowSec += 1;
  await step();
  t.same(evicted, [['t', 1]]);
  t.same(
    [...table.rows()].map(({ id }) => id),
    [2n, 3n, 4n],
    'what was just trained is as new as the newest',
  );
  nowSec += 7199;
  await step();
  t.equal(evicted.length, 1);
});

t.test('without such tables the hook is not in the way', async (t) => {
  const { graph, updates } = model();
  const hook = new EvictionHook({ pollMs: 0, onEvicted: () => t.fail('nothing is to be evicted') });
  const monitored = await MonitoredSession.create({ graph, hooks: [hook], createSession: () => openSession(graph) });
  t.teardown(() => monitored.close());
  await monitored.run(updates, { ids: raggedOf([[2n, 4n]]), seed: new Float32Array(2) });
  t.ok((await monitored.stepsAheadMax(updates)) > 1, 'steps do not pause for it');
});
