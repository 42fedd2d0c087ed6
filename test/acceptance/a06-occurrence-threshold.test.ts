/** @file A6: the occurrence threshold of a slot is collected, and its filter counts pushes. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { fidV2 } from '../../src/sparse/config/fid.js';
import { CpuTrainingConfig } from '../../src/train/config/training-config.js';
import { CpuTraining } from '../../src/train/tasks/cpu-training.js';
import { localTrainInternal } from '../../src/train/tasks/local-train.js';
import { all, FeatureTask, newDir, SMALL } from './feature-task.js';

const SLOT = 2021;

class ThresholdTask extends FeatureTask {
  override slot() {
    return { slotId: SLOT, occurrenceThreshold: 3 };
  }

  override data() {
    return { feature: [[fidV2(SLOT, 1n)]] };
  }

  override createInputFn(mode: Parameters<FeatureTask['createInputFn']>[0]) {
    const once = super.createInputFn(mode);
    return () => ({ ...once(), epochs: mode === 'train' ? 5 : 1 });
  }
}

t.test('slot 2021 has threshold 3, and the filter is on', async (t) => {
  const training = new CpuTraining(new CpuTrainingConfig(), ThresholdTask.params().instantiate());
  const { slotToOccurrenceThreshold, enableHashFilter, slotToExpireTime } = training.featureConfigs;
  t.same([...slotToOccurrenceThreshold], [[SLOT, 3]]);
  t.same([...slotToExpireTime], [[SLOT, 36500]]);
  t.equal(enableHashFilter, true);
  const plain = new CpuTraining(new CpuTrainingConfig(), FeatureTask.params().instantiate());
  t.equal(plain.featureConfigs.enableHashFilter, false);
});

t.test('an id gets its row once it was pushed as often as its threshold says', async (t) => {
  for (const [steps, hasRow] of [
    [3, false],
    [4, true],
  ] as const) {
    const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
    const config = new CpuTrainingConfig({ filterCapacity: 1000 });
    const run = { session: SMALL };
    const estimator = await localTrainInternal(ThresholdTask.params(), config, modelDir, steps, false, [], run);
    const [example] = await all(estimator.predict());
    const { values } = example!;
    t.equal(
      values!.some((value) => value !== 0),
      hasRow,
      `${steps} pushes`,
    );
    await estimator.close();
  }
});
