/**
 * @file What follows the global step goes on after a restore as if there had been none: scales of one_bit, rounding to
 * half.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import * as ml from '../../src/index.js';
import { BACKENDS, openSession, raggedOf } from '../runtime/with-session.js';

const BATCH = 16;
const BEFORE = 25;
const AFTER = 12;
const ids = BigInt64Array.from({ length: 40 }, (_, i) => BigInt(i));

const TABLES = {
  'a one_bit table': () => ({
    optimizer: ml.sparse.adagrad({ learningRate: 0.5 }),
    compressor: ml.sparse.oneBit(10, 1),
  }),
  'a table that rounds to half': () => ({
    optimizer: ml.sparse.withStochasticRounding(ml.sparse.adagrad({ learningRate: 0.05 })),
  }),
};

function build(segment: Omit<ml.SegmentOptions, 'dim'>) {
  const graph = new ml.Graph();
  const table = ml.defineTable('t', [{ dim: 4, ...segment }]);
  const x = ml.ops.embeddingLookup(ml.ops.raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), table);
  const loss = ml.ops.reduceMean(ml.ops.rowDot(x, x));
  const updates = ml.ops.applyEmbeddingGradients([[ml.ops.gradients([loss], [x])[0]!, x]]);
  return { graph, table, train: ml.ops.group(graph, [...updates, ml.ops.increment(ml.ops.globalStep(graph))]) };
}

for (const backend of BACKENDS) {
  for (const [what, segment] of Object.entries(TABLES)) {
    t.test(`${what} restored shows what it did and trains on to the same bytes, on ${backend}`, async (t) => {
      const dir = mkdtempSync(join(tmpdir(), 'monolith-follow-step-'));
      t.teardown(() => rmSync(dir, { recursive: true, force: true }));
      const options = { backend, batchSize: BATCH, threads: 2, seed: 1 };
      const open = async () => {
        const model = build(segment());
        const session = await openSession(model.graph, options);
        const steps = async (first: number, count: number) => {
          for (let step = first; step < first + count; step++) {
            const row = (i: number) => [BigInt((i * 7 + step * 13) % ids.length)] as const;
            await session.run([model.train], { ids: raggedOf(Array.from({ length: BATCH }, (_, i) => row(i))) });
          }
        };
        return { session, steps, shown: () => ml.tables.HashTable.of(session, model.table).lookup(ids) };
      };
      const saved = await open();
      await saved.steps(0, BEFORE);
      const { path } = await ml.checkpoints.saveCheckpoint(dir, ml.checkpoints.snapshotSession(saved.session, 'm'));
      const atSave = saved.shown();
      await saved.steps(BEFORE, AFTER);
      const atEnd = saved.shown();
      await saved.session.close();
      const restored = await open();
      await ml.checkpoints.restoreSession(restored.session, await ml.checkpoints.loadCheckpoint(path));
      t.same(restored.shown(), atSave, 'before the next step');
      await restored.steps(BEFORE, AFTER);
      t.same(restored.shown(), atEnd, 'after more steps');
      await restored.session.close();
    });
  }
}
