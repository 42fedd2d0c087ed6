/** @file A8: a task that looks nothing up is left to itself, with the default saver. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { defineSchema, dense } from '../../src/data/schema.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, variable } from '../../src/graph/ops/state.js';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { type InputFn, type ModelFn, NativeTask } from '../../src/train/tasks/native-task.js';
import { newDir, SMALL } from './feature-task.js';

class NonFeatureTask extends NativeTask {
  createInputFn(): InputFn {
    return () => ({ schema: defineSchema({ value: dense.f32() }), batchSize: 1, data: { value: [1, 2, 3] } });
  }

  createModelFn(): ModelFn {
    return (features, mode, { graph }) => {
      variable(graph, { name: 'constant', shape: [1], initial: () => Float32Array.of(7) });
      return { mode, loss: reduceSum(features.value!), trainOp: group(graph, [increment(globalStep(graph))]) };
    };
  }
}

t.test('it trains to the end of its input, and is saved', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const estimator = await localTrain(NonFeatureTask.params(), { modelDir, session: SMALL });
  t.equal(await estimator.latestCheckpoint(), `${modelDir}/model.ckpt-3`);
  t.same(await estimator.getVariableValue('constant'), Float32Array.of(7));
  await estimator.close();
});
