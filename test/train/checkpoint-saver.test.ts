import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { setLogSink } from '../../src/base/log.js';
import type { MetricsClient } from '../../src/base/metrics-client.js';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { getMonolithCheckpointState } from '../../src/checkpoint/monolith-state.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { readGraphJson } from '../../src/graph/graph-description.js';
import { Session } from '../../src/runtime/session/session.js';
import { CheckpointSaverHook, type CheckpointSaverOptions } from '../../src/train/hooks/checkpoint-saver.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import type { CheckpointSaverListener } from '../../src/train/hooks/saver-listener.js';
import { SecondOrStepTimerWithTideSetting } from '../../src/train/hooks/tide-timer.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { FakeClock } from '../support/fake-clock.js';
import { loadBatches, smallSession } from './ffm-run.js';

const indexes = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.index'))
    .sort();

/** Trains `steps` steps with a saver; `between` is run after each. */
async function train(
  t: Test,
  options: Partial<CheckpointSaverOptions>,
  steps = 4,
  between: (context: RunContext, saver: CheckpointSaverHook) => unknown = () => undefined,
): Promise<string> {
  const dir = options.modelDir ?? t.testdir();
  const model = buildFfm();
  const saver = new CheckpointSaverHook({ modelDir: dir, modelName: model.name, ...options });
  const after: TrainHook = {
    afterRun: async (context) => {
      await between(context, saver);
    },
  };
  const monitored = await MonitoredSession.create({
    graph: model.graph,
    hooks: [saver, after],
    createSession: () => Session.create(model.graph, smallSession()),
  });
  const [batch] = loadBatches(monitored.session);
  try {
    for (let step = 0; step < steps && !monitored.shouldStop; step++) await monitored.run([model.trainOp], batch!);
  } finally {
    await monitored.close();
  }
  return dir;
}

t.test('the timer: seconds or steps, other seconds outside of the window, off and on, the first call', async (t) => {
  const clock = new FakeClock(Date.UTC(2012, 0, 14, 2));
  const tide = { startHour: 1, endHour: 3 };
  const timer = new SecondOrStepTimerWithTideSetting({ everySecs: 10, tide, tideEverySecs: 3600, clock });
  t.equal(timer.shouldTriggerForStep(5), true, 'the first');
  t.equal(timer.updateLastTriggeredStep(5), null);
  clock.advance(11_000);
  t.equal(timer.shouldTriggerForStep(5), false, 'the same step');
  t.equal(timer.shouldTriggerForStep(6), true);
  timer.disable();
  t.equal(timer.shouldTriggerForStep(6), false);
  timer.enable();
  t.same(timer.updateLastTriggeredStep(6), { secs: 11, steps: 1 });
  clock.advance(3_580_000);
  t.equal(timer.shouldTriggerForStep(7), true, '2:59 is in the window');
  clock.advance(19_000);
  t.equal(timer.shouldTriggerForStep(7), false, '3:00 is not');
  clock.advance(1_000);
  t.equal(timer.shouldTriggerForStep(7), true);
  timer.updateLastTriggeredStep(7);
  timer.reset();
  t.equal(timer.shouldTriggerForStep(7), true);
  const steps = new SecondOrStepTimerWithTideSetting({ everySteps: 3 });
  steps.updateLastTriggeredStep(4);
  t.same(
    [6, 7].map((step) => steps.shouldTriggerForStep(step)),
    [false, true],
  );
  t.throws(() => new SecondOrStepTimerWithTideSetting({ everySteps: 3, everySecs: 1 }), {
    message: /Can not provide both save_checkpoints_secs and save_checkpoints_steps\./,
  });
});

t.test(
  'a save leaves state files and descriptions of the graph beside it, and how many are kept is up to options',
  async (t) => {
    const clock = new FakeClock(1_700_000_000_000);
    const dir = await train(t, {
      everySteps: 1,
      keep: 2,
      exempt: ['model.ckpt-1'],
      clock,
      useNativeMultiHashTable: true,
    });
    t.same(indexes(dir), ['model.ckpt-1.index', 'model.ckpt-3.index', 'model.ckpt-4.index']);
    t.same(getMonolithCheckpointState(dir), {
      exemptModelCheckpointPaths: [],
      lastCheckpointSaveTimestamp: 1_700_000_000n,
      builtinHashTableType: 'MULTI_CUCKOO_HASH_MAP',
    });
    for (const file of ['meta_graph_for_debugging.pb', 'model.ckpt-4.meta']) {
      t.ok(readGraphJson(readFileSync(join(dir, file), 'utf8'), file));
    }
    t.notOk(existsSync(join(dir, 'model.ckpt-2.meta')), 'it goes with its checkpoint');
    const plain = await train(t, { isRootNode: false, writeMetaGraph: false, modelDir: join(dir, 'plain') });
    t.same(
      readdirSync(plain).filter((name) => !name.startsWith('model.ckpt-4')),
      ['checkpoint'],
    );
  },
);

