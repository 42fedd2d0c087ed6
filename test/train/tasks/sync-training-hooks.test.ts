/** @file Hooks of workers in step: files, hours and request times decide when they save and stop, for all of them. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { setLogSink } from '../../../src/base/log.js';
import { f } from '../../../src/data/fields.js';
import { defineSchema } from '../../../src/data/schema.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import { KvBroadcast } from '../../../src/train/hooks/broadcast.js';
import { saveTimer } from '../../../src/train/hooks/checkpoint-saver.js';
import { LocalControlKv } from '../../../src/train/hooks/control-kv.js';
import type { RunContext } from '../../../src/train/hooks/hook.js';
import {
  ReqTimeControlDumpHook,
  SyncTrainingBarrierSaverListener,
  SyncTrainingForceDumpHook,
  SyncTrainingInfoHook,
  SyncTrainingSaverControlHook,
} from '../../../src/train/tasks/sync-training-hooks.js';
import { deepfm } from '../../../src/zoo/deep.js';

/** A timer that notes what is done to it. */
function noting() {
  const calls: string[] = [];
  const timer = {
    enable: () => void calls.push('enable'),
    disable: () => void calls.push('disable'),
    reset: () => void calls.push('reset'),
  };
  return { calls, timer };
}

/** A clock that a test moves. */
function clockAt(hour: number) {
  let nowMs = Date.UTC(2026, 0, 1, hour);
  const sleep = async (ms: number) => {
    nowMs += ms;
  };
  return { now: () => nowMs, sleep };
}

function at(globalStep: number) {
  const stops: number[] = [];
  return { stops, context: { globalStep, requestStop: () => stops.push(globalStep) } as unknown as RunContext };
}

t.test('SyncTrainingForceDumpHook goes by files of the step and by the hour', async (t) => {
  const dir = t.testdir({ dump_200: '', stop_300: '' });
  const run = async (step: number, hour: number) => {
    const { calls, timer } = noting();
    const hook = new SyncTrainingForceDumpHook(dir, timer, { clock: clockAt(hour) });
    const { stops, context } = at(step);
    await hook.afterRun(context);
    return [...calls, ...(stops.length > 0 ? ['stop'] : [])];
  };
  t.same(await run(99, 12), [], 'only at multiples of the interval');
  t.same(await run(100, 12), ['disable']);
  for (const hour of [18, 20]) t.same(await run(100, hour), ['enable']);
  for (const hour of [17, 21]) t.same(await run(100, hour), ['disable']);
  t.same(await run(200, 12), ['disable', 'enable', 'reset']);
  t.same(await run(300, 12), ['disable', 'enable', 'reset', 'stop']);
  const { timer } = noting();
  const hook = new SyncTrainingForceDumpHook(dir, timer, { stepInterval: 10 });
  t.same([hook.quietSteps(0), hook.quietSteps(7), hook.quietSteps(10)], [10, 3, 10]);
  t.throws(() => new SyncTrainingForceDumpHook(dir, timer, { stepInterval: 0 }), { code: 'ML_OPTION' });
  t.throws(() => new SyncTrainingForceDumpHook(dir, timer, { stepInterwal: 1 } as never), {
    code: 'ML_OPTION',
    hint: /stepInterval/,
  });
});

t.test('what rank 0 saw is done by all, and who hears nothing fails by the limit', async (t) => {
  const dir = t.testdir({ stop_100: '' });
  const kv = new LocalControlKv();
  const workers = [0, 1].map((rank) => {
    const { calls, timer } = noting();
    const clock = clockAt(12);
    const broadcast = new KvBroadcast({ kv, rank, name: 'dump', clock });
    // The other workers have a folder of their own, where nobody made a file.
    const hook = new SyncTrainingForceDumpHook(rank === 0 ? dir : join(dir, 'none'), timer, { broadcast, clock });
    return { calls, hook, ...at(100) };
  });
  await Promise.all(workers.map(({ hook, context }) => hook.afterRun(context)));
  for (const { calls, stops } of workers) t.same([calls, stops], [['disable', 'enable', 'reset'], [100]]);
  const late = new KvBroadcast({ kv, rank: 1, name: 'nobody', clock: clockAt(0) });
  await t.rejects(late.broadcast([], 10_000), { code: 'ML_DEADLINE', message: /broadcast of nobody/ });
});

t.test('SyncTrainingSaverControlHook lets the timer save while there is ONLINE', async (t) => {
  const dir = t.testdir({});
  const { calls, timer } = noting();
  const hook = new SyncTrainingSaverControlHook(dir, timer);
  await hook.afterRun(at(100).context);
  writeFileSync(join(dir, 'ONLINE'), '');
  await hook.afterRun(at(150).context);
  await hook.afterRun(at(200).context);
  t.same(calls, ['disable', 'enable']);
});

t.test('SyncTrainingBarrierSaverListener only logs what goes wrong', async (t) => {
  const told: string[] = [];
  const before = setLogSink((_, event) => told.push(event));
  t.teardown(() => setLogSink(before));
  await new SyncTrainingBarrierSaverListener().afterSave({} as never, 5);
  const clock = clockAt(0);
  const alone = new KvBroadcast({ kv: new LocalControlKv(), rank: 1, name: 'barrier', clock });
  await new SyncTrainingBarrierSaverListener(alone).afterSave({} as never, 5);
  t.equal(told.length, 1);
  t.match(told[0], /^barrier error: the broadcast of barrier was not done within 10000 ms/);
});

const schema = defineSchema({ item: f.id(), when: f.time(), bought: f.label() });
const rows = Array.from({ length: 400 }, (_, at) => ({ item: at % 31, when: 1_700_000_000 + at, bought: at % 2 }));

t.test(
  'in a training: request times stop it, tables are told of, and a held back timer saves when asked',
  async (t) => {
    const dir = t.testdir({ limit_req_time: '1700000150\n' });
    const modelDir = join(dir, 'run');
    const told: string[] = [];
    const before = setLogSink((_, event) => told.push(event));
    t.teardown(() => setLogSink(before));
    const timer = saveTimer({ everySteps: 1000 });
    const estimator = new Estimator(deepfm(schema, { dim: 4, hidden: [4] }), {
      modelDir,
      batchSize: 20,
      threads: 1,
      saveEverySteps: 1000,
      saver: { timer },
      session: { memoryBytes: 2 ** 27 },
    });
    t.teardown(() => estimator.close());
    const clock = clockAt(3);
    const hooks = [
      new ReqTimeControlDumpHook(dir, timer, { stepInterval: 2 }),
      new SyncTrainingForceDumpHook(dir, timer, { stepInterval: 2, clock }),
      new SyncTrainingInfoHook({ clock }),
    ];
    writeFileSync(join(dir, 'dump_4'), '');
    const { step } = await estimator.train(rows, { epochs: 1, hooks: () => hooks } as never);
    t.equal(step, 8, 'the first look at which the data is past the limit: 20 rows a step');
    t.ok(existsSync(join(modelDir, 'model.ckpt-5.index')), 'the file asked for a save at the next look');
    t.ok(
      told.some((event) => /^\*\*\* info: \{.*20/.test(event)),
      told.join('\n'),
    );
    writeFileSync(join(dir, 'limit_req_time'), 'tomorrow');
    const again = new ReqTimeControlDumpHook(dir, timer, { stepInterval: 2 });
    t.match(await estimator.train(rows, { steps: 4, hooks: () => [again] } as never), { stoppedBy: 'steps' });
    t.ok(told.includes('the file holds no time in seconds'));
  },
);
