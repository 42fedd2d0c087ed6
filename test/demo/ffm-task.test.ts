/** @file The demo as a task: registered, trained, evaluated, predicted with, and fed serialized examples. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { generateFfmExample } from '../../src/demo/ffm-example.js';
import { FFMParams, TestFFMModel } from '../../src/demo/ffm-task.js';
import { Graph } from '../../src/graph/graph.js';
import { decodeTfExample, encodeTfExample } from '../../src/io/tf-example.js';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { taskNames, taskParams } from '../../src/train/tasks/task-registry.js';

t.test('the demo is registered as FFMParams, with batches of 64', async (t) => {
  t.ok(taskNames().includes('FFMParams'));
  const params = taskParams('FFMParams') as ReturnType<typeof FFMParams>;
  t.equal(params.name, 'test_ffm_model');
  t.equal(params.train.per_replica_batch_size, 64);
  t.throws(() => taskParams('FFMParam'), { code: 'ML_NOT_FOUND', hint: /FFMParams/ });
  t.ok(params.instantiate() instanceof TestFFMModel);
});

t.test('it trains, is evaluated and predicts', async (t) => {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-ffm-'));
  t.teardown(() => rmSync(modelDir, { recursive: true }));
  const session = { threads: 2, memoryBytes: 64 << 20 };
  await using estimator = await localTrain(FFMParams(), { modelDir, steps: 10, session });
  t.equal(await estimator.latestCheckpoint(), join(modelDir, 'model.ckpt-10'));
  const { loss, globalStep, examples } = await estimator.evaluate({ steps: 10 });
  t.same([globalStep, examples], [10, 64]);
  t.ok(loss < 0.6, `labels are all 0: ${loss}`);
  let [rows, sum] = [0, 0];
  for await (const { prediction } of estimator.predict()) {
    rows++;
    sum += prediction;
  }
  t.equal(rows, 64);
  t.ok(sum / rows < 0.5);
});

t.test('a batch size is needed to collect its tables', async (t) => {
  const params = FFMParams();
  params.train.per_replica_batch_size = null;
  await t.rejects(localTrain(params as never, { modelDir: '/nowhere', removeModelDirIfExists: false }), {
    code: 'ML_TASK',
    message: 'the task has no batch size',
  });
});

t.test('it takes serialized examples', async (t) => {
  const task = FFMParams().instantiate() as TestFFMModel;
  const { features, input, parse } = task.createServingInputReceiverFn()(new Graph());
  t.equal(input, 'instances');
  t.same(Object.keys(features), ['feature_0', 'feature_1', 'feature_2', 'feature_3', 'feature_4', 'feature_5']);
  const { ids } = generateFfmExample(new MersenneTwister(0), [5, 5, 5, 5, 5, 5]);
  const values = Object.fromEntries(ids.map((list, slot) => [`feature_${slot}`, BigInt64Array.from(list)]));
  const bytes = encodeTfExample({ ...values, label: Float32Array.of(0) });
  t.same(decodeTfExample(bytes).feature_1, BigInt64Array.of(7n, 9n, 5n, 5n));
  const fed = parse([bytes, encodeTfExample({})]);
  t.same(fed.feature_0, [[0n, 3n, 3n, 3n, 1n], []]);
});
