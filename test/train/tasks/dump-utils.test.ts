/** @file The dump of a model: what it holds after a training, and what may not be in it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { PolynomialDecay } from '../../../src/base/rates/schedules.js';
import { Graph } from '../../../src/graph/graph.js';
import { SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import { CpuTrainingConfig } from '../../../src/train/config/training-config.js';
import { withBuildContext } from '../../../src/train/tasks/build-context.js';
import { CpuTraining } from '../../../src/train/tasks/cpu-training.js';
import { DumpUtils, dumpUtils } from '../../../src/train/tasks/dump-utils.js';
import { localTrainInternal } from '../../../src/train/tasks/local-train.js';
import { TaskEstimator } from '../../../src/train/tasks/task-estimator.js';
import { FeatureTask, SMALL } from '../../acceptance/feature-task.js';

t.test('a training with enableModelDump leaves model_dump in its directory', async (t) => {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-dump-'));
  t.teardown(() => {
    dumpUtils.enable = false;
    rmSync(modelDir, { recursive: true });
  });
  const config = new CpuTrainingConfig({ enableModelDump: true });
  const params = FeatureTask.params();
  const estimator = await localTrainInternal(params, config, modelDir, 1, false, [], { session: SMALL });
  await estimator.close();
  const dump = await new DumpUtils().load(join(modelDir, 'model_dump'));
  t.equal(dump.version, 2);
  t.same(dump.userParams, ['enableModelDump']);
  t.match(dump.config, { enable_model_dump: true, num_ps: 0 });
  t.match(dump.params, { name: params.name, train: { label_key: 'label' } });
  t.match(dump.tables, [{ name: 'feature', sliceDims: [5], combiner: 'ReduceSum', learningRates: [0.001] }]);
});

t.test('functions and hooks of users are refused in the words of the reference', async (t) => {
  const dump = new DumpUtils();
  const slice = { features: 'a', sliceName: 'v', sliceDim: 4, groupOutType: 'add_n', outType: null };
  const call = { mode: 'train', heads: [], classification: [], features: [], extraLosses: 0, signatures: [] };
  const table = { name: 'a', config: '', sliceDims: [], combiner: 'ReduceSum', extraRestoreNames: [] };
  const rates = [new PolynomialDecay({ initialLearningRate: 1, decaySteps: 10 })];
  dump.recordSlice({ ...slice, hasRate: true });
  dump.recordModelFn(call, 1);
  t.same(dump.dumped.slices, [], 'nothing is recorded, and nothing refused, while it is not enabled');
  dump.enable = true;
  withBuildContext({ graph: new Graph(), dryRun: true }, () => dump.recordSlice({ ...slice, hasRate: true }));
  const refused = (body: () => void, message: string) => t.throws(body, { code: 'ML_TASK', message });
  refused(() => dump.recordSlice({ ...slice, hasRate: true }), 'for safety purpose learning_rate_fn is not allowed');
  refused(() => dump.recordModelFn(call, 1), 'For safety purpose, customer hooks is not allowed!');
  refused(() => dump.recordTables([{ ...table, rates }], new Map(), new Map()), 'learning_rate_fn is not support!');
  dump.recordSlice({ ...slice, hasRate: false });
  dump.recordModelFn(call, 0);
  dump.recordInput('train', { a: 'ragged' });
  t.same(dump.dumped.slices, [slice]);
  t.same(Object.keys(dump.dumped.modelFns), ['train']);
});

t.test('a file that is no dump is refused', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-dump-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'model_dump');
  await t.rejects(new DumpUtils().load(file), { code: 'ML_FILE_READ', message: /no dump of a model/ });
  writeFileSync(file, '{"version":7}');
  await t.rejects(new DumpUtils().load(file), { code: 'ML_FILE_READ', message: /version 7, and 2 is read/ });
});

/** The same task, whose model function declares other rows by now. */
class Changed extends FeatureTask {
  override slot() {
    return { name: 'feature', defaultVecOptimizer: SgdOptimizer({ learningRate: 9 }) };
  }
}

t.test('a task of a dump has the tables of then, whatever it declares by now', async (t) => {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-dump-'));
  t.teardown(() => {
    dumpUtils.enable = false;
    rmSync(modelDir, { recursive: true });
  });
  const config = () => new CpuTrainingConfig({ enableModelDump: true, modelName: 'one' });
  const first = await localTrainInternal(FeatureTask.params(), config(), modelDir, 1, false, [], { session: SMALL });
  await first.close();
  const dump = await new DumpUtils().load(join(modelDir, 'model_dump'));

  const task = Changed.params().instantiate() as Changed;
  t.equal(task.isDumped, false);
  const now = new CpuTraining(config(), task).featureConfigs;
  task.dump = dump;
  t.equal(task.isDumped, true);
  const then = new CpuTraining(config(), task).featureConfigs;
  const before = new CpuTraining(config(), FeatureTask.params().instantiate() as FeatureTask).featureConfigs;
  t.equal(String(then.featureToConfig.feature), String(before.featureToConfig.feature));
  t.not(String(now.featureToConfig.feature), String(before.featureToConfig.feature));
  t.same(then.featureToUnmergedSliceDims, before.featureToUnmergedSliceDims);
  t.same([...then.slotToExpireTime], [...before.slotToExpireTime]);

  await using again = new TaskEstimator({ params: Changed.params(), config: config(), modelDir, dump, session: SMALL });
  t.equal((await again.train({ steps: 1 })).step, 2, 'it trains on, with the rows of then');
  task.dump = { ...dump, declared: null };
  t.throws(() => new CpuTraining(config(), task), { code: 'ML_TASK', hint: /enableModelDump/ });
});
