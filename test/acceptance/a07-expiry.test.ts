/** @file A7: ids of a slot that expires at once are gone with the first checkpoint, others stay. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { FeatureColumn } from '../../src/feature/model/feature-column.js';
import { gradients } from '../../src/graph/gradients.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment } from '../../src/graph/ops/state.js';
import { fidV2 } from '../../src/sparse/config/fid.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { type InputFn, type ModelFn, NativeTask } from '../../src/train/tasks/native-task.js';
import { all, newDir, SMALL } from './feature-task.js';

const SLOTS = [
  { slotId: 200, expireTime: 0 },
  { slotId: 201, expireTime: 1 },
];
const name = (slotId: number) => `feature_${slotId}`;
const ids = ragged.i64({ valuesPerRow: 2 });
const schema = defineSchema({ feature_200: ids, feature_201: ids, req_time: dense.i64() });

/** Two slots of two ids each; the loss is the sum of what is looked up. */
class ExpiryTask extends NativeTask {
  createInputFn(): InputFn {
    const of = (slot: number) => [[fidV2(slot, 1n), fidV2(slot, 2n)]];
    const data = { feature_200: of(200), feature_201: of(201), req_time: [100n] };
    return () => ({ schema, batchSize: 1, data });
  }

  createModelFn(): ModelFn {
    return (_features, mode, { graph }) => {
      const columns = SLOTS.map(({ slotId, expireTime }) => {
        const defaultVecInitializer = ZerosInitializer();
        const slot = this.ctx.createFeatureSlot({ slotId, expireTime, defaultVecInitializer });
        return new FeatureColumn(slot, name(slotId));
      });
      const [gone, kept] = columns.map((column) => column.embeddingLookup(column.slot.addFeatureSlice(5)));
      const loss = addN([reduceSum(gone!), reduceSum(kept!)]);
      const predictions = { gone: gone!, kept: kept! };
      if (mode !== 'train') return { mode, loss, predictions };
      const grads = gradients(
        [loss],
        columns.map((column) => column.getAllEmbeddingsConcat()),
      );
      const update = this.ctx.applyEmbeddingGradients(grads.map((grad, i) => [grad, columns[i]!]));
      return { mode, loss, predictions, trainOp: group(graph, [increment(globalStep(graph)), update]) };
    };
  }
}

t.test('after one step and a save, the slot of 0 days reads as zeros and the one of 1 day is stepped', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const estimator = await localTrain(ExpiryTask.params(), { modelDir, steps: 1, session: SMALL });
  const [example] = await all(estimator.predict());
  const { gone, kept } = example!.heads!;
  t.same([...gone!.values!], [0, 0, 0, 0, 0]);
  // Two ids, each stepped by 0.001 / sqrt(1 + 1).
  for (const value of kept!.values!) t.ok(Math.abs(value - -0.001414) < 1e-6, String(value));
  await estimator.close();
});
