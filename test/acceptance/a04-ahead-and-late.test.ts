/** @file A4: rows ahead, late pushes, copies of variables and late dense updates, one by one and all together. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { CpuTrainingConfig } from '../../src/train/config/training-config.js';
import { localTrainInternal } from '../../src/train/tasks/local-train.js';
import { all, FeatureTask, newDir, SMALL } from './feature-task.js';

class ZerosTask extends FeatureTask {
  override slot() {
    return { name: 'feature', defaultVecInitializer: ZerosInitializer() };
  }
}

const SWITCHES = [
  { embeddingPrefetchCapacity: 1 },
  { enableEmbeddingPostpush: true },
  { enableVariablePrefetch: true },
  { enableVariablePostpush: true },
  {
    embeddingPrefetchCapacity: 2,
    enableEmbeddingPostpush: true,
    enableVariablePrefetch: true,
    enableVariablePostpush: true,
  },
];

t.test('a task completes with every switch, and its last save lacks no push', async (t) => {
  for (const switches of SWITCHES) {
    const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
    const config = new CpuTrainingConfig(switches);
    const estimator = await localTrainInternal(ZerosTask.params(), config, modelDir, 100, false, [], {
      session: SMALL,
    });
    t.equal(await estimator.latestCheckpoint(), `${modelDir}/model.ckpt-1`, JSON.stringify(switches));
    const [example] = await all(estimator.predict());
    const { values } = example!;
    // From zeros: the gradient of two sightings of id 0 is -2, and two rows are summed.
    for (const value of values!) t.ok(Math.abs(value - (2 * 0.001 * 2) / Math.sqrt(5)) < 1e-7, String(value));
    await estimator.close();
  }
});
