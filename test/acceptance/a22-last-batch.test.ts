/** @file A22 in one process: an input that says which batch is the last, over [1, 2, 3], each counted as its value. */
import { rmSync } from 'node:fs';
import t from 'tap';
import { defineSchema, dense } from '../../src/data/schema.js';
import { cast } from '../../src/graph/ops/cast.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { assignAdd, globalStep } from '../../src/graph/ops/state.js';
import { CpuTrainingConfig } from '../../src/train/config/training-config.js';
import { EOF_KEY, EofAwareTask, type FlagGather } from '../../src/train/tasks/eof-aware-task.js';
import { localTrainInternal } from '../../src/train/tasks/local-train.js';
import { type InputFn, type ModelFn, NativeTask } from '../../src/train/tasks/native-task.js';
import { newDir, SMALL } from './feature-task.js';

/** Counts the global step by the value of each batch. */
class CountTask extends NativeTask {
  readonly feature: string;
  readonly values: readonly bigint[];

  constructor(params: NativeTask['p'], feature: string, values: readonly bigint[] = [1n, 2n, 3n]) {
    super(params);
    this.feature = feature;
    this.values = values;
  }

  createInputFn(): InputFn {
    const schema = defineSchema({ [this.feature]: dense.i64() });
    return () => ({ schema, batchSize: 1, data: { [this.feature]: this.values } });
  }

  createModelFn(): ModelFn {
    return (features, mode, { graph }) => {
      const value = features[this.feature]!;
      t.same(Object.keys(features), [this.feature], 'the flag is not a feature of the task');
      return { mode, loss: reduceSum(cast(value, 'float32')), trainOp: assignAdd(globalStep(graph), value) };
    };
  }
}

const params = () => CountTask.params() as NativeTask['p'];
const eofAware = (feature: string, useDataservice: boolean, gather?: FlagGather) => ({
  name: 'count',
  instantiate: () => new EofAwareTask(new CountTask(params(), feature), useDataservice, gather),
});

for (const [form, feature] of [
  ['plain', '1'],
  ['dict', 'value'],
] as const) {
  t.test(`the global step is 6, of an input that is ${form}`, async (t) => {
    for (const useDataservice of [true, false]) {
      const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
      const task = eofAware(feature, useDataservice);
      const names = Object.keys(task.instantiate().createInputFn('train')().schema.features);
      t.same(names, useDataservice ? [feature, form === 'plain' ? '2' : EOF_KEY] : [feature]);
      const run = { session: SMALL };
      const estimator = await localTrainInternal(task, new CpuTrainingConfig(), modelDir, null, false, [], run);
      t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(6n), `${useDataservice}`);
      await estimator.close();
    }
  });
}

t.test('all stop after the step at which another worker has had its last batch', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  let gathered = 0;
  const gather: FlagGather = {
    size: 2,
    allgather: async (own) => Float32Array.of(...own, ++gathered === 2 ? 1 : 0),
  };
  const run = { session: SMALL };
  const task = eofAware('value', true, gather);
  const estimator = await localTrainInternal(task, new CpuTrainingConfig(), modelDir, null, false, [], run);
  t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(3n), 'after 1 and 2');
  await estimator.close();
});

t.test('an input without batches ends at once', async (t) => {
  const modelDir = newDir(t, (dir) => rmSync(dir, { recursive: true }));
  const task = { name: 'count', instantiate: () => new EofAwareTask(new CountTask(params(), 'value', []), true) };
  const run = { session: SMALL };
  const estimator = await localTrainInternal(task, new CpuTrainingConfig(), modelDir, null, false, [], run);
  t.equal(await estimator.latestCheckpoint(), null, 'no step, no checkpoint');
  await estimator.close();
});
