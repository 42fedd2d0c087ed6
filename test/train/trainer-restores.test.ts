/** @file Trainings that begin with less, or other names, than a checkpoint has; counts and evictions with saves. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { add } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { LocalTrainer, type LocalTrainOptions } from '../../src/train/local-train.js';
import { raggedOf } from '../runtime/with-session.js';

const DAY = 86_400;

/** A table that is trained and a variable, `name`, that is not. */
function modelOf(name: string) {
  const graph = new Graph();
  const optimizer = SgdOptimizer({ learningRate: 1 });
  const config = defineTable('rows', [{ dim: 1, initializer: ZerosInitializer(), optimizer }], {
    defaultExpireTime: 1,
  });
  const rows = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), config);
  const bias = variable(graph, { name, shape: [1, 1], initial: () => Float32Array.of(0.5) });
  const pred = add(rows, bias);
  const loss = reduceMean(pred);
  const [grad] = gradients([loss], [rows]);
  const trainOp = group(graph, [increment(globalStep(graph)), ...applyEmbeddingGradients([[grad!, rows]])]);
  return { config, model: { name: 'm', graph, label: pred, pred, loss, trainOp } };
}

/** Trains one step from `modelDir`; what it began with. */
async function begin(modelDir: string, name: string, options: Partial<LocalTrainOptions> = {}, bias?: number) {
  const { config, model } = modelOf(name);
  const trainer = await LocalTrainer.create({
    model,
    modelDir,
    steps: 1,
    session: { schema: [{ name: 'ids', kind: 'ragged' }], batchSize: 1, threads: 1, memoryBytes: 2 ** 25 },
    ...options,
  });
  try {
    const table = HashTable.of(trainer.session, config);
    const began = {
      step: trainer.session.globalStep,
      bias: trainer.session.readVariable(name)[0],
      rows: table.size,
    };
    if (bias !== undefined) trainer.session.writeVariable(name, Float32Array.of(bias));
    const [batch] = loadBatches(trainer.session, [{ rows: 1, feeds: [{ kind: 'ragged', ...raggedOf([[7n]]) }] }]);
    await trainer.train({ next: () => batch! });
    return { ...began, after: () => table.size, trainer };
  } finally {
    await trainer.close();
  }
}

t.test('clearNN begins all variables anew, once, and keeps the rows', async (t) => {
  const dir = t.testdir();
  await begin(dir, 'w', {}, 3);
  t.match(await begin(dir, 'other', { restore: { clearNN: true, continueTraining: true } }), {
    step: 1,
    bias: 0.5,
    rows: 1,
  });
  t.equal(readFileSync(join(dir, 'clear_nn'), 'utf8'), 'clean nn done!');
  await begin(dir, 'other', {}, 4);
  t.match(await begin(dir, 'other', { restore: { clearNN: true } }), { step: 3, bias: 4 }, 'it was done before');
  const again = join(t.testdirName, 'again');
  await begin(again, 'w', {}, 3);
  t.match(await begin(again, 'w', { restore: { clearNN: true } }), { step: 0, bias: 0.5, rows: 1 });
});

t.test('aliasMap restores variables that had other names', async (t) => {
  const dir = t.testdir();
  await begin(dir, 'tower/dense_4/w', {}, 3);
  await t.rejects(begin(dir, 'x'), { code: 'ML_CKPT_MODEL' });
  t.notOk(existsSync(join(dir, 'clear_nn')));
  t.match(await begin(dir, 'x', { restore: { aliasMap: { x: 'tower/dense_4/w' } } }, 6), { step: 1, bias: 3 });
  t.match(await begin(dir, 'x', { restore: { aliasMap: { x: 'tower/dense_4/w' } } }, 7), { step: 2, bias: 6 });
  const auto = join(t.testdirName, 'auto');
  await begin(auto, 'tower/dense_4/w', {}, 3);
  t.match(await begin(auto, 'tower/dense/w', { restore: { aliasMap: true } }), { step: 1, bias: 3 });
  await t.rejects(begin(auto, 'x', { restore: { clearNN: true, aliasMap: true } }), { code: 'ML_OPTION' });
});

t.test('ckptInfo counts rows with every save, evictOnSave takes expired ones out', async (t) => {
  const dir = t.testdir();
  const { config, model } = modelOf('w');
  const trainer = await LocalTrainer.create({
    model,
    modelDir: dir,
    steps: 2,
    saveEverySteps: 1,
    ckptInfo: true,
    evictOnSave: true,
    session: { schema: [{ name: 'ids', kind: 'ragged' }], batchSize: 1, threads: 1, memoryBytes: 2 ** 25 },
  });
  const table = HashTable.of(trainer.session, config);
  const [old, fresh] = [(3n << 48n) + 1n, (3n << 48n) + 2n];
  table.assign(BigInt64Array.of(old), Float32Array.of(1), { timeSec: 10 * DAY });
  table.assign(BigInt64Array.of(fresh), Float32Array.of(2), { timeSec: 12 * DAY });
  const [batch] = loadBatches(trainer.session, [{ rows: 1, feeds: [{ kind: 'ragged', ...raggedOf([[fresh]]) }] }]);
  await trainer.train({ next: () => batch! });
  t.same(
    [...table.rows()].map(({ id }) => id),
    [fresh],
  );
  await trainer.close();
  const counts = (step: number) => readFileSync(join(dir, `ckpt.info-${step}`), 'utf8');
  t.equal(counts(1), 'slot_counts {\n  key: 3\n  value: 2\n}\n');
  t.equal(counts(2), 'slot_counts {\n  key: 3\n  value: 1\n}\n');
});
