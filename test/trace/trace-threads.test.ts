import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { readRing } from '../../src/trace/read-ring.js';
import { measureClockOriginMs } from '../../src/trace/trace-clock.js';
import { TraceRing } from '../../src/trace/trace-ring.js';
import type { ClockWorkerData } from './clock-worker.js';
import type { LiveWriterData } from './live-writer-worker.js';

const ROUNDS = 64;
const TURN_PTR = 64;
const MAIN_PTR = 4096;
const WORKER_PTR = 16384;
/** Half of the widest interval the origins are measured to, of two threads, and as much again. */
const SLACK_MS = 0.002;

/** Main and a worker take turns; the times of both on the shared clock, in the order they really happened. */
async function takeTurns(shiftMs: number): Promise<number[]> {
  const views = new Views(createSharedMemory(65536).buffer);
  const main = TraceRing.create(views, MAIN_PTR, { capacity: ROUNDS, thread: 0 });
  TraceRing.create(views, WORKER_PTR, { capacity: ROUNDS, thread: 1 });
  const workerData: ClockWorkerData = {
    buffer: views.buffer,
    ringPtr: WORKER_PTR,
    turnPtr: TURN_PTR,
    rounds: ROUNDS,
    shiftMs,
  };
  const worker = new Worker(new URL('./clock-worker.js', import.meta.url), { execArgv: [], workerData });
  const exit = once(worker, 'exit');
  await once(worker, 'online');
  for (let round = 0; round < ROUNDS; round++) {
    main.instant(1, round, main.now());
    Atomics.store(views.i32, TURN_PTR / 4, round * 2 + 1);
    Atomics.notify(views.i32, TURN_PTR / 4);
    const answer = Atomics.wait(views.i32, TURN_PTR / 4, round * 2 + 1, 10_000);
    if (answer === 'timed-out') throw new Error('the worker did not take its turn');
  }
  await exit;
  const [mine, theirs] = [readRing(views, MAIN_PTR).events, readRing(views, WORKER_PTR).events];
  return mine.flatMap((event, round) => [event.timeMs, theirs[round]!.timeMs]);
}

for (const shiftMs of [0, -123_456.789, 1e6]) {
  t.test(
    `events of two threads are in their true order when the zero of one clock is moved by ${shiftMs} ms`,
    async (t) => {
      const times = await takeTurns(shiftMs);
      t.equal(times.length, 2 * ROUNDS);
      t.same(
        times.filter((time, index) => index > 0 && !(time >= times[index - 1]! - SLACK_MS)),
        [],
      );
    },
  );
}

t.test('a ring that is read while its thread writes gives an unbroken run of whole events', async (t) => {
  const views = new Views(createSharedMemory(65536).buffer);
  const ring = TraceRing.create(views, WORKER_PTR, { capacity: 2048, thread: 1 });
  const workerData: LiveWriterData = { buffer: views.buffer, ringPtr: WORKER_PTR };
  const worker = new Worker(new URL('./live-writer-worker.js', import.meta.url), { execArgv: [], workerData });
  const exit = once(worker, 'exit');
  await once(worker, 'message');
  const broken: unknown[] = [];
  const deadlineMs = performance.now() + 10_000;
  for (let live = 0; live < 50 && performance.now() < deadlineMs; ) {
    const { events, lost, written } = readRing(views, WORKER_PTR);
    if (lost + events.length !== written) broken.push({ lost, written, count: events.length });
    // The oldest may be half overwritten; the writer gives event n the argument n and the time n.
    for (const [index, event] of events.entries()) {
      const n = (lost + index + 1) >>> 0;
      const whole = event.kind === 'instant' && event.argument === n && event.nameId === n % 1000;
      if (index > 0 && !(whole && event.timeMs === n + ring.originMs)) broken.push({ n, event });
    }
    if (lost > 0 && events.length > 1) live++;
    await setImmediate();
  }
  ring.on = false;
  await exit;
  t.same(broken.slice(0, 3), []);
});

t.test('measuring the clock again gives the same origin', async (t) => {
  t.ok(Math.abs(measureClockOriginMs() - measureClockOriginMs()) <= SLACK_MS);
});
