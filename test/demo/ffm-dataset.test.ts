import t from 'tap';
import { writeBatches } from '../../src/data/resident-batches.js';
import { ClickTeacher } from '../../src/demo/click-teacher.js';
import {
  datasetBytesMax,
  datasetSize,
  type FfmDatasetOptions,
  ffmBatches,
  heldOutOf,
} from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { Arena } from '../../src/memory/arena.js';
import { type BatchData, readBatch } from '../../src/memory/batch.js';
import { Views } from '../../src/memory/views.js';
import { auc } from '../../src/metrics/auc.js';

const REFERENCE: FfmDatasetOptions = { kind: 'reference', vocab: 5, batchSize: 64, seed: 0 };
const CLICKS: FfmDatasetOptions = { kind: 'clicks', vocab: 50, batchSize: 64, seed: 3, examples: 4000 };

/** Label and ids per slot of each row. */
function rowsOf(batches: Iterable<BatchData>): { label: number; ids: bigint[][] }[] {
  return [...batches].flatMap(({ rows, feeds }) => {
    const [label, ...slots] = feeds;
    return Array.from({ length: rows }, (_, row) => ({
      label: label!.kind === 'dense' ? label!.values[row]! : Number.NaN,
      ids: slots.map((slot) =>
        slot.kind === 'ragged' ? [...slot.values.subarray(slot.splits[row]!, slot.splits[row + 1]!)] : [],
      ),
    }));
  });
}

t.test('the reference set is one batch of 64 that begins with the known example, labels all 0', async (t) => {
  const rows = rowsOf(ffmBatches(REFERENCE));
  t.equal(rows.length, 64);
  t.same(rows[0]!.ids[1], [7n, 9n, 5n, 5n]);
  t.ok(rows.every(({ label }) => label === 0));
});

t.test('the reference set drops its remainder and grows only to fill one batch', async (t) => {
  const sizeOf = (batchSize: number): unknown => datasetSize({ ...REFERENCE, batchSize });
  t.same(sizeOf(48), { batchCount: 1, exampleCount: 48 });
  t.same(sizeOf(16), { batchCount: 4, exampleCount: 64 });
  t.same(sizeOf(256), { batchCount: 1, exampleCount: 256 });
  t.throws(() => datasetSize({ ...REFERENCE, examples: 63 }), { code: 'ML_DATASET' });
  t.throws(() => datasetSize({ ...REFERENCE, vocab: 0 }), { code: 'ML_DATASET' });
  t.throws(() => datasetSize({ ...REFERENCE, batchSize: 1.5 }), { code: 'ML_DATASET' });
});

t.test('the clicks set has the ids of the reference, whole batches and its own default sizes', async (t) => {
  const clicks = rowsOf(ffmBatches({ ...REFERENCE, kind: 'clicks', batchSize: 48, examples: 64 }));
  t.equal(clicks.length, 96);
  const reference = rowsOf(ffmBatches(REFERENCE));
  t.same(
    clicks.slice(0, 64).map(({ ids }) => ids),
    reference.map(({ ids }) => ids),
  );
  t.same(datasetSize({ ...REFERENCE, kind: 'clicks', batchSize: 1000 }), { batchCount: 17, exampleCount: 17000 });
  t.equal(datasetSize(heldOutOf({ ...REFERENCE, kind: 'clicks' })).exampleCount, 8192);
});

t.test('the same options give the same set, another seed another one', async (t) => {
  const small = { ...CLICKS, examples: 128 };
  t.same(rowsOf(ffmBatches(small)), rowsOf(ffmBatches(small)));
  t.not(labelsOf(small), labelsOf({ ...small, seed: 4 }));
});

function labelsOf(options: FfmDatasetOptions): string {
  return rowsOf(ffmBatches(options))
    .map(({ label }) => label)
    .join('');
}

t.test('the held-out set has other examples of the same teacher', async (t) => {
  t.equal(heldOutOf(REFERENCE), REFERENCE, 'the reference evaluates on its training input');
  const train = rowsOf(ffmBatches(CLICKS));
  const heldOut = rowsOf(ffmBatches(heldOutOf(CLICKS, 4000)));
  t.notSame(heldOut[0]!.ids, train[0]!.ids);
  const teacher = new ClickTeacher(CLICKS.seed, new Array(6).fill(CLICKS.vocab));
  for (const rows of [train, heldOut]) {
    const labels = rows.map(({ label }) => label);
    const best = auc(
      labels,
      rows.map(({ ids }) => teacher.logit(ids)),
    )!;
    const share = labels.reduce((sum, label) => sum + label, 0) / labels.length;
    t.ok(best > 0.8 && best < 0.88, `Bayes AUC ${best.toFixed(3)}`);
    t.ok(share > 0.25 && share < 0.5, `share of clicks ${share.toFixed(3)}`);
  }
});

t.test('biases of single ids, as a model would learn them first, already order unseen examples', async (t) => {
  // Mean label per id on the training set, minus the overall mean, summed over the ids of slots 0 to 3.
  const train = rowsOf(ffmBatches(CLICKS));
  const mean = train.reduce((sum, { label }) => sum + label, 0) / train.length;
  const sums = new Map<bigint, { excess: number; count: number }>();
  for (const { label, ids } of train) {
    for (const id of ids.slice(0, 4).flat()) {
      const sum = sums.get(id) ?? { excess: 0, count: 0 };
      sums.set(id, { excess: sum.excess + label - mean, count: sum.count + 1 });
    }
  }
  const heldOut = rowsOf(ffmBatches(heldOutOf(CLICKS, 2048)));
  const scores = heldOut.map(({ ids }) =>
    ids
      .slice(0, 4)
      .flat()
      .reduce((score, id) => score + (sums.get(id)?.excess ?? 0) / (sums.get(id)?.count ?? 1), 0),
  );
  const found = auc(
    heldOut.map(({ label }) => label),
    scores,
  )!;
  t.ok(found > 0.7, `AUC ${found.toFixed(3)}`);
});

t.test('batches loaded into shared memory are the generated ones, within the bytes foretold', async (t) => {
  const options = { ...CLICKS, examples: 300 };
  const views = new Views(new SharedArrayBuffer(1 << 20));
  const arena = new Arena('batches', 64, 64 + datasetBytesMax(options));
  const schema = ffmSchema();
  const pointers = writeBatches({ views, arena, schema }, ffmBatches(options));
  t.same(
    pointers.map((at) => readBatch(views, at, ffmSchema())),
    [...ffmBatches(options)],
  );
  const small = new Arena('batches', 0, 5000);
  t.throws(() => writeBatches({ views, arena: small, schema }, ffmBatches(options)), { code: 'ML_MEMORY' });
});