t.test('by seconds: looked at after each group of steps', async (t) => {
  const clock = new FakeClock();
  const dir = await train(t, { everySecs: 10, clock }, 5, () => clock.advance(5000));
  t.same(indexes(dir), ['model.ckpt-2.index', 'model.ckpt-4.index', 'model.ckpt-5.index']);
});

t.test('one checkpoint per so many hours stays for good', async (t) => {
  const clock = new FakeClock(Date.now() - 30 * 3_600_000);
  const dir = await train(t, { everySteps: 1, keep: 1, keepCheckpointEveryNHours: 24, clock });
  t.same(indexes(dir), ['model.ckpt-1.index', 'model.ckpt-4.index'], 'the first one that is newer than the mark');
});

t.test('listeners and guards: their order, a stop, and two attempts', async (t) => {
  const told: string[] = [];
  const listener = (name: string, own: CheckpointSaverListener = {}): CheckpointSaverListener => ({
    begin: () => void told.push(`${name} begin`),
    beforeSave: (_, step) => void told.push(`${name} before ${step}`),
    afterSave: (_, step) => void told.push(`${name} after ${step}`),
    end: (_, step) => void told.push(`${name} end ${step}`),
    ...own,
  });
  const guardListeners = [listener('g1'), listener('g2')];
  const dir = await train(t, {
    everySteps: 2,
    listeners: [listener('a'), listener('b', { afterSave: () => true })],
    guardListeners,
  });
  t.same(told, [
    'a begin',
    'b begin',
    'g1 before 2',
    'g2 before 2',
    'a before 2',
    'b before 2',
    'a after 2',
    'g2 after 2',
    'g1 after 2',
    'a end 2',
    'b end 2',
  ]);
  t.same(indexes(dir), ['model.ckpt-2.index'], 'the second asked for a stop');

  told.length = 0;
  let attempts = 0;
  const counts: Record<string, number> = {};
  const metrics = {
    emitCounter: (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    },
    emitTimer: () => undefined,
  } as unknown as MetricsClient;
  const failing = {
    beforeSave: () => {
      attempts++;
      throw new Error('no');
    },
  };
  const failed: number[] = [];
  const failures = {
    guardListeners: [
      listener('g', {
        beforeSave: () => {
          throw new Error('of its own');
        },
      }),
    ],
    listeners: [failing],
    onSaveFailed: (step: number) => void failed.push(step),
    metrics,
  };
  const before = setLogSink(() => undefined);
  t.teardown(() => setLogSink(before));
  await train(t, { ...failures, noFirstSave: false, ignoreSaveErrors: true }, 1);
  t.equal(attempts, 4, 'two for the first save, two for the last');
  t.same(failed, [0, 1]);
  t.same(counts, { save_checkpoint_failed: 4 });
  t.ok(told.includes('g after 0'));
  await t.rejects(
    train(t, { ...failures, everySteps: 1 }, 1),
    /no/,
    'what is no error of files is not ignored unless told',
  );
  attempts = 0;
  const once = {
    beforeSave: () => {
      if (attempts++ === 0) throw new Error('once');
    },
  };
  t.same(indexes(await train(t, { listeners: [once] }, 1)), ['model.ckpt-1.index'], 'the second attempt worked');
});

t.test("a save that is triggered comes at once, and its failure is the caller's", async (t) => {
  const dir = await train(t, {}, 3, (context, saver) =>
    context.globalStep === 2 ? saver.triggerSave(context) : undefined,
  );
  t.same(indexes(dir), ['model.ckpt-2.index', 'model.ckpt-3.index']);
  const listeners = [
    {
      beforeSave: () => {
        throw new Error('no');
      },
    },
  ];
  const errors: unknown[] = [];
  const trigger = (context: RunContext, saver: CheckpointSaverHook) =>
    saver.triggerSave(context).catch((error) => errors.push(error));
  await train(
    t,
    { listeners, ignoreSaveErrors: true, onSaveFailed: () => undefined, modelDir: join(dir, 'x') },
    1,
    trigger,
  );
  t.match(errors, [/no/]);
});

t.test('variables alone are saved in between, but for the steps that are saved whole', async (t) => {
  const dir = t.testdir();
  const local = await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession(),
    modelDir: dir,
    steps: 7,
    saveEverySteps: 4,
    saver: { keep: 1 },
    denseOnly: { everySteps: 2 },
  });
  await local.train({ next: () => loadBatches(local.session)[0]! });
  await local.close();
  t.same(indexes(dir), ['model.ckpt-7.index']);
  t.same(indexes(join(dir, 'dense_only')), ['model.ckpt-2.index', 'model.ckpt-6.index']);
  t.same((await loadCheckpoint(join(dir, 'dense_only/model.ckpt-6'))).tables, []);
});
