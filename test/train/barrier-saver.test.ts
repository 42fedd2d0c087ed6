/** @file Saves of a chief and a worker at the barrier, with the places of inputs; listeners of one side; the log. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { InputState } from '../../src/base/input-state.js';
import { setLogSink } from '../../src/base/log.js';
import {
  AfterSaveListener,
  BarrierHook,
  BarrierOp,
  BarrierSaverListener,
  BeforeSaveListener,
  disableIteratorSaveRestore,
  WorkerCkptHelper,
} from '../../src/compat/index.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalControlKv } from '../../src/train/hooks/control-kv.js';
import { StepLoggerHook } from '../../src/train/hooks/step-logger.js';
import { LocalTrainer, type LocalTrainOptions } from '../../src/train/local-train.js';
import { FakeClock } from '../support/fake-clock.js';
import { loadBatches, smallSession } from './ffm-run.js';

const said: string[] = [];
const before = setLogSink((_, text) => void said.push(text));
t.teardown(() => setLogSink(before));

/** Trains with an input that tells its place; where the input began and ended. */
async function train(options: Partial<LocalTrainOptions>, hasState = true): Promise<[number, number]> {
  const trainer = await LocalTrainer.create({
    model: buildFfm(),
    modelDir: null,
    steps: 6,
    session: smallSession(),
    ...options,
  });
  const batches = loadBatches(trainer.session);
  let [at, began] = [0, 0];
  const next = () => batches[at++ % batches.length]!;
  const states = {
    saveState: (unused: number) => ({ at: at - unused }),
    restoreState: (state: InputState) => {
      at = (state as { at: number }).at;
      began = at;
    },
  };
  await trainer.train({ next, ...(hasState && states) });
  await trainer.close();
  return [began, at];
}

t.test('all stop for a save of the chief, and each goes on with the row its own input was at', async (t) => {
  const dir = t.testdir();
  const run = async (index: number, kv: LocalControlKv, hasState = true) => {
    const helper = new WorkerCkptHelper(dir, index, kv);
    const barrier = new BarrierOp({ capacity: 2, kv, waitSeconds: 0.005, callbacks: [helper.callback] });
    const guard = new BarrierSaverListener(barrier, { kv, waitSeconds: 0.005, maxPendingSeconds: 20 });
    const chief = { modelDir: join(dir, 'model'), saver: { guardListeners: [guard] }, saveEverySteps: 3, steps: 5 };
    if (index === 0) return train({ ...chief, hooks: [helper] }, hasState);
    // The worker trains until the chief has ended.
    const stop = new AbortController();
    const training = train({ hooks: [helper, new BarrierHook(1, barrier)], steps: 1e9, signal: stop.signal }, hasState);
    return { stop, training };
  };
  const kv = new LocalControlKv();
  const worker = (await run(1, kv)) as { stop: AbortController; training: Promise<[number, number]> };
  t.same(await run(0, kv), [0, 5]);
  worker.stop.abort();
  await worker.training;
  t.ok(said.includes('All workers have been blocked.'));
  t.equal(said.filter((text) => text === 'Skipped worker ckpt restore.').length, 2);
  t.ok(readdirSync(dir).includes('checkpoint_input_worker_1'));
  t.match(readdirSync(dir).join(), /input_worker_1\.ckpt-[35]\.index/);
  const again = new LocalControlKv();
  const second = (await run(1, again)) as { stop: AbortController; training: Promise<[number, number]> };
  second.stop.abort();
  const [began] = await second.training;
  t.ok(began > 0, `the worker goes on at ${began}`);
  t.throws(() => disableIteratorSaveRestore(), { code: 'ML_SAVER' });
});

t.test('a worker that does not come holds a save up for so long and no longer', async (t) => {
  const dir = t.testdir();
  const kv = new LocalControlKv();
  const clock = new FakeClock(0);
  const barrier = new BarrierOp({ capacity: 3, kv, clock });
  const guard = new BarrierSaverListener(barrier, { maxPendingSeconds: 7, clock });
  said.length = 0;
  await train({ modelDir: dir, saver: { guardListeners: [guard] } });
  t.same(
    said.filter((text) => text.startsWith('Unblocked')),
    ['Unblocked worker indices: {1, 2}.'],
  );
  t.ok(clock.now() >= 7000);
  t.ok(await barrier.isBarrierRemoved());
  // One that another has placed stays.
  await barrier.placeBarrier('theirs');
  await guard.beforeSave(undefined as never, 1);
  await guard.afterSave();
  t.ok(await barrier.isBarrierPlaced());
  t.ok(said.includes('the barrier is placed already, by somebody else'));
});

t.test('one side of a listener, and a line of the log each so many steps', async (t) => {
  const told: string[] = [];
  const both = { beforeSave: () => void told.push('before'), afterSave: () => told.push('after') > 0 };
  const model = buildFfm();
  const clock = new FakeClock(0);
  said.length = 0;
  const [, at] = await train({
    model,
    modelDir: t.testdir(),
    saveEverySteps: 4,
    saver: { listeners: [new BeforeSaveListener(both), new AfterSaveListener(both)] },
    hooks: [{ afterRun: () => clock.advance(500) }, new StepLoggerHook({ loss: model.loss, everySteps: 2, clock })],
  });
  t.same(told, ['before', 'after'], 'the listener asked for a stop');
  t.equal(at, 4);
  t.same(
    said.filter((text) => /^(loss|global_step)/.test(text)).map((text) => text.replace(/[\d.]{4,}/, 'x')),
    ['loss = x, step = 2', 'global_step/sec: 2', 'loss = x, step = 4', 'global_step/sec: 2'],
  );
});
