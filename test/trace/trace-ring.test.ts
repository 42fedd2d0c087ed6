import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { TRACE_RING } from '../../src/memory/trace-layout.js';
import { Views } from '../../src/memory/views.js';
import { keptCount, readRing, type TraceEvent } from '../../src/trace/read-ring.js';
import { TraceRing } from '../../src/trace/trace-ring.js';

const PTR = 4096;
const views = new Views(createSharedMemory(1 << 20).buffer);

/** What a ring must give back for `event`: times moved to the shared clock, f32 arguments rounded. */
type Written = { kind: TraceEvent['kind']; nameId: number; startMs: number; value: number };

const written: fc.Arbitrary<Written> = fc.record({
  kind: fc.constantFrom('span', 'counter', 'instant', 'begin', 'end'),
  nameId: fc.nat({ max: 2 ** 24 - 1 }),
  startMs: fc.double({ min: 0.001, max: 1e9, noNaN: true }),
  value: fc.nat({ max: 2 ** 32 - 1 }),
});

function write(ring: TraceRing, { kind, nameId, startMs, value }: Written): void {
  if (kind === 'span') ring.span(nameId, startMs, startMs + value);
  else ring[kind](nameId, value, startMs);
}

function expected({ kind, nameId, startMs, value }: Written, originMs: number): TraceEvent {
  const timeMs = startMs + originMs;
  if (kind === 'span') return { kind, nameId, timeMs, durationUs: Math.fround((startMs + value - startMs) * 1000) };
  if (kind === 'counter') return { kind, nameId, timeMs, value: Math.fround(value) };
  return { kind, nameId, timeMs, argument: value };
}

t.test('a ring holds the last events of any sequence, in order, and counts the rest as lost', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.array(fc.oneof({ weight: 9, arbitrary: written }, { weight: 1, arbitrary: fc.boolean() }), { maxLength: 80 }),
      (log2, steps) => {
        const ring = TraceRing.create(views, PTR, { capacity: 2 ** log2, thread: 3 });
        const model: TraceEvent[] = [];
        for (const step of steps) {
          if (typeof step === 'boolean') ring.on = step;
          else {
            if (ring.on) model.push(expected(step, ring.originMs));
            write(ring, step);
          }
        }
        const contents = readRing(views, PTR);
        assert.deepEqual(contents.events, model.slice(-ring.capacity));
        assert.equal(contents.lost, Math.max(0, model.length - ring.capacity));
        assert.equal(contents.written, model.length);
        assert.equal(ring.lost, contents.lost);
      },
    ),
    { numRuns: 150 },
  );
});

t.test('counting goes on when the 32-bit counter wraps', async (t) => {
  const ring = TraceRing.create(views, PTR, { capacity: 4, thread: 0 });
  views.u32[PTR / 4 + TRACE_RING.written] = 0xfffffffe;
  for (let i = 1; i <= 5; i++) ring.instant(i, 0, i);
  t.equal(views.u32[PTR / 4 + TRACE_RING.wraps], 1);
  const contents = readRing(views, PTR);
  t.equal(contents.written, 2 ** 32 + 3);
  t.equal(contents.lost, 2 ** 32 - 1);
  t.same(
    contents.events.map((event) => event.nameId),
    [2, 3, 4, 5],
  );
});

t.test('a ring that is off records nothing and reads no clock', async (t) => {
  const ring = TraceRing.create(views, PTR, { capacity: 4, thread: 0, on: false });
  t.equal(ring.now(), 0);
  ring.instant(1, 1, 1);
  t.equal(ring.written, 0);
  const start = ring.now();
  ring.on = true;
  ring.span(1, start, ring.now());
  t.equal(ring.written, 0, 'a span that began while the ring was off has no start');
  t.ok(ring.now() > 0);
});

t.test('a ring refuses a block that cannot hold it', async (t) => {
  const create = (ptr: number, capacity: number) => () => TraceRing.create(views, ptr, { capacity, thread: 0 });
  t.throws(create(0, 4), { code: 'ML_BOUNDS' }, 'null pointer');
  t.throws(create(PTR, 3), { code: 'ML_BOUNDS' }, 'not a power of two');
  t.throws(create(PTR, 0), { code: 'ML_BOUNDS' }, 'empty');
  t.throws(create(PTR + 4, 4), { code: 'ML_BOUNDS' }, 'misaligned');
  t.throws(create((1 << 20) - 64, 1), { code: 'ML_BOUNDS' }, 'past the end');
  views.u32[PTR / 4] = 12;
  t.throws(() => TraceRing.attach(views, PTR), { code: 'ML_BOUNDS' }, 'not a ring');
});

t.test('records that may have been overwritten during a copy are not kept', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.nat({ max: 80 }),
      fc.integer({ min: 1, max: 80 }),
      (log2, before, more) => {
        const capacity = 2 ** log2;
        const after = before + more;
        // Slots the writer finished while the copy was made, and the one it may be in.
        const touched = new Set(Array.from({ length: more + 1 }, (_, index) => (before + index) % capacity));
        const held = Array.from({ length: Math.min(before, capacity) }, (_, index) => (before - 1 - index) % capacity);
        const firstTouched = held.findIndex((slot) => touched.has(slot));
        assert.equal(keptCount(capacity, before, after), firstTouched < 0 ? held.length : firstTouched);
      },
    ),
  );
  t.equal(keptCount(8, 20, 20), 8, 'a writer at rest loses nothing');
  t.equal(keptCount(8, 3, 3), 3);
});
