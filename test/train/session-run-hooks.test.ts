/** Upstream's session_run_hooks_test by its names, in sessions, and what waits owe beyond it. */
import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment } from '../../src/graph/ops/state.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { CustomGlobalStepWaiterHook } from '../../src/train/hooks/step-waiter.js';
import { before, TideStoppingHook, tideAvailableNow } from '../../src/train/hooks/tide.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession } from '../runtime/with-session.js';
import { FakeClock, fixedIntegers } from '../support/fake-clock.js';

const at = (time: string) => Date.parse(`2012-01-14T${time}:00Z`);

/** One run with the hook; whether it asked for a stop. */
async function stopsWith(
  t: import('tap').Test,
  hook: TrainHook,
  body?: (monitored: MonitoredSession) => void,
): Promise<boolean> {
  const graph = new Graph();
  const step = increment(globalStep(graph)) as Op;
  const monitored = await MonitoredSession.create({ graph, hooks: [hook], createSession: () => openSession(graph) });
  t.teardown(() => monitored.close());
  body?.(monitored);
  await monitored.run([step]);
  return monitored.shouldStop;
}

t.test('a time of day comes before another by hour and minute', async (t) => {
  t.ok(before(1, 30, 2, 0) && before(1, 30, 1, 31));
  t.notOk(before(2, 0, 1, 30) || before(1, 30, 1, 30));
});

t.test('a window is open from its start up to its end, past midnight too', async (t) => {
  const open = (now: string, startHour: number, endHour: number) =>
    tideAvailableNow({ startHour, startMinute: 15, endHour, endMinute: 45 }, new FakeClock(at(now)));
  const cases: [string, number, number, boolean][] = [
    ['01:15', 1, 5, true],
    ['01:14', 1, 5, false],
    ['05:44', 1, 5, true],
    ['05:45', 1, 5, false],
    ['23:00', 22, 6, true],
    ['03:00', 22, 6, true],
    ['06:45', 22, 6, false],
    ['22:14', 22, 6, false],
  ];
  for (const [now, start, end, wanted] of cases) t.equal(open(now, start, end), wanted, `${now} in ${start} to ${end}`);
});

t.test('TideStoppingHookTest.test_stop_if_tide_not_available', async (t) => {
  const lines: string[] = [];
  const sink = setLogSink((_level, event) => void lines.push(event));
  t.teardown(() => setLogSink(sink));
  t.equal(await stopsWith(t, new TideStoppingHook({ startHour: 1, endHour: 5 }, new FakeClock(at('10:00')))), true);
  t.same(lines, ['Last hour in tide queue. Saving ckpt...']);
});

t.test('TideStoppingHookTest.test_do_not_stop_if_tide_available', async (t) => {
  t.equal(await stopsWith(t, new TideStoppingHook({ startHour: 1, endHour: 12 }, new FakeClock(at('10:00')))), false);
});

t.test('CustomGlobalStepWaiterHookTest: a worker waits for the step, and no longer', async (t) => {
  let session: MonitoredSession['session'] | undefined;
  const reach = (step: bigint) => session?.writeVariable('global_step', BigInt64Array.of(step));
  const clock = new FakeClock(0, (nowMs) => nowMs >= 5000 && reach(1000n));
  const hook = new CustomGlobalStepWaiterHook({ waitUntilStep: 1000, clock });
  const stopped = await stopsWith(t, hook, (monitored) => {
    session = monitored.session;
  });
  t.equal(stopped, false);
  t.same([clock.now(), new Set(clock.sleeps).size, clock.sleeps[0]], [5000, 1, 500], 'it looks twice a second');
});

t.test('CustomGlobalStepWaiterHookTest: with nothing to wait for it starts at once', async (t) => {
  const clock = new FakeClock();
  await stopsWith(t, new CustomGlobalStepWaiterHook({ waitUntilStep: 0, clock }));
  t.same(clock.sleeps, []);
});

t.test('CustomGlobalStepWaiterHookTest: outside of the window it stops', async (t) => {
  const clock = new FakeClock(at('10:00'));
  const hook = new CustomGlobalStepWaiterHook({ waitUntilStep: 10, tide: { startHour: 1, endHour: 5 }, clock });
  t.equal(await stopsWith(t, hook), true);
});

t.test('a worker starts anyway some time after the first steps, and tells that it waits', async (t) => {
  const lines: string[] = [];
  const sink = setLogSink((_level, event) => void lines.push(event));
  t.teardown(() => setLogSink(sink));
  const clock = new FakeClock();
  const hook = new CustomGlobalStepWaiterHook({
    waitUntilStep: 1_000_000,
    maxNonTideWaitMinute: 2,
    clock,
    random: fixedIntegers(30),
  });
  const stopped = await stopsWith(t, hook, ({ session }) => session.writeVariable('global_step', BigInt64Array.of(2n)));
  t.equal(stopped, false);
  t.equal(clock.now(), 150_000);
  t.equal(lines.length, 2, 'once a minute');
});

t.test('a stop ends the wait', async (t) => {
  let monitored: MonitoredSession | undefined;
  const clock = new FakeClock(0, (nowMs) => nowMs === 1000 && monitored?.requestStop());
  const hook = new CustomGlobalStepWaiterHook({ waitUntilStep: 1_000_000, clock });
  t.equal(
    await stopsWith(t, hook, (made) => {
      monitored = made;
    }),
    true,
  );
  t.same(clock.sleeps, [500, 500]);
});
