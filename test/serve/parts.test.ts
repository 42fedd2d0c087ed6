/** @file A model exported in parts is the model: entry, rows by server, variables apart, exports of variables alone. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { FFM_SLOT_COUNT, generateFfmExample, slotToKey } from '../../src/demo/ffm-example.js';
import { FFMParams } from '../../src/demo/ffm-task.js';
import { SafetensorsFile } from '../../src/io/safetensors.js';
import { encodeTfExample } from '../../src/io/tf-example.js';
import { loadModel } from '../../src/serve/load-model.js';
import { ServedModel } from '../../src/serve/online/served-model.js';
import { readPart } from '../../src/serve/parts/part-manifest.js';
import { RunConfig } from '../../src/train/config/run-config.js';
import { CpuTrainingConfig } from '../../src/train/config/training-config.js';
import { readExportState } from '../../src/train/savers/export-saver.js';
import { localTrainInternal } from '../../src/train/tasks/local-train.js';
import { NativeEstimator } from '../../src/train/tasks/native-estimator.js';
import { listOf } from '../train/estimator/tastes.js';
import '../../src/serve/provide.js';

const session = { threads: 1, memoryBytes: 2 ** 27 };
const load = { session: { memoryBytes: 2 ** 27 } };
const root = t.testdir();
const versionsOf = (dir: string) => (existsSync(dir) ? readdirSync(dir).filter((name) => /^\d+$/.test(name)) : []);

const rows = (() => {
  const random = new MersenneTwister(0);
  return Array.from({ length: 64 }, () => {
    const { ids } = generateFfmExample(random, new Array<number>(FFM_SLOT_COUNT).fill(5));
    return Object.fromEntries(ids.map((list, slot) => [slotToKey(slot), [...list]]));
  });
})();

/** The FFM task in a directory, exported as its parameters say. */
async function trained(t: Test, name: string, numPs: number, change: (p: ReturnType<typeof FFMParams>) => void) {
  const modelDir = join(root, name);
  const params = FFMParams();
  change(params);
  const conf = new RunConfig({ isLocal: true, modelDir, numPs, saveCheckpointsSteps: 5 });
  const estimator = new NativeEstimator(params, conf, null, { session, env: {} });
  t.teardown(() => estimator.close());
  await estimator.train({ steps: 10 });
  const predicted: number[] = [];
  for (const { predictions } of await listOf(estimator.predict({ yieldSingleExamples: false })))
    predicted.push(...predictions);
  return { estimator, predicted, base: join(modelDir, 'exported_models') };
}

async function predictedOf(dir: string): Promise<number[]> {
  const model = await loadModel(dir, load);
  try {
    return Array.from(await model.predict(rows));
  } finally {
    await model.close();
  }
}

const worst = (a: readonly number[], b: readonly number[]) =>
  a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);

t.test('the demo exports when it saves, in parts by its servers, and they answer as one', async (t) => {
  const { estimator, predicted, base } = await trained(t, 'parts', 2, (p) => {
    p.serving.export_when_saving = true;
  });
  t.same(readdirSync(base).sort(), ['ExportSaverListenerState', 'entry', 'ps_0', 'ps_1']);
  const versions = versionsOf(join(base, 'entry'));
  t.equal(versions.length, 2);
  for (const part of ['ps_0', 'ps_1']) t.same(versionsOf(join(base, part)), versions, 'one number for all parts');
  t.equal(predicted.length, 64);
  const newest = join(base, 'entry', versions.at(-1)!);
  for (const dir of [base, join(base, 'entry'), newest]) {
    t.ok(worst(await predictedOf(dir), predicted) < 1e-5, `${dir} answers as the training`);
  }
  const state = readExportState(base);
  t.same(
    state.map(({ globalStep }) => globalStep),
    [5, 5, 5, 10, 10, 10],
  );

  const { signatures, servers, globalStep } = readPart(join(base, 'ps_1', versions.at(-1)!))!;
  t.same([servers, globalStep], [2, 10]);
  t.match(Object.keys(signatures), [
    'lookup',
    'raw_lookup',
    'hashtable_assign',
    /MonolithMultiHashTable_1\/raw_assign/,
  ]);
  t.match(readPart(newest)!.signatures, { serving_default: { inputs: { instances: { dtype: 'string' } } } });
  for (const server of [0, 1]) {
    const file = await SafetensorsFile.open(join(base, `ps_${server}`, versions.at(-1)!, 'weights.safetensors'));
    const names = file.tensors.map(({ name }) => name).filter((name) => name.endsWith('/ids'));
    for (const name of names) {
      const ids = new BigInt64Array(file.spec(name, ['I64']).shape[0]!);
      await file.read(name, 0, ids);
      t.ok(ids.length > 0 && ids.every((id) => Number(id % 2n) === server), `${name} of server ${server}`);
    }
    await file.close();
  }

  const imported = await estimator.importSavedModel(base);
  t.teardown(() => imported.close());
  const examples = rows.map((row) =>
    encodeTfExample(Object.fromEntries(Object.entries(row).map(([key, list]) => [key, BigInt64Array.from(list)]))),
  );
  const { output } = await imported.infer(examples);
  t.ok(worst(Array.from(output!), predicted) < 1e-5, 'imported too');
  const served = await ServedModel.open('ffm', base, { load, pollMs: 0 });
  t.teardown(() => served.close());
  t.equal(served.current.version, versions.at(-1));
  const next = await estimator.exportSavedModel();
  t.equal(dirname(next), join(base, 'entry'));
  await served.refresh();
  t.equal(served.current.version, basename(next), 'a new version of parts is taken');
});

