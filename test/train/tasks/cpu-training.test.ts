/** @file CpuTraining by its rules: what it resolves and refuses, serving configs, stores, periods of saves, hooks. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Graph } from '../../../src/graph/graph.js';
import { EXAMPLE_BATCH } from '../../../src/io/example-messages.js';
import { ENTRY_TYPE } from '../../../src/sparse/config/config-messages.js';
import { CpuTrainingConfig } from '../../../src/train/config/training-config.js';
import type { TrainHook } from '../../../src/train/hooks/hook.js';
import { CpuTraining } from '../../../src/train/tasks/cpu-training.js';
import { ExportContext, enterExportMode } from '../../../src/train/tasks/export-context.js';
import { FeatureWriter, localFeatureEngineering } from '../../../src/train/tasks/feature-engineering.js';
import { defaultModelDir, localTrain, localTrainInternal } from '../../../src/train/tasks/local-train.js';
import { inputsOf, type NativeSpec } from '../../../src/train/tasks/native-task.js';
import { denseOnlyPeriod, savePeriod, saverOptions } from '../../../src/train/tasks/saving-rules.js';
import { storeOf, tablesIn } from '../../../src/train/tasks/table-store.js';
import { TaskEstimator } from '../../../src/train/tasks/task-estimator.js';
import { FeatureTask, SMALL } from '../../acceptance/feature-task.js';

type Values = ConstructorParameters<typeof CpuTrainingConfig>[0];
const training = (values: Values = {}, params = FeatureTask.params()) =>
  new CpuTraining(new CpuTrainingConfig(values), params.instantiate());

function newDir(t: { teardown(body: () => void): void }): string {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-tasks-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

t.test('what follows from other settings is written into the config', async (t) => {
  const params = FeatureTask.params();
  t.throws(() => training({ serverType: 'ps' }), {
    code: 'ML_TASK',
    message: 'server_type in CpuTraining must be `worker`',
  });
  const config = new CpuTrainingConfig({ enableRealtimeTraining: true });
  new CpuTraining(config, params.instantiate());
  t.match(config, {
    modelName: 'di_name_FeatureTask',
    partialRecovery: true,
    denseOnlySaveCheckpointsSecs: 1800,
    useNativeMultiHashTable: true,
  });
  params.metrics.deep_insight_name = 'insight';
  t.equal(training({}, params).config.modelName, 'insight');
});

t.test('while a model is exported, config and tables are those of serving', async (t) => {
  const trained = training({
    enableSyncTraining: true,
    numWorkers: 1,
    embeddingPrefetchCapacity: 2,
    enableEmbeddingPostpush: true,
    skipZeroEmbeddingWhenServing: true,
  });
  t.match(trained.config, { enableSyncTraining: true, embeddingPrefetchCapacity: 2 });
  enterExportMode(new ExportContext('STANDALONE'), () => {
    t.match(trained.config, {
      enableSyncTraining: false,
      numPs: 1,
      embeddingPrefetchCapacity: 0,
      enableEmbeddingPostpush: false,
    });
    const { tableConfig } = trained.featureConfigs.featureToConfig.feature!;
    t.equal(tableConfig.entryConfig!.entryType, ENTRY_TYPE.serving);
    t.equal(tableConfig.skipZeroEmbedding, true);
  });
  t.same(trained.featureConfigs.featureToUnmergedSliceDims, { feature: [5] });
});

t.test('the store follows from the config, and those of other processes are refused', async (t) => {
  const store = (values: Values, gpu = false) => storeOf(new CpuTrainingConfig(values), { useGpuEmbTable: gpu });
  const sync = { enableSyncTraining: true, numWorkers: 2 };
  const name = (values: Values) => store(values).name;
  t.same(store({ enableFusedLayout: true, numPs: 3 }), { name: 'PartitionedHashTable', shards: 3 });
  t.equal(name({ useNativeMultiHashTable: true }), 'MultiHashTable');
  t.equal(name({ useNativeMultiHashTable: true, numPs: 2 }), 'DistributedMultiTypeHashTable');
  t.equal(name({ useNativeMultiHashTable: false }), 'MergedMultiTypeHashTable');
  t.equal(name({ useNativeMultiHashTable: false, numPs: 2 }), 'MergedDistributedMultiTypeHashTable');
  t.same(store({ ...sync, enableFusedLayout: true }, true), { name: 'PartitionedHashTable', shards: 2 });
  t.equal(name({ ...sync, useNativeMultiHashTable: true }), 'DistributedMultiTypeHashTableMpi');
  t.equal(name({ ...sync, useNativeMultiHashTable: false }), 'MergedDistributedMultiTypeHashTableMpi');
  const tables = (values: Values) => {
    const config = new CpuTrainingConfig(values);
    return tablesIn(config, storeOf(config));
  };
  for (const values of [{ numPs: 2 }, sync]) t.throws(() => tables(values), { code: 'ML_UNSUPPORTED' });
  t.throws(() => tables({ filterType: 'probabilistic_filter' }), { code: 'ML_UNSUPPORTED', message: /probabilistic/ });
  t.throws(() => tables({ filterType: 'bloom' }), { code: 'ML_FILTER_TYPE' });
  t.match(tables({ filterType: 'no_filter', useNativeMultiHashTable: false }), { filters: false, merge: true });
  await t.rejects(localTrain(FeatureTask.params(), { numPs: 2, modelDir: newDir(t), session: SMALL }), {
    code: 'ML_UNSUPPORTED',
    message: /DistributedMultiTypeHashTable/,
  });
});

t.test('saves come by the config, else by the parameters, else at the end', async (t) => {
  const task = FeatureTask.params().instantiate();
  const period = (values: Values) => savePeriod(new CpuTrainingConfig(values), task);
  t.same(period({}), { everySteps: 100_000_000 });
  task.p.train.save_checkpoints_secs = 60;
  t.same(period({}), { everySecs: 60 });
  t.same(period({ saveCheckpointsSteps: 5 }), { everySteps: 5 });
  t.throws(() => period({ saveCheckpointsSteps: 5, saveCheckpointsSecs: 5 }), {
    code: 'ML_TASK',
    message: 'Can not provide both save_checkpoints_secs and save_checkpoints_steps.',
  });
  t.equal(denseOnlyPeriod(new CpuTrainingConfig(), task), undefined);
  t.same(denseOnlyPeriod(new CpuTrainingConfig({ denseOnlySaveCheckpointsSecs: 9 }), task), { everySecs: 9 });
  const tide = { tideStartHour: 1, tideEndHour: 5, tideSaveSecs: 30 };
  t.match(saverOptions(new CpuTrainingConfig({ ...tide, enableRealtimeTraining: true, index: 1 }), []), {
    keep: 10,
    keepCheckpointEveryNHours: 24,
    ignoreSaveErrors: true,
    isRootNode: true,
    tide: { startHour: 1, startMinute: 0, endHour: 5, endMinute: 0 },
    tideEverySecs: 30,
  });
  t.throws(() => new TaskEstimator({ params: FeatureTask.params(), config: new CpuTrainingConfig(), modelDir: '' }), {
    code: 'ML_TASK',
    message: 'model_dir must be provided',
  });
});

t.test('hooks are in the order of the reference, and only predictions have none', async (t) => {
  const named = (hooks: readonly TrainHook[] = []) => hooks.map((hook) => hook.constructor.name);
  const specOf = (values: Values, mode: 'train' | 'infer', change?: (p: FeatureTask['p']) => void): NativeSpec => {
    const params = FeatureTask.params();
    change?.(params as FeatureTask['p']);
    const wrapped = training(values, params);
    const graph = new Graph();
    const features = inputsOf(FeatureTask.schema, graph);
    const metrics = { emitStore() {}, emitCounter() {}, emitTimer() {}, flush() {} };
    return wrapped.createModelFn({ metrics })(features, mode, { graph, modelDir: '/nowhere' });
  };
  const plain = specOf({}, 'train');
  t.same(named(plain.trainingHooks), ['SetCurrentSessionHook', 'BarrierHook']);
  t.same(named(plain.trainingChiefHooks), ['ThroughputMetricHook']);
  const all = specOf(
    {
      enableVariablePostpush: true,
      profileSomeStepsFrom: 10,
      clusterType: 'tide',
      tideStartHour: 1,
      tideEndHour: 2,
    },
    'train',
    (p) => {
      p.train.slow_start_steps = 100;
    },
  );
  t.same(named(all.trainingHooks), ['SetCurrentSessionHook', 'BarrierHook', 'CustomGlobalStepWaiterHook']);
  t.same(named(all.trainingChiefHooks), ['ProfilerHook', 'ThroughputMetricHook', 'TideStoppingHook']);
  const inStep = specOf({ enableSyncTraining: true }, 'train');
  t.same(named(inStep.trainingHooks), ['SetCurrentSessionHook'], 'workers in step need no control');
  t.throws(() => specOf({ profileWithNvprofFromTo: '1,2' }, 'train'), { code: 'ML_UNSUPPORTED' });
  const predicting = specOf({}, 'infer');
  t.same([predicting.trainingHooks, predicting.trainingChiefHooks], [[], []]);
});

t.test('feature engineering writes the batches of the input, and trains nothing', async (t) => {
  const modelDir = newDir(t);
  const estimator = await localTrain(FeatureTask.params(), { modelDir, onlyFeatureEngineering: true, session: SMALL });
  t.equal(await estimator.latestCheckpoint(), null);
  await estimator.close();
  const [file, ...others] = readdirSync(join(modelDir, 'features'));
  t.match(file, /^chief_[0-9a-f-]{36}\.pb$/);
  t.same(others, []);
  const bytes = readFileSync(join(modelDir, 'features', file!));
  t.equal(bytes.readBigUInt64LE(0), 0n);
  t.equal(bytes.readBigUInt64LE(8), BigInt(bytes.length - 16));
  const { batchSize, namedFeatureList } = EXAMPLE_BATCH.decode(Uint8Array.from(bytes.subarray(16)));
  t.equal(batchSize, 1);
  const [{ name, feature } = { name: '', feature: [] }] = namedFeatureList;
  t.equal(name, 'feature');
  t.same(
    feature.map(({ fidV2List }) => Array.from(fidV2List!.value, String)),
    [['0', '0']],
  );
  const config = new CpuTrainingConfig();
  const files = await localFeatureEngineering(FeatureTask.params(), config, newDir(t), 3, { session: SMALL });
  t.equal(files.length, 1, 'the same by itself');
});

t.test('files of features hold so many batches, and are named after the worker', async (t) => {
  const modelDir = newDir(t);
  const config = new CpuTrainingConfig({ index: 2, numWorkers: 3 });
  const schema = [{ name: 'price', kind: 'dense', width: 2 }] as const;
  const writer = new FeatureWriter({ modelDir, config, schema, cap: 2 });
  const values = Float32Array.of(1, 2);
  for (let batch = 0; batch < 3; batch++) await writer.add({ rows: 1, feeds: [{ kind: 'dense', values }] });
  t.equal(writer.files.length, 1);
  await writer.flush();
  t.equal(writer.files.length, 2);
  t.match(writer.files[0], /features\/worker2_/);
});

t.test('a run begins anew unless told, and does not empty a folder that holds something else', async (t) => {
  t.match(defaultModelDir('mine'), /\/mine$/);
  const modelDir = newDir(t);
  const params = FeatureTask.params();
  const options = { modelDir, session: SMALL };
  await (await localTrain(params, options)).close();
  const config = new CpuTrainingConfig({ modelName: params.name });
  const again = await localTrainInternal(params, config, modelDir, 1, false, [], { session: SMALL });
  t.equal(await again.latestCheckpoint(), join(modelDir, 'model.ckpt-2'), 'it goes on');
  const { loss, metrics } = await again.evaluate();
  t.ok(Number.isFinite(loss), 'a task without labels has a loss');
  t.same(metrics, {});
  await again.close();
  const anew = await localTrain(params, options);
  t.equal(await anew.latestCheckpoint(), join(modelDir, 'model.ckpt-1'));
  await anew.close();
  const home = newDir(t);
  rmSync(home, { recursive: true });
  const { mkdirSync, writeFileSync } = await import('node:fs');
  mkdirSync(home);
  writeFileSync(join(home, 'thesis.tex'), '');
  await t.rejects(localTrain(params, { ...options, modelDir: home }), { code: 'ML_DIR' });
  t.ok(existsSync(join(home, 'thesis.tex')));
});
