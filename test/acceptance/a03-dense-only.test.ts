/** @file A3: saves of dense variables alone, in between full ones, to `dense_only`. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import t from 'tap';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { FeatureTask, newDir, SMALL } from './feature-task.js';

class RepeatedTask extends FeatureTask {
  override createInputFn(mode: Parameters<FeatureTask['createInputFn']>[0]) {
    const once = super.createInputFn(mode);
    return () => ({ ...once(), epochs: Number.POSITIVE_INFINITY });
  }
}

t.test('dense_only appears once its period has passed, and not before', async (t) => {
  for (const [steps, exists] of [
    [9, false],
    [12, true],
  ] as const) {
    const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
    const params = RepeatedTask.params();
    params.train.dense_only_save_checkpoints_steps = 10;
    params.serving.export_mode = 'DISTRIBUTED';
    const estimator = await localTrain(params, { modelDir, steps, session: SMALL });
    t.equal(await estimator.latestCheckpoint(), `${modelDir}/model.ckpt-${steps}`);
    t.equal(existsSync(`${modelDir}/dense_only/model.ckpt-10.index`), exists, `after ${steps} steps`);
    const assets = `${modelDir}/dense_only/model.ckpt-10.assets`;
    const files = existsSync(assets) ? readdirSync(assets) : [];
    t.same(
      files.filter((file) => file.startsWith('MonolithHashTable')),
      [],
      'it has no tables',
    );
    await estimator.close();
  }
});
