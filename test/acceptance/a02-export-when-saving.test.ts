/** @file A2: a training that exports with each checkpoint it saves. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadModel } from '../../src/serve/load-model.js';
import { localTrain } from '../../src/train/tasks/local-train.js';
import type { ServingInputReceiverFn } from '../../src/train/tasks/native-task.js';
import { listOf } from '../train/estimator/tastes.js';
import { FeatureTask, newDir, SMALL } from './feature-task.js';
import '../../src/serve/provide.js';

class ExportedTask extends FeatureTask {
  override createInputFn(mode: Parameters<FeatureTask['createInputFn']>[0]) {
    const once = super.createInputFn(mode);
    return () => ({ ...once(), epochs: 2 });
  }

  override createServingInputReceiverFn(): ServingInputReceiverFn {
    return () => ({ features: {}, input: 'instances', parse: () => ({}) });
  }
}

function exporting(Task: typeof FeatureTask = ExportedTask) {
  const params = Task.params();
  params.serving.export_when_saving = true;
  params.serving.export_mode = 'STANDALONE';
  return params;
}

t.test('an export exists after a save, and answers', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true, force: true }));
  const estimator = await localTrain(exporting(), { modelDir, steps: 1, session: SMALL });
  const [batch] = await listOf(estimator.predict({ yieldSingleExamples: false }));
  const predicted = batch!.predictions;
  t.equal(predicted.length, 5);
  await estimator.close();
  const versions = readdirSync(join(modelDir, 'exported_models')).filter((name) => /^\d+$/.test(name));
  t.equal(versions.length, 1);
  const model = await loadModel(join(modelDir, 'exported_models'), { session: { memoryBytes: 2 ** 26 } });
  t.teardown(() => model.close());
  t.equal(model.step, 1);
  const values = await model.predict([{ feature: [0n, 0n] }]);
  t.equal(values.length, 5);
  t.ok(
    predicted.every((value, at) => Math.abs(value - values[at]!) < 1e-3),
    'as its own training does, with rows of halves',
  );
});

t.test('what cannot be exported is said before training', async (t) => {
  const options = {
    modelDir: newDir(t, (dir) => rmSync(dir, { recursive: true, force: true })),
    steps: 1,
    session: SMALL,
  };
  await t.rejects(localTrain(exporting(FeatureTask), options), {
    code: 'ML_TASK',
    message: 'A valid serving_input_receiver_fn must be provided if exporting is enabled. Got null',
  });
  const dense = exporting();
  dense.train.dense_only_save_checkpoints_steps = 10;
  await t.rejects(localTrain(dense, options), {
    message: /ExportMode\.DISTRIBUTED\. Only DISTRIBUTED mode is allowed when dense_only=True, got STANDALONE/,
  });
  const none = exporting();
  none.serving.export_mode = 'NONE';
  await t.rejects(localTrain(none, options), { message: 'Invalid export_mode: NONE' });
});
