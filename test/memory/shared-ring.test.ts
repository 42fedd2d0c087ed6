import fc from 'fast-check';
import t from 'tap';
import type { MonolithError } from '../../src/base/errors.js';
import { CancelReason, type RingOptions, SharedRing } from '../../src/memory/shared-ring.js';

const buffer = new SharedArrayBuffer(65536);
const OFFSET = 128;

function make(options: Partial<RingOptions> = {}): SharedRing {
  return SharedRing.create(buffer, OFFSET, { capacity: 4, slotBytes: 4, name: 'test', ...options });
}

t.test('items come out in the order they went in, over many laps', async (t) => {
  const ring = make({ capacity: 3, slotBytes: 8 });
  const into = new Int32Array(2);
  for (let i = 0; i < 50; i++) {
    t.ok(ring.tryPush([i, -i]));
    t.ok(ring.tryPop(into));
    t.same([...into], [i, -i]);
  }
  t.match(ring.stats(), { pushes: 50, pops: 50, size: 0, capacity: 3, pushWaits: 0, popWaits: 0 });
});

t.test('a full ring refuses and an empty one has nothing, at every capacity', async (t) => {
  for (const capacity of [1, 2, 3, 4, 5, 7, 8]) {
    const ring = make({ capacity });
    for (let i = 0; i < capacity; i++) t.ok(ring.tryPushU32(i));
    t.notOk(ring.tryPushU32(99), `capacity ${capacity}`);
    t.equal(ring.size, capacity);
    for (let i = 0; i < capacity; i++) t.equal(ring.tryPopU32(), i);
    t.equal(ring.tryPopU32(), -1);
  }
});

t.test('words above 2^31 keep their value', async (t) => {
  const ring = make();
  ring.tryPushU32(0xffffffff);
  t.equal(ring.tryPopU32(), 0xffffffff);
});

t.test('another thread finds the ring by its offset, and nothing where there is none', async (t) => {
  const ring = make({ name: 'batches', slotBytes: 12 });
  const same = SharedRing.attach(buffer, OFFSET);
  t.equal(same.name, 'batches');
  t.equal(same.slotBytes, 12);
  ring.tryPush([1, 2, 3]);
  const into = new Uint32Array(3);
  t.ok(same.tryPop(into));
  t.same([...into], [1, 2, 3]);
  t.throws(() => SharedRing.attach(buffer, 32768), { code: 'ML_BOUNDS' });
  t.throws(() => SharedRing.create(buffer, 65536 - 64, { capacity: 1, slotBytes: 4 }), { code: 'ML_BOUNDS' });
});

t.test('a closed ring refuses pushes, hands out what is left, then says so', async (t) => {
  const ring = make();
  ring.tryPushU32(7);
  ring.close();
  t.ok(ring.closed);
  t.throws(() => ring.tryPushU32(8), { code: 'ML_CLOSED', fields: { what: 'ring test' } });
  t.equal(ring.tryPopU32(), 7);
  t.throws(() => ring.tryPopU32(), { code: 'ML_CLOSED' });
  await t.rejects(ring.popU32Async(1000), { code: 'ML_CLOSED' });
});

t.test('a cancelled ring delivers nothing and keeps the first reason', async (t) => {
  const ring = make();
  ring.tryPushU32(7);
  ring.cancel(CancelReason.failed);
  ring.cancel(CancelReason.stopped);
  t.equal(ring.cancelled, CancelReason.failed);
  const wanted = { code: 'ML_CANCELLED', fields: { what: 'ring test', reason: 'failed' } };
  t.throws(() => ring.tryPushU32(8), wanted);
  t.throws(() => ring.tryPopU32(), wanted);
  await t.rejects(ring.pushU32Async(8, 1000), wanted);
});

