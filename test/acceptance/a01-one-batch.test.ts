/** @file A1: a local training of one batch completes at step 1, with its checkpoint. */
import { readdirSync, rmSync } from 'node:fs';
import t from 'tap';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { FeatureTask, newDir, SMALL } from './feature-task.js';

t.test('one batch of one feature is trained on, and model.ckpt-1 saved', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const estimator = await localTrain(FeatureTask.params(), { modelDir, session: SMALL });
  t.equal(await estimator.latestCheckpoint(), `${modelDir}/model.ckpt-1`);
  t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(1n));
  t.ok(readdirSync(modelDir).includes('model.ckpt-1.index'));
  await estimator.close();
});
