import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import type { MonolithError } from '../../src/base/errors.js';
import { CancelReason, SharedRing } from '../../src/memory/shared-ring.js';
import type { RingReport, RingTask } from './ring-worker.js';

const SLOT_BYTES = 12;

function makeRing(capacity: number, lowWater: number): { buffer: SharedArrayBuffer; ring: SharedRing } {
  const buffer = new SharedArrayBuffer(SharedRing.bytesFor(capacity, SLOT_BYTES));
  // Positions wrap in the middle of each run.
  const options = { capacity, slotBytes: SLOT_BYTES, name: 'stress', lowWater, firstPosition: -400 };
  return { buffer, ring: SharedRing.create(buffer, 0, options) };
}

/** Threads are started once, for a thread costs more than the work of a test. */
const threads: Worker[] = [];
const idle: Worker[] = [];

function startThread(): Worker {
  const worker = new Worker(new URL('./ring-worker.js', import.meta.url), { execArgv: [] });
  threads.push(worker);
  return worker;
}

async function run(task: RingTask): Promise<RingReport> {
  const worker = idle.pop() ?? startThread();
  worker.postMessage(task);
  const [report] = (await once(worker, 'message')) as [RingReport];
  idle.push(worker);
  return report;
}

t.teardown(() => Promise.all(threads.map((worker) => worker.terminate())));

interface Crew {
  readonly pushers: Promise<RingReport>[];
  readonly poppers: Promise<RingReport>[];
}

function startCrew(buffer: SharedArrayBuffer, pusherCount: number, popperCount: number, count: number): Crew {
  const start = (role: RingTask['role'], length: number, first: number): Promise<RingReport>[] =>
    Array.from({ length }, (_, i) => run({ buffer, role, id: first + i, count }));
  return { pushers: start('push', pusherCount, 1), poppers: start('pop', popperCount, 101) };
}

/** Each popper sees each pusher's items in order; returns per pusher how many came out, after checking for doubles. */
function checkOrder(reports: readonly RingReport[]): Map<number, number> {
  const seen = new Set<string>();
  for (const { popped } of reports) {
    const last = new Map<number, number>();
    for (let i = 0; i < popped.length; i += 2) {
      const [pusher, number] = [popped[i]!, popped[i + 1]!];
      if (number <= (last.get(pusher) ?? -1)) throw new Error(`item ${number} of pusher ${pusher} out of order`);
      last.set(pusher, number);
      if (seen.has(`${pusher}:${number}`)) throw new Error(`item ${number} of pusher ${pusher} came twice`);
      seen.add(`${pusher}:${number}`);
    }
  }
  const counts = new Map<number, number>();
  for (const key of seen) counts.set(Number(key.split(':')[0]), (counts.get(Number(key.split(':')[0])) ?? 0) + 1);
  return counts;
}

function checkComplete(pushers: readonly RingReport[], poppers: readonly RingReport[]): void {
  const counts = checkOrder(poppers);
  for (const { id, pushed } of pushers) {
    if ((counts.get(id) ?? 0) !== pushed) throw new Error(`pusher ${id} put ${pushed} in, ${counts.get(id)} came out`);
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const shape = fc.record({
  capacity: fc.integer({ min: 1, max: 20 }),
  lowWaterShare: fc.double({ min: 0, max: 0.99, noNaN: true }),
  pusherCount: fc.integer({ min: 1, max: 3 }),
  popperCount: fc.integer({ min: 1, max: 3 }),
});

t.test('threads lose nothing, double nothing and keep the order of each pusher', async () => {
  await fc.assert(
    fc.asyncProperty(shape, async ({ capacity, lowWaterShare, pusherCount, popperCount }) => {
      const { buffer, ring } = makeRing(capacity, Math.floor(capacity * lowWaterShare));
      const crew = startCrew(buffer, pusherCount, popperCount, 600);
      const pushers = await Promise.all(crew.pushers);
      ring.close();
      const poppers = await Promise.all(crew.poppers);
      for (const { ended } of pushers) if (ended !== null) throw new Error(`a pusher ended with ${ended}`);
      for (const { ended } of poppers) if (ended !== 'ML_CLOSED') throw new Error(`a popper ended with ${ended}`);
      checkComplete(pushers, poppers);
    }),
    { numRuns: 15 },
  );
});

t.test('what went in before a close in the middle comes out', async () => {
  await fc.assert(
    fc.asyncProperty(shape, fc.nat({ max: 900 }), async ({ capacity, pusherCount, popperCount }, closeAfter) => {
      const { buffer, ring } = makeRing(capacity, capacity - 1);
      const crew = startCrew(buffer, pusherCount, popperCount, Number.MAX_SAFE_INTEGER);
      await until(() => ring.stats().pops >= closeAfter);
      ring.close();
      const [pushers, poppers] = await Promise.all([Promise.all(crew.pushers), Promise.all(crew.poppers)]);
      for (const { ended } of [...pushers, ...poppers]) {
        if (ended !== 'ML_CLOSED') throw new Error(`a thread ended with ${ended}`);
      }
      checkComplete(pushers, poppers);
    }),
    { numRuns: 12 },
  );
});

t.test('a cancel in the middle ends every thread at once', async () => {
  await fc.assert(
    fc.asyncProperty(shape, fc.nat({ max: 600 }), async ({ capacity, pusherCount, popperCount }, cancelAfter) => {
      const { buffer, ring } = makeRing(capacity, capacity - 1);
      const crew = startCrew(buffer, pusherCount, popperCount, Number.MAX_SAFE_INTEGER);
      await until(() => ring.stats().pops >= cancelAfter);
      ring.cancel(CancelReason.stopped);
      const [pushers, poppers] = await Promise.all([Promise.all(crew.pushers), Promise.all(crew.poppers)]);
      for (const { ended } of [...pushers, ...poppers]) {
        if (ended !== 'ML_CANCELLED') throw new Error(`a thread ended with ${ended}`);
      }
      checkOrder(poppers);
    }),
    { numRuns: 8 },
  );
});

for (const polling of [false, true]) {
  t.test(`the main thread pops from other threads, ${polling ? 'polling' : 'woken'}`, async (t) => {
    const { buffer, ring } = makeRing(4, 1);
    ring.polling = polling;
    const crew = startCrew(buffer, 2, 0, 300);
    const pushed = Promise.all(crew.pushers).finally(() => ring.close());
    const popped: number[] = [];
    const words = new Int32Array(3);
    let ended: string | null = null;
    while (ended === null) {
      await ring.popAsync(words, 20_000).then(
        () => popped.push(words[0]!, words[1]!),
        (error: MonolithError) => {
          ended = error.code;
        },
      );
    }
    t.equal(ended, 'ML_CLOSED');
    checkComplete(await pushed, [{ id: 0, pushed: 0, popped: Int32Array.from(popped), ended }]);
  });
}

t.test('a sleeping thread is woken by a cancel, and by its limit', async (t) => {
  const { buffer, ring } = makeRing(1, 0);
  const [pusher] = startCrew(buffer, 1, 0, 2).pushers;
  await until(() => ring.stats().pushWaits === 1);
  ring.cancel(CancelReason.died);
  t.match(await pusher, { pushed: 1, ended: 'ML_CANCELLED' });
  const late = makeRing(1, 0);
  t.match(await run({ buffer: late.buffer, role: 'pop', id: 1, count: 0, limitMs: 5 }), { ended: 'ML_TIMEOUT' });
  t.match(await run({ buffer: late.buffer, role: 'push', id: 1, count: 2, limitMs: 5 }), {
    ended: 'ML_TIMEOUT',
    pushed: 1,
  });
});