for (const polling of [false, true]) {
  t.test(`waits of the main thread, ${polling ? 'polling' : 'woken'}`, async (t) => {
    const prepared = (options: Partial<RingOptions> = {}): SharedRing => {
      const ring = make(options);
      ring.polling = polling;
      return ring;
    };

    t.test('end with the item, or with space for one', async (t) => {
      const ring = prepared({ capacity: 1 });
      const popped = ring.popU32Async(10_000);
      ring.tryPushU32(5);
      t.equal(await popped, 5);
      ring.tryPushU32(6);
      const pushed = ring.pushAsync([7], 10_000);
      t.equal(ring.tryPopU32(), 6);
      await pushed;
      t.equal(ring.tryPopU32(), 7);
      t.match(ring.stats(), { pushWaits: 1, popWaits: 1 });
    });

    t.test('end at their limit with the name of the ring', async (t) => {
      const ring = prepared({ capacity: 1 });
      const what = { code: 'ML_TIMEOUT', fields: { what: 'pop from ring test', timeoutMs: 5 } };
      await t.rejects(ring.popU32Async(5), what);
      ring.tryPushU32(1);
      await t.rejects(ring.pushU32Async(2, 0), { code: 'ML_TIMEOUT', fields: { what: 'push to ring test' } });
      t.equal(await ring.waitForSpace(1), false);
      t.equal(ring.tryPopU32(), 1, 'what did not get in is not there');
      t.equal(ring.tryPopU32(), -1);
      t.equal(await ring.waitForSpace(1), true);
    });

    t.test('end when the ring is closed or cancelled or the caller gives up', async (t) => {
      const closed = prepared();
      const waiting: Promise<unknown>[] = [closed.popU32Async(10_000), closed.popAsync(new Int32Array(1), 10_000)];
      closed.close();
      for (const wait of waiting) await t.rejects(wait, { code: 'ML_CLOSED' });
      const cancelled = prepared({ capacity: 1 });
      cancelled.tryPushU32(1);
      const pushing = cancelled.pushU32Async(2, 10_000);
      cancelled.cancel(CancelReason.stopped);
      await t.rejects(pushing, { code: 'ML_CANCELLED', fields: { reason: 'stopped' } });
      const controller = new AbortController();
      const left = prepared().popU32Async(10_000, controller.signal);
      controller.abort();
      await t.rejects(left, { code: 'ML_CANCELLED', fields: { reason: 'the caller gave up' } });
    });

    t.test('of a pusher last until the ring has run low', async (t) => {
      const ring = prepared({ capacity: 4, lowWater: 1 });
      for (let i = 0; i < 4; i++) ring.tryPushU32(i);
      let pushed = false;
      const pushing = ring.pushU32Async(4, 10_000).then(() => {
        pushed = true;
      });
      ring.tryPopU32();
      ring.tryPopU32();
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      t.notOk(pushed, 'two items are left');
      ring.tryPopU32();
      await pushing;
      t.same([ring.tryPopU32(), ring.tryPopU32()], [3, 4]);
    });
  });
}

t.test('the main thread may not block', async (t) => {
  const ring = make();
  t.throws(() => ring.popU32(10), /main thread/);
  t.throws(() => ring.pushU32(1, 10), /main thread/);
  t.throws(() => ring.push([1], 10), /main thread/);
  t.throws(() => ring.pop(new Int32Array(1), 10), /main thread/);
  t.throws(() => SharedRing.bytesFor(0, 4), /slots/);
  t.throws(() => SharedRing.bytesFor(4, 6), /words/);
  await t.rejects(ring.popU32Async(Number.POSITIVE_INFINITY), /limit/);
});

t.test('the ring behaves as a plain queue, also where positions wrap', async () => {
  const operation = fc.oneof(
    { weight: 10, arbitrary: fc.constant('push' as const) },
    { weight: 9, arbitrary: fc.constant('pop' as const) },
    { weight: 1, arbitrary: fc.constantFrom('close' as const, 'cancel' as const) },
  );
  const model = fc.record({
    capacity: fc.integer({ min: 1, max: 9 }),
    slotWords: fc.integer({ min: 1, max: 3 }),
    firstPosition: fc.constantFrom(0, 0x7ffffff0, -8, -2, -0x80000000),
    operations: fc.array(operation, { maxLength: 120 }),
  });
  fc.assert(
    fc.property(model, ({ capacity, slotWords, firstPosition, operations }) => {
      const ring = make({ capacity, slotBytes: slotWords * 4, firstPosition });
      const queue: number[][] = [];
      let ended: 'closed' | 'cancelled' | null = null;
      let next = 0;
      for (const operation of operations) {
        if (operation === 'push') {
          const words = Array.from({ length: slotWords }, (_, i) => next * 10 + i);
          const wanted = ended === null ? queue.length < capacity : codeOf(ended);
          equal(
            outcome(() => ring.tryPush(words)),
            wanted,
          );
          if (wanted === true) queue.push(words);
          next++;
        } else if (operation === 'pop') {
          const into = new Int32Array(slotWords);
          const dry = ended === 'cancelled' || (ended === 'closed' && queue.length === 0);
          equal(
            outcome(() => ring.tryPop(into)),
            dry ? codeOf(ended!) : queue.length > 0,
          );
          if (!dry && queue.length > 0) equal([...into].join(), queue.shift()!.join());
        } else if (operation === 'close') {
          ring.close();
          ended ??= 'closed';
        } else {
          ring.cancel(CancelReason.stopped);
          ended = 'cancelled';
        }
        equal(ring.size, queue.length);
      }
    }),
    { numRuns: 300 },
  );
});

function codeOf(ended: 'closed' | 'cancelled'): string {
  return ended === 'closed' ? 'ML_CLOSED' : 'ML_CANCELLED';
}

function outcome(call: () => boolean): boolean | string {
  try {
    return call();
  } catch (error) {
    return (error as MonolithError).code;
  }
}

function equal(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`found ${found}, wanted ${wanted}`);
}
