import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { traceCounter, traceInstant, traceNow, traceOn, traceSpan } from '../../src/trace/trace-events.js';
import { TraceRing } from '../../src/trace/trace-ring.js';
import { KernelHarness } from './harness.js';

const harness = await KernelHarness.create(1 << 20);
const { views, wasm } = harness;

const call = fc.record({
  kernel: fc.constantFrom('span', 'counter', 'instant'),
  nameId: fc.nat({ max: 0xffffffff }),
  a: fc.double({ min: -10, max: 1e9, noNaN: true }),
  b: fc.double({ noNaN: true }),
});

t.test('the kernel and the plain writer leave the same bytes', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 }), fc.boolean(), fc.array(call, { maxLength: 40 }), (log2, on, calls) =>
      harness.scope(() => {
        const capacity = 2 ** log2;
        const bytes = TraceRing.bytesFor(capacity);
        const [ours, theirs] = [harness.alloc(bytes), harness.alloc(bytes)];
        for (const ptr of [ours, theirs]) {
          TraceRing.create(views, ptr, { capacity, thread: 1, on });
          views.f64[ptr / 8 + 2] = 0;
          views.u32[ptr / 4 + 1] = 0xfffffff0;
        }
        for (const { kernel, nameId, a, b } of calls) {
          if (kernel === 'span') {
            wasm.traceSpan(ours, nameId, a, b);
            traceSpan(views, theirs, nameId, a, b);
          } else if (kernel === 'counter') {
            wasm.traceCounter(ours, nameId, b, a);
            traceCounter(views, theirs, nameId, b, a);
          } else {
            wasm.traceInstant(ours, nameId, nameId ^ 5, a);
            traceInstant(views, theirs, nameId, nameId ^ 5, a);
          }
        }
        assert.deepEqual(views.u8.slice(ours, ours + bytes), views.u8.slice(theirs, theirs + bytes));
      }),
    ),
    { numRuns: 150 },
  );
});

t.test('the kernel clock is the clock of the thread, and rests with the ring', async (t) => {
  const ring = TraceRing.create(views, harness.alloc(TraceRing.bytesFor(4)), { capacity: 4, thread: 0 });
  const before = performance.now();
  const inside = wasm.traceNow(ring.ptr);
  const plain = traceNow(views, ring.ptr);
  t.ok(before <= inside && inside <= plain && plain <= performance.now());
  t.equal(wasm.traceOn(ring.ptr), 1);
  ring.on = false;
  t.equal(wasm.traceNow(ring.ptr), 0);
  t.equal(wasm.traceOn(ring.ptr), 0);
});

t.test('a null ring is never written', async (t) => {
  const before = views.u8.slice(0, 65536);
  wasm.traceSpan(0, 1, 1, 2);
  wasm.traceCounter(0, 1, 1, 2);
  wasm.traceInstant(0, 1, 1, 2);
  traceSpan(views, 0, 1, 1, 2);
  t.equal(wasm.traceNow(0), 0);
  t.notOk(traceOn(views, 0));
  t.same(views.u8.slice(0, 65536), before);
});
