/** @file Rows of predictions that a model writes as text: where `output_path` says, with the fields asked for. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { defineSchema, dense, ragged } from '../../../src/data/schema.js';
import { sigmoid } from '../../../src/graph/ops/activations.js';
import { scale } from '../../../src/graph/ops/elementwise.js';
import { AdagradOptimizer as DenseAdagrad } from '../../../src/optim/tf-optimizers.js';
import { CpuTrainingConfig } from '../../../src/train/config/training-config.js';
import { EstimatorSpec } from '../../../src/train/estimator-spec.js';
import type { Mode } from '../../../src/train/task-params.js';
import { MonolithModel } from '../../../src/train/tasks/monolith-model.js';
import type { TaskFeatures, TaskInput } from '../../../src/train/tasks/native-task.js';
import { TaskEstimator } from '../../../src/train/tasks/task-estimator.js';
import { getSigmoidLossAndPred } from '../../../src/train/tasks/task-losses.js';

const schema = defineSchema({
  click: dense.f32(),
  line: dense.i64(),
  price: dense.f32({ width: 2 }),
  item: ragged.i64({ valuesPerRow: 2 }),
});
const data = {
  click: [1, 0, 1],
  line: [-7n, 2n ** 62n, 3n],
  price: [0.1, 1, 2.5, 3, 1e-9, 4],
  item: [[1n, 2n], [], [3n]],
};

/** A click and, of the same sum, its double: two heads by name. */
class Priced extends MonolithModel {
  inputFn(mode: Mode): TaskInput {
    return { schema, batchSize: 2, data, epochs: mode === 'train' ? 5 : 1 };
  }

  modelFn(features: TaskFeatures, mode: Mode) {
    const logits = this.lookupEmbeddingSlice(['item'], 'w', 1, { outType: 'add_n' });
    const label = mode === 'infer' ? null : features.click!;
    const { loss, pred } = getSigmoidLossAndPred({ logits, label, mode });
    return new EstimatorSpec({
      label: features.click! && { b: features.click!, a: features.click! },
      pred: { b: pred, a: sigmoid(scale(logits, 2)) },
      loss,
      optimizer: new DenseAdagrad({ learningRate: 0.1 }),
    });
  }
}

async function trained(t: Test, set: Readonly<Record<string, unknown>>) {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-rows-'));
  const params = Priced.params();
  params.set(set);
  const session = { threads: 1, memoryBytes: 64 << 20 };
  const estimator = new TaskEstimator({ params, config: new CpuTrainingConfig(), modelDir, session });
  t.teardown(async () => {
    await estimator.close();
    rmSync(modelDir, { recursive: true });
  });
  await estimator.train();
  return estimator;
}

const outputs = mkdtempSync(join(tmpdir(), 'monolith-rows-out-'));
t.teardown(() => rmSync(outputs, { recursive: true }));

t.test('rows have the fields in their order and the predictions by name, and are appended', async (t) => {
  const path = join(outputs, 'all', 'deep');
  const estimator = await trained(t, { output_path: path, output_fields: 'line, price,item', delimiter: '|' });
  const predicted: number[][] = [];
  for await (const { heads } of estimator.predict()) predicted.push([heads!.a!.prediction, heads!.b!.prediction]);
  const lines = readFileSync(join(path, 'part-00000'), 'utf8').split('\n');
  t.equal(lines.pop(), '', 'the last row ends too');
  t.same(
    lines.map((line) => line.split('|').slice(0, 3)),
    [
      ['-7', '0.1,1', '1,2'],
      [String(2n ** 62n), '2.5,3', ''],
      ['3', '1e-9,4', '3'],
    ],
  );
  const written = lines.map((line) => line.split('|').slice(3).map(Number).map(Math.fround));
  t.same(written, predicted, 'heads by name, in digits that give the same floats');
  for await (const _ of estimator.predict({ yieldSingleExamples: false })) break;
  t.equal(readFileSync(join(path, 'part-00000'), 'utf8').split('\n').length - 1, 5, 'the batch that was taken');
});

t.test('without fields there are predictions alone; a field that is not there is named', async (t) => {
  const path = join(outputs, 'alone');
  const estimator = await trained(t, { output_path: path, output_fields: '' });
  for await (const _ of estimator.predict());
  t.match(readFileSync(join(path, 'part-00000'), 'utf8'), /^(0\.\d+\t0\.\d+\n){3}$/);

  const wrong = await trained(t, { output_path: path, output_fields: 'prise' });
  await t.rejects(wrong.predict().next(), { code: 'ML_TASK', hint: 'did you mean price?' });
  const unsaid = await trained(t, { output_path: path });
  await t.rejects(unsaid.predict().next(), { code: 'ML_TASK', message: /output_fields is not/ });
  const noFolder = await trained(t, { output_path: join(path, 'part-00000'), output_fields: '' });
  await t.rejects(noFolder.predict().next(), { code: 'ML_OUTPUT', message: /part-00000/ });
});

t.test('metrics that would be sent elsewhere are refused, and not left out in silence', async (t) => {
  for (const name of ['enable_kafka_metrics', 'enable_file_metrics']) {
    const refused = trained(t, { [`metrics.${name}`]: true });
    await t.rejects(refused, { code: 'ML_UNSUPPORTED', message: new RegExp(name), hint: /disableNativeMetrics/ });
  }
});
