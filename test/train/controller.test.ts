import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment } from '../../src/graph/ops/state.js';
import { BarrierHook, BarrierOp } from '../../src/train/hooks/barrier.js';
import { LocalControlKv } from '../../src/train/hooks/control-kv.js';
import { ControllerFlags, ControllerHook, StopHelper } from '../../src/train/hooks/controller.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession } from '../runtime/with-session.js';
import { FakeClock } from '../support/fake-clock.js';

const before = setLogSink(() => {});
t.teardown(() => setLogSink(before));

/** A job that runs steps until its hooks ask it to stop; the steps it made. */
async function job(hooks: readonly TrainHook[], onStep: (step: number) => Promise<void> = async () => undefined) {
  const graph = new Graph();
  const op = increment(globalStep(graph)) as Op;
  const createSession = () => openSession(graph, { threads: 1 });
  const monitored = await MonitoredSession.create({ graph, hooks, createSession });
  for (let step = 1; !monitored.shouldStop && step < 1000; step++) {
    await monitored.run([op]);
    await onStep(step);
    await new Promise(setImmediate);
  }
  const steps = monitored.session.globalStep;
  await monitored.close();
  return steps;
}

t.test('ControllerHookTest: a stop ends the chief and every worker', async (t) => {
  const kv = new LocalControlKv();
  const flags = new ControllerFlags(kv);
  const clocks = () => new FakeClock();
  const worker = (index: number) => {
    const helper = new StopHelper();
    const barrier = new BarrierOp({ capacity: 3, kv, callbacks: [helper.callback], clock: clocks() });
    return job([helper, new BarrierHook(index, barrier)]);
  };
  const helper = new StopHelper();
  const barrier = new BarrierOp({ capacity: 3, kv, callbacks: [helper.callback], clock: clocks() });
  const controller = new ControllerHook({ kv, barrier, clock: clocks() });
  const chief = job([helper, controller], async (step) => {
    if (step === 3) await flags.requestStop();
  });
  const steps = await Promise.all([chief, worker(1), worker(2)]);
  t.equal(steps[0], 4, 'the chief sees it after its next step');
  t.ok(
    steps.every((count) => count < 1000),
    `${steps}`,
  );
  t.equal(await barrier.isNoneBlocked(), true, 'the barrier is gone');
});

t.test('a barrier that stands for something else is waited for', async (t) => {
  const kv = new LocalControlKv();
  const helper = new StopHelper();
  const barrier = new BarrierOp({ capacity: 1, kv, callbacks: [helper.callback], clock: new FakeClock() });
  const steps = await job([helper, new ControllerHook({ kv, barrier, clock: new FakeClock() })], async (step) => {
    if (step === 1) await barrier.placeBarrier('Save');
    if (step === 2) await new ControllerFlags(kv).requestStop();
    if (step === 5) await barrier.removeBarrier();
  });
  t.equal(steps, 6);
});

t.test('a save is done once, and without a barrier a stop is of this session', async (t) => {
  const kv = new LocalControlKv();
  const flags = new ControllerFlags(kv);
  const saved: number[] = [];
  const triggerSave = async ({ globalStep: step }: { readonly globalStep: number }) => void saved.push(step);
  const steps = await job([new ControllerHook({ kv, triggerSave })], async (step) => {
    if (step === 2) await flags.requestSave();
    if (step === 4) await flags.requestStop();
  });
  t.same(saved, [3]);
  t.equal(steps, 5);
});
