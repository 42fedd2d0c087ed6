/** @file A5: a float feature beside ids, and a feature whose first ids are a sequence. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { FirstN } from '../../src/feature/model/combiners.js';
import { FeatureColumn } from '../../src/feature/model/feature-column.js';
import { gradients } from '../../src/graph/gradients.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { sumInner } from '../../src/graph/ops/inner.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment } from '../../src/graph/ops/state.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { localTrain } from '../../src/train/tasks/local-train.js';
import { type InputFn, type ModelFn, NativeTask } from '../../src/train/tasks/native-task.js';
import { all, newDir, SMALL } from './feature-task.js';

const schema = defineSchema({
  ragged: ragged.i64({ valuesPerRow: 2 }),
  sequence: ragged.i64({ valuesPerRow: 4 }),
  float: dense.f32({ width: 2 }),
});

/** Predicts the sum of the floats; its loss is minus the first two rows of the sequence. */
class SequenceTask extends NativeTask {
  createInputFn(): InputFn {
    return () => ({
      schema,
      batchSize: 3,
      data: {
        ragged: [[1n], [2n], [3n]],
        sequence: [[1n, 2n], [], [3n, 4n, 5n]],
        float: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      },
    });
  }

  createModelFn(): ModelFn {
    return (features, mode, { graph }) => {
      const zeros = {
        defaultVecInitializer: ZerosInitializer(),
        defaultVecOptimizer: SgdOptimizer({ learningRate: 1 }),
      };
      const columns = [
        new FeatureColumn(this.ctx.createFeatureSlot({ name: 'sequence', ...zeros }), 'sequence', new FirstN(2)),
        new FeatureColumn(this.ctx.createFeatureSlot({ name: 'ragged', ...zeros }), 'ragged'),
      ];
      const [rows, single] = columns.map((column) => column.embeddingLookup(column.slot.addFeatureSlice(1)));
      const loss = scale(reduceSum(rows!), -1);
      const predictions = { float: sumInner(features.float!), rows: rows!, single: single! };
      if (mode !== 'train') return { mode, loss, predictions };
      const grads = gradients(
        [loss],
        columns.map((column) => column.getAllEmbeddingsConcat()),
      );
      const update = this.ctx.applyEmbeddingGradients(grads.map((grad, i) => [grad, columns[i]!]));
      const trainOp = group(graph, [increment(globalStep(graph)), update]);
      return { mode, loss, predictions, trainOp };
    };
  }
}

t.test('floats pass through, and only the first ids of a sequence are stepped', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const estimator = await localTrain(SequenceTask.params(), { modelDir, session: SMALL });
  const [batch] = await all(estimator.predict({ yieldSingleExamples: false }));
  t.same([...batch!.heads!.float!], [3, 7, 11]);
  t.same([...batch!.heads!.rows!], [1, 1, 0, 0, 1, 1], 'rows of the first two ids, zeros where there are fewer');
  t.same([...batch!.heads!.single!], [0, 0, 0], 'what the loss does not depend on is not stepped');
  await estimator.close();
});
