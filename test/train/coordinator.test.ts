import t from 'tap';
import { systemClock } from '../../src/base/clock.js';
import { Coordinator } from '../../src/train/hooks/coordinator.js';
import { FakeClock } from '../support/fake-clock.js';

t.test('a stop is asked for once and wakes who waits for it', async (t) => {
  const coordinator = new Coordinator();
  t.equal(coordinator.shouldStop, false);
  const started = performance.now();
  const waiting = coordinator.waitForStop(60_000);
  coordinator.requestStop();
  t.equal(await waiting, true);
  t.ok(performance.now() - started < 30_000, 'long before the time was up');
  t.equal(await coordinator.waitForStop(60_000), true, 'it holds');
  t.equal(coordinator.failure, undefined);
});

t.test('a wait without a stop ends by itself', async (t) => {
  const clock = new FakeClock();
  t.equal(await new Coordinator(clock).waitForStop(1234), false);
  t.same(clock.sleeps, [1234]);
});

t.test('the first error of a stop is kept', async (t) => {
  const coordinator = new Coordinator();
  coordinator.requestStop();
  coordinator.requestStop(new Error('first'));
  coordinator.requestStop(new Error('second'));
  t.match(coordinator.failure, { error: { message: 'first' } });
  coordinator.resume();
  t.equal(coordinator.shouldStop, true, 'an error is not taken back');
});

t.test('a task that fails stops the session with its error', async (t) => {
  const coordinator = new Coordinator();
  coordinator.register(Promise.resolve('fine'));
  coordinator.register(Promise.reject(new Error('a producer died')));
  t.equal(await coordinator.join(1000), true);
  t.equal(coordinator.shouldStop, true);
  t.match(coordinator.failure, { error: { message: 'a producer died' } });
});

t.test('joining gives up on a task that does not end', async (t) => {
  const coordinator = new Coordinator(new FakeClock());
  coordinator.register(new Promise(() => {}));
  t.equal(await coordinator.join(1000), false);
});

t.test('a stop without an error is taken back when the session goes on', async (t) => {
  const coordinator = new Coordinator();
  const { signal } = coordinator;
  coordinator.requestStop();
  coordinator.resume();
  t.equal(coordinator.shouldStop, false);
  t.ok(signal.aborted && !coordinator.signal.aborted, 'who waits now has a signal of its own');
});

t.test('a sleep ends early by its signal, and leaves no listener behind', async (t) => {
  const abort = new AbortController();
  const sleeping = systemClock.sleep(60_000, abort.signal);
  abort.abort();
  await sleeping;
  await systemClock.sleep(60_000, abort.signal);
  await systemClock.sleep(1);
  t.pass('nobody waited a minute');
});
