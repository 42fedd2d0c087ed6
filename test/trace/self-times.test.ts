import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { compareNesting, type Interval, selfTimesUs } from '../../src/trace/self-times.js';

/** The same by brute force: each unit of time goes to the span that started last of those that cover it. */
function selfByUnits(spans: readonly Interval[]): number[] {
  const self = spans.map(() => 0);
  for (let unit = 0; unit < 60; unit++) {
    const owner = spans.findLastIndex((span) => span.startUs <= unit && unit < span.startUs + span.durationUs);
    if (owner >= 0) self[owner]!++;
  }
  return self;
}

t.test('every moment of any spans counts once, for the span that started last', async () => {
  const span = fc.record({ startUs: fc.nat({ max: 30 }), durationUs: fc.nat({ max: 25 }) });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 25 }), (unsorted) => {
      const spans = unsorted.sort(compareNesting);
      assert.deepEqual(Array.from(selfTimesUs(spans)), selfByUnits(spans));
    }),
    { numRuns: 300 },
  );
});

t.test('neighbours that overlap by rounding still leave the span around them what is its own', async (t) => {
  const spans = [
    { startUs: 0, durationUs: 100 },
    { startUs: 10, durationUs: 10.25 },
    { startUs: 20, durationUs: 10 },
  ];
  t.same(Array.from(selfTimesUs(spans)), [80, 10, 10]);
});
