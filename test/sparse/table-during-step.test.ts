import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };
const definition = (name: string) =>
  defineTable(name, [{ dim: 2, initializer: ConstantsInitializer(1), optimizer: SgdOptimizer({ learningRate: 1 }) }]);

/** `trained` learns from `other`, which nobody trains. */
function model(wrap: (x: Tensor) => Tensor = (x) => x) {
  const graph = new Graph();
  const [table, other] = [definition('trained'), definition('other')];
  const lookups = [table, other].map((config) =>
    embeddingLookup(raggedPlaceholder(graph, { name: config.name, valuesPerRow: 4 }), config),
  );
  const loss = reduceMean(rowDot(lookups[0]!, wrap(lookups[1]!)));
  const [grad] = gradients([loss], [lookups[0]!]) as [Tensor];
  const updates = applyEmbeddingGradients([[grad, lookups[0]!]]);
  return { graph, table, loss, updates };
}

const id = BigInt64Array.of(5n);
const feeds = { trained: raggedOf([[5n], [6n]]), other: raggedOf([[7n], [8n]]) };

for (const options of [{ threads: 2 }, { threads: 2, ...APART }]) {
  t.test(`calls of a table are refused while a step works on it (${JSON.stringify(options)})`, async (t) => {
    const { graph, table: config, updates } = model(stopGradient);
    const dir = t.testdir();
    await withSession(graph, options, async (session) => {
      await session.run([...updates], feeds);
      const table = HashTable.of(session, config);
      const elsewhere = HashTable.attach(table.handle);
      const two = Float32Array.of(1, 1);
      const calls: Record<string, () => unknown> = {
        lookup: () => table.lookup(id),
        contains: () => table.contains(id),
        entries: () => table.lookupEntry(id),
        assign: () => table.assign(id, two),
        add: () => table.assignAdd(id, two),
        optimize: () => table.optimize(id, two),
        one: () => table.optimizeOne(5n, two),
        reinitialize: () => table.reinitialize(id),
        remove: () => table.remove(id),
        evict: () => table.evict(1),
        clear: () => table.clear(),
        rows: () => table.rows(),
        restore: () => table.restore([]),
        summary: () => table.summary(),
        rate: () => table.setGlobalStep(3),
        dispose: () => table.dispose(),
        elsewhere: () => elsewhere.lookup(id),
      };
      const before = [...table.lookup(id)];
      const running = session.run([...updates], feeds);
      // The step begins when those before it have ended.
      await Promise.resolve();
      await Promise.resolve();
      for (const [name, call] of Object.entries(calls)) t.throws(call, { code: 'ML_TABLE_BUSY' }, name);
      await t.rejects(saveTable(table, join(dir, 't')), { code: 'ML_TABLE_BUSY' });
      t.same(readdirSync(dir), [], 'nothing was begun');
      await running;
      t.same([...table.lookup(id)], before, 'and work again after it');
      t.same([...elsewhere.lookup(id)], before);
    });
  });
}

t.test('a table that a training step reads and does not train is warned of once, by name', async (t) => {
  const heard: Error[] = [];
  const hear = (warning: Error) => heard.push(warning);
  process.on('warning', hear);
  t.teardown(() => process.off('warning', hear));
  const warnings = async (wrap?: (x: Tensor) => Tensor) => {
    const { graph, loss, updates } = model(wrap);
    await withSession(graph, {}, async (session) => {
      await session.run([loss], feeds);
      await session.run([...updates], feeds);
      await session.run([loss, ...updates], feeds);
    });
    return heard.splice(0).filter((warning) => 'code' in warning && warning.code === 'ML_TABLE_UNTRAINED');
  };
  t.match(await warnings(), [{ name: 'MonolithWarning', message: /table other is read .* not trained/ }]);
  t.same(await warnings(stopGradient), [], 'stopGradient says that it is meant');
});
