/** Upstream's sync_hooks_test and barrier_ops_test by their names, and what waits owe beyond them. */
import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment } from '../../src/graph/ops/state.js';
import { BarrierHook, BarrierOp } from '../../src/train/hooks/barrier.js';
import { LocalControlKv } from '../../src/train/hooks/control-kv.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { ChiefSyncHook, SyncHelper, TrainingHooksHelper, WorkerSyncHook } from '../../src/train/hooks/sync-hooks.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession } from '../runtime/with-session.js';
import { FakeClock } from '../support/fake-clock.js';

/** A job of one variable: `open` waits for the hooks, `run` makes one step. */
async function job(hooks: readonly TrainHook[]) {
  const graph = new Graph();
  const step = increment(globalStep(graph)) as Op;
  const createSession = () => openSession(graph, { threads: 1 });
  const monitored = await MonitoredSession.create({ graph, hooks, createSession });
  return { monitored, run: () => monitored.run([step]) };
}

const turn = () => new Promise(setImmediate);

t.test('SyncHooksTest.test_sync_process', async (t) => {
  const helper = new SyncHelper(2, new LocalControlKv());
  const seen: string[] = [];
  const count = (who: string): TrainHook => ({
    afterCreateSession: () => void seen.push(`${who} starts`),
    end: () => void seen.push(`${who} ends`),
  });
  const clock = new FakeClock();
  const worker = job([new WorkerSyncHook(1, helper, clock), count('worker')]);
  while ((await helper.getNumAliveWorkers()) === 0 || clock.sleeps.length < 3) await turn();
  t.same(seen, [], 'the worker waits for the restore');
  const chief = await job([count('chief'), new ChiefSyncHook(helper, { clock: new FakeClock() }), count('chief last')]);
  const { monitored } = await worker;
  t.same(seen, ['chief starts', 'chief last starts', 'worker starts']);
  const ending = chief.monitored.close();
  for (let i = 0; i < 20; i++) await turn();
  t.same(seen.slice(3), ['chief ends'], 'the chief waits for the worker');
  await monitored.close();
  await ending;
  t.same(seen.slice(4), ['worker ends', 'chief last ends']);
  t.same(await helper.getAliveWorkers(), []);
});

t.test('the chief gives up on workers that do not end', async (t) => {
  const lines: string[] = [];
  const sink = setLogSink((_level, event) => void lines.push(event));
  t.teardown(() => setLogSink(sink));
  const helper = new SyncHelper(3, new LocalControlKv());
  await helper.startWorker(2);
  const clock = new FakeClock();
  const { monitored } = await job([new ChiefSyncHook(helper, { timeoutSeconds: 90, clock })]);
  await monitored.close();
  t.same([lines.at(-1), clock.now()], ['Reach timeout seconds! Remaining worker count: 1.', 90_000]);
  await t.rejects(helper.startWorker(3), { code: 'ML_SYNC_INDEX', message: 'Index 3 is out range ' });
  await t.rejects(helper.finishWorker(0), { code: 'ML_SYNC_INDEX' });
});

t.test('SyncHooksTest.test_hook_helper', async (t) => {
  const options = { numWorkers: 3, workerIndex: 1, kv: new LocalControlKv() };
  const off = new TrainingHooksHelper({ enableSync: false, ...options });
  t.same([off.trainingHooks, off.trainingChiefHooks], [[], []]);
  const on = new TrainingHooksHelper({ enableSync: true, ...options });
  t.same([on.trainingHooks.length, on.trainingChiefHooks.length], [1, 1]);
});

t.test('A23: a worker is blocked at the barrier after its step, and goes on when it is gone', async (t) => {
  const seen: string[] = [];
  const kv = new LocalControlKv();
  const barrier = new BarrierOp({
    capacity: 2,
    kv,
    clock: new FakeClock(),
    callbacks: [(action) => void seen.push(action)],
  });
  await barrier.placeBarrier('Save');
  await t.rejects(barrier.placeBarrier(), { code: 'ML_BARRIER_PLACED' });
  const { monitored, run } = await job([new BarrierHook(1, barrier)]);
  t.teardown(() => monitored.close());
  const first = run();
  while (!(await barrier.isAllBlocked())) await turn();
  t.equal(monitored.session.globalStep, 1);
  t.same(await barrier.getBlockedIndices(), [0, 1]);
  t.same(seen, ['Save', 'Save'], 'who placed it and who is blocked were told');
  await barrier.removeBarrier();
  await first;
  for (let i = 0; i < 4; i++) await run();
  t.equal(monitored.session.globalStep, 5);
  t.ok((await barrier.isNoneBlocked()) && (await barrier.isBarrierRemoved()));
  t.same(await barrier.getUnblockedIndices(), [0, 1]);
});

t.test('the chief passes the barrier, a stop ends the wait, and an index is checked', async (t) => {
  const barrier = new BarrierOp({ capacity: 2, kv: new LocalControlKv(), clock: new FakeClock() });
  await barrier.placeBarrier();
  const chief = await job([new BarrierHook(0, barrier)]);
  await chief.run();
  await chief.monitored.close();
  const worker = await job([new BarrierHook(1, barrier)]);
  const waiting = worker.run();
  while (!(await barrier.isAllBlocked())) await turn();
  worker.monitored.requestStop();
  await waiting;
  t.same(await barrier.getBlockedIndices(), [0]);
  await worker.monitored.close();
  const message = 'Index [2] must be non-negative and less than capacity [2]. ';
  await t.rejects(barrier.waitUntilBarrierRemoved(2), { code: 'ML_BARRIER_INDEX', message });
});