t.test('variables apart, and alone: saves of variables export an entry that goes with the newest rows', async (t) => {
  const { estimator, predicted, base } = await trained(t, 'dense', 0, (p) => {
    p.serving.export_when_saving = true;
    p.serving.with_remote_gpu = true;
    p.train.dense_only_save_checkpoints_steps = 3;
  });
  const entries = versionsOf(join(base, 'entry'));
  t.same(versionsOf(join(base, 'dense_0')), entries);
  const [full, dense] = [versionsOf(join(base, 'ps_0')), entries.length];
  t.equal(full.length, 2, 'rows of the two whole saves');
  t.ok(dense > full.length, `${dense} entries`);
  t.ok(worst(await predictedOf(base), predicted) < 1e-5);
  const entry = await estimator.exportSavedModel({ denseOnly: true });
  t.equal(readPart(entry)!.denseOnly, true);
  t.notOk(existsSync(join(base, 'ps_0', basename(entry))));
  t.ok(worst(await predictedOf(entry), predicted) < 1e-5, 'rows come from the newest export that has them');
  for (const version of full) renameSync(join(base, 'ps_0', version), join(base, 'ps_0', `gone-${version}`));
  await t.rejects(loadModel(entry, load), { code: 'ML_MODEL', message: /has no rows for it/ });
});

t.test('an export of variables alone is for parts, and a distributed one without servers is one folder', async (t) => {
  const { estimator, predicted, base } = await trained(t, 'alone', 0, (p) => {
    p.serving.export_mode = 'STANDALONE';
  });
  await t.rejects(estimator.exportSavedModel({ denseOnly: true }), { code: 'ML_TASK', message: /got STANDALONE/ });
  const folder = await estimator.exportSavedModel({ name: 'demo_export', batchSize: 32 });
  t.same(readdirSync(folder).sort(), ['model.json', 'saved_model.pb', 'weights.safetensors']);
  t.equal((JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as { name: string }).name, 'demo_export');
  t.ok(worst(await predictedOf(base), predicted) < 1e-5);
  await t.rejects(estimator.exportSavedModel({ enableFusedLayout: true }), { code: 'ML_TASK', message: /no layouts/ });
  await t.rejects(estimator.exportSavedModel({ densOnly: true } as never), { code: 'ML_OPTION', hint: /denseOnly/ });
});

t.test('parts that are not all there, or that lie, are refused', async (t) => {
  const { estimator } = await trained(t, 'refused', 2, () => undefined);
  const dir = join(root, 'refused-out');
  const entry = await estimator.exportSavedModel({ dir });
  const version = basename(entry);
  await t.rejects(loadModel(join(dir, 'ps_0'), load), { code: 'ML_MODEL', message: /it is ps_0/, hint: /entry/ });
  const manifest = join(entry, 'part.json');
  const text = readFileSync(manifest, 'utf8');
  const refuses = async (change: object, message: RegExp) => {
    writeFileSync(manifest, JSON.stringify({ ...(JSON.parse(text) as object), ...change }));
    await t.rejects(loadModel(dir, load), { code: 'ML_MODEL', message });
  };
  await refuses({ servers: 3 }, /of another number of servers than 3|ps_2.* is not there/);
  await refuses({ servers: 1 }, /another number of servers than 1/);
  await refuses({ servers: 10 ** 9 }, /no number of servers/);
  await refuses({ servers: '../../x' }, /no number of servers/);
  await refuses({ part: '../../../etc' }, /it is \.\.\/\.\.\/\.\.\/etc of a model in parts/);
  await refuses({ version: 2 }, /of no part that this version knows/);
  writeFileSync(manifest, 'not json');
  await t.rejects(loadModel(dir, load), { code: 'ML_MODEL' });
  writeFileSync(manifest, text);
  rmSync(join(dir, 'ps_1', version), { recursive: true });
  await t.rejects(loadModel(dir, load), { code: 'ML_MODEL', message: /ps_1.*is not there/ });
});

t.test('workers in step number their exports by the step, and do not write one twice', async (t) => {
  const params = FFMParams();
  params.serving.export_when_saving = true;
  const modelDir = join(root, 'step');
  const config = new CpuTrainingConfig({ enableSyncTraining: true, saveCheckpointsSteps: 4 });
  await using estimator = await localTrainInternal(params, config, modelDir, 8, false, [], { session });
  const base = join(modelDir, 'exported_models');
  t.same(versionsOf(join(base, 'entry')), ['4', '8']);
  const file = join(base, 'entry', '8', 'model.json');
  writeFileSync(file, 'as it was');
  await estimator.export(base, { version: '8' });
  t.equal(readFileSync(file, 'utf8'), 'as it was');
});
