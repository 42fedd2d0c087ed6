/** @file A20 in one process: sums of looked-up rows equal those of a dense table that Adagrad steps, every step. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { FeatureColumn } from '../../src/feature/model/feature-column.js';
import { gradients } from '../../src/graph/gradients.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { AdagradOptimizer as DenseAdagrad } from '../../src/optim/tf-optimizers.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { CpuTrainingConfig } from '../../src/train/config/training-config.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { CpuTraining } from '../../src/train/tasks/cpu-training.js';
import { localTrainInternal } from '../../src/train/tasks/local-train.js';
import { type InputFn, type ModelFn, NativeTask } from '../../src/train/tasks/native-task.js';
import { newDir, SMALL } from './feature-task.js';

const STEPS = 10;
const DIM = 4;
const sums: { readonly table: number[]; readonly dense: number[] }[] = [];

/** Ids 1 to 4 of one example, as a lookup and as the row of ones over a dense table. */
class EmbeddingUpdateTask extends NativeTask {
  createInputFn(): InputFn {
    const schema = defineSchema({ feature: ragged.i64({ valuesPerRow: 4 }), ones: dense.f32({ width: 4 }) });
    const data = { feature: [[1n, 2n, 3n, 4n]], ones: [[1, 1, 1, 1]] };
    return () => ({ schema, batchSize: 1, data, epochs: STEPS });
  }

  createModelFn(): ModelFn {
    return (features, mode, { graph }) => {
      const slot = this.ctx.createFeatureSlot({
        name: 'feature',
        defaultVecInitializer: ConstantsInitializer(0),
        defaultVecOptimizer: AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 1 }),
      });
      const slice = slot.addFeatureSlice(DIM);
      const column = new FeatureColumn(slot, 'feature');
      const looked = column.embeddingLookup(slice);
      const table = variable(graph, { name: 'table', shape: [4, DIM], initial: () => new Float32Array(4 * DIM) });
      const multiplied = matMul(features.ones!, table);
      const loss = addN([reduceSum(looked), reduceSum(multiplied)]);
      const [byRow, byTable] = gradients([loss], [column.getAllEmbeddingsConcat(), table]);
      const steps = [
        this.ctx.applyEmbeddingGradients([[byRow, column]]),
        ...applyGradients([[byTable!, table]], new DenseAdagrad({ learningRate: 0.1, initialAccumulatorValue: 1 })),
      ];
      const seen: TrainHook = {
        quietSteps: () => 1,
        beforeRun: () => fetches,
        afterRun: (_, [ofTable, ofDense]) => {
          sums.push({ table: [...(ofTable as Float32Array)], dense: [...(ofDense as Float32Array)] });
        },
      };
      const fetches = [looked, multiplied];
      const trainOp = group(graph, [...steps, increment(globalStep(graph))]);
      return { mode, loss, trainOp, predictions: looked, trainingHooks: [seen] };
    };
  }
}

t.test('ten steps of workers in step are those of a dense table', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const config = new CpuTrainingConfig({ enableSyncTraining: true });
  t.same(new CpuTraining(config, EmbeddingUpdateTask.params().instantiate()).store, {
    name: 'DistributedMultiTypeHashTableMpi',
    shards: 1,
  });
  const params = EmbeddingUpdateTask.params();
  const estimator = await localTrainInternal(params, config, modelDir, null, false, [], { session: SMALL });
  t.equal(sums.length, STEPS);
  for (const [step, { table, dense }] of sums.entries()) {
    t.same(table, dense, `step ${step}`);
    t.equal(
      table.every((value) => value < 0),
      step > 0,
    );
  }
  t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(BigInt(STEPS)));
  await estimator.close();
});
