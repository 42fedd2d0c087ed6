/** @file Parameters pushed to a folder and to models of this process, by the names of the reference. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { setLogSink } from '../../../src/base/log.js';
import { f } from '../../../src/data/fields.js';
import { defineSchema } from '../../../src/data/schema.js';
import { FFMParams } from '../../../src/demo/ffm-task.js';
import { DeltaHook } from '../../../src/serve/fresh/delta-hook.js';
import { Follower } from '../../../src/serve/fresh/follow.js';
import { ParameterSyncHook, type ParameterSyncOptions } from '../../../src/serve/fresh/parameter-sync-hook.js';
import { createSyncBackend, FolderSyncBackend, LocalSyncBackend } from '../../../src/serve/fresh/sync-backends.js';
import { ServedModel } from '../../../src/serve/online/served-model.js';
import { RunConfig } from '../../../src/train/config/run-config.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { TrainHook } from '../../../src/train/hooks/hook.js';
import { tablesIn } from '../../../src/train/savers/session-tables.js';
import { NativeEstimator } from '../../../src/train/tasks/native-estimator.js';
import type { SyncBackend } from '../../../src/train/tasks/native-task-context.js';
import { deepfm } from '../../../src/zoo/deep.js';
import { listOf } from '../../train/estimator/tastes.js';
import { small } from '../shops.js';

const schema = defineSchema({ user: f.id(), item: f.id(), price: f.number(), bought: f.label() });
const rowAt = (at: number) => ({ user: at % 97, item: (at * 7) % 53, price: at % 10, bought: (at % 97) % 2 });
const asked = Array.from({ length: 120 }, (_, at) => rowAt(at * 3));
const rowsOf = (from: number, count: number) => Array.from({ length: count }, (_, at) => rowAt(from + at));
const worst = (a: readonly number[], b: readonly number[]) =>
  a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);
const root = t.testdir();

function training(t: Test, name: string) {
  const model = deepfm(schema, { dim: 4, hidden: [8] });
  const session = { memoryBytes: 2 ** 27 };
  const estimator = new Estimator(model, { modelDir: join(root, name), batchSize: 50, threads: 1, seed: 1, session });
  t.teardown(() => estimator.close());
  const train = (count: number, hooks: readonly TrainHook[]) =>
    estimator.train(rowsOf(0, count), { epochs: 1, hooks: () => hooks } as never);
  const predict = async () => (await listOf(estimator.predict(asked))).map(({ prediction }) => prediction);
  return { model, estimator, train, predict };
}

const predictedBy = async ({ current }: ServedModel) => Array.from(await current.model.predict(asked as never));

function subscribed<B extends SyncBackend>(backend: B): B {
  backend.start();
  backend.subscribeModel('shop');
  return backend;
}

async function served(t: Test, dir: string) {
  const model = await ServedModel.open('shop', dir, { load: small, pollMs: 0 });
  t.teardown(() => model.close());
  return model;
}

t.test('models of this process answer as the training predicts, rows that are gone included', async (t) => {
  const { model, estimator, train, predict } = training(t, 'local');
  await train(200, []);
  await estimator.export(join(root, 'local-out'));
  const [first, second] = [await served(t, join(root, 'local-out')), await served(t, join(root, 'local-out'))];
  const backend = subscribed(new LocalSyncBackend());
  backend.bind('first', first);
  t.throws(() => backend.bind('first', second), { code: 'ML_SYNC' });
  const pushed: number[] = [];
  let clockMs = 0;
  const clock = { now: () => clockMs, sleep: async () => undefined };
  const options: ParameterSyncOptions = {
    model,
    everySteps: 2,
    clock,
    onPush: ({ responses }) => pushed.push(...responses.map(({ statusCode }) => statusCode), responses.length),
  };
  const remover: TrainHook = {
    async afterRun({ globalStep, session }) {
      if (globalStep === 7) {
        // Who serves is asked again after 100 seconds: the second model comes late and gets everything.
        backend.bind('second', second);
        clockMs += 101_000;
      }
      if (globalStep !== 11) return;
      const { table } = tablesIn(session).find(({ name }) => name.includes('user'))!;
      await session.hold(async () => table.remove([30n, 31n]));
    },
  };
  await train(600, [new ParameterSyncHook(backend, 0, options), remover]);
  t.same(pushed, [0, 1, 0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 2]);
  const expected = await predict();
  for (const model of [first, second]) {
    t.ok(worst(await predictedBy(model), expected) < 1e-6, 'as the training predicts');
    t.same([...model.current.model.tableOfFeature('user').contains([30n, 50n])], [0, 1]);
  }
  backend.stop();
  t.throws(() => backend.getSyncTargets('ps_0'), { code: 'ML_SYNC', message: /not started/ });
});

t.test('a target that fails is told of, and has everything once it is well again', async (t) => {
  const { model, estimator, train, predict } = training(t, 'fails');
  await train(100, []);
  await estimator.export(join(root, 'fails-out'));
  const other = new Estimator(deepfm(schema, { dim: 8, hidden: [8] }), { batchSize: 50, threads: 1 });
  t.teardown(() => other.close());
  await other.train(rowsOf(0, 100), { epochs: 1 } as never);
  await other.export(join(root, 'other-out'));
  const [right, wrong] = [await served(t, join(root, 'fails-out')), await served(t, join(root, 'other-out'))];
  const lent = { current: wrong.current } as { current: ServedModel['current'] };
  const backend = subscribed(new LocalSyncBackend());
  backend.bind('shop', lent as ServedModel);
  const told: string[] = [];
  const before = setLogSink((level, event) => {
    if (level === 'warn') told.push(event);
  });
  t.teardown(() => setLogSink(before));
  const codes: number[] = [];
  const onPush: NonNullable<ParameterSyncOptions['onPush']> = ({ responses: [response], step }) => {
    codes.push(response!.statusCode);
    if (step === 4) lent.current = right.current;
  };
  await train(300, [new ParameterSyncHook(backend, 0, { model, onPush })]);
  t.same(codes, [9, 9, 9, 0, 0]);
  t.match(told[0], /Error occurred when synchronizing parameter: model .* rows of table .* are 9, not 5/);
  t.ok(worst(await predictedBy(right), await predict()) < 1e-6);
  backend.stop();
});

t.test('a folder gets what a follower takes', async (t) => {
  const { model, train, predict } = training(t, 'folder');
  const dir = join(root, 'folder-out');
  const backend = subscribed(new FolderSyncBackend(dir));
  t.same(backend.getSyncTargets('ps_0'), { model: 'shop:ps_0', targets: [`folder:${dir}`] });
  await train(300, [new ParameterSyncHook(backend, 0, { model, everySteps: 2 })]);
  const live = await served(t, dir);
  const follower = new Follower(live);
  t.teardown(() => follower.close());
  await follower.refresh();
  t.equal(follower.sequence, 3);
  t.ok(worst(await predictedBy(live), await predict()) < 1e-6);
});

t.test('what cannot be is said', async (t) => {
  const { model, train } = training(t, 'refused');
  const backend = new FolderSyncBackend(join(root, 'refused-out'));
  await t.rejects(train(50, [new ParameterSyncHook(backend, 0, { model })]), {
    code: 'ML_SYNC',
    message: /ps_0 cannot be pushed: it is not started/,
    hint: /start\(\)/,
  });
  subscribed(backend);
  t.throws(() => backend.subscribeModel('other'), { code: 'ML_SYNC', message: /one model only/ });
  const twice = [new ParameterSyncHook(backend, 0, { model }), new DeltaHook({ model, dir: join(root, 'x') })];
  await t.rejects(train(50, twice), { code: 'ML_SYNC', message: /another hook pushes them/ });
  const remote = { ...plain, getSyncTargets: () => ({ model: 'shop:ps_0', targets: ['127.0.0.1:8500'] }) };
  await t.rejects(train(50, [new ParameterSyncHook(remote, 0, { model })]), {
    code: 'ML_UNIMPLEMENTED',
    message: /127\.0\.0\.1:8500 is not implemented: targets of other processes come with the cluster/,
  });
  const unbound = { ...plain, getSyncTargets: () => ({ model: 'shop:ps_0', targets: ['local:nobody'] }) };
  await t.rejects(train(50, [new ParameterSyncHook(unbound, 0, { model })]), { code: 'ML_SYNC', message: /nobody/ });
  t.throws(() => new ParameterSyncHook(backend, 0, { model, everySteps: 0 }), { code: 'ML_OPTION' });
  t.throws(() => new ParameterSyncHook(backend, 0, { model, everyStep: 1 } as never), {
    code: 'ML_OPTION',
    hint: /everySteps/,
  });
  const place = { modelDir: root, bzid: 'gip', baseName: 'shop' };
  t.throws(() => createSyncBackend(place), { code: 'ML_UNIMPLEMENTED', message: /ReplicaWatcher/, hint: /fresh/ });
  t.throws(() => createSyncBackend({ modelDir: root, unifiedServing: true }), { message: /ZKBackend/ });
});

const plain: SyncBackend = {
  start: () => undefined,
  subscribeModel: () => undefined,
  getSyncTargets: () => ({ model: '', targets: [] }),
  stop: () => undefined,
};

t.test('enableParameterSync of a RunConfig has a task pushed, to its own folder or by a backend', async (t) => {
  const modelDir = join(root, 'task');
  const conf = new RunConfig({ isLocal: true, modelDir, enableParameterSync: true });
  const options = { session: { threads: 1, memoryBytes: 2 ** 27 }, env: {} };
  const estimator = new NativeEstimator(FFMParams(), conf, null, options);
  t.teardown(() => estimator.close());
  await estimator.train({ steps: 10 });
  const model = await ServedModel.open('ffm', join(modelDir, 'fresh'), { load: small, pollMs: 0 });
  t.teardown(() => model.close());
  const follower = new Follower(model);
  t.teardown(() => follower.close());
  await follower.refresh();
  t.ok(follower.sequence! >= 1);
  t.equal(tableRows(model) > 0, true);

  const calls: string[] = [];
  const backend: SyncBackend = {
    start: () => void calls.push('start'),
    subscribeModel: (name) => void calls.push(name),
    getSyncTargets: (subGraph) => {
      calls.push(subGraph);
      return { model: subGraph, targets: [] };
    },
    stop: () => void calls.push('stop'),
  };
  const other = new RunConfig({ isLocal: true, modelDir: join(root, 'task2'), enableParameterSync: true });
  const pushed = new NativeEstimator(FFMParams(), other, null, { ...options, syncBackend: backend });
  t.teardown(() => pushed.close());
  await pushed.train({ steps: 2 });
  t.same(calls, ['start', 'di_name_TestFFMModel', 'ps_0', 'stop']);
  t.notOk(existsSync(join(root, 'task2', 'fresh')));
});

const tableRows = ({ current }: ServedModel): number =>
  [...current.model.tables.values()].reduce((sum, table) => sum + table.size, 0);
