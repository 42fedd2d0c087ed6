import fc from 'fast-check';
import t from 'tap';
import { sumGradients } from '../../src/sparse/table/sum-gradients.js';
import { keyOfMix } from './colliding-keys.js';

/** The same by a Map: the sum of an id, how often it came, and where first. */
function plain(ids: readonly bigint[], gradients: Float32Array, dim: number) {
  const found = new Map<bigint, { sum: Float32Array; count: number; first: number }>();
  ids.forEach((id, position) => {
    const row = gradients.slice(position * dim, (position + 1) * dim);
    const seen = found.get(id);
    if (seen === undefined) {
      found.set(id, { sum: row, count: 1, first: position });
      return;
    }
    seen.count++;
    row.forEach((value, c) => {
      seen.sum[c]! += value;
    });
  });
  return found;
}

const id = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }),
  fc.constantFrom(0n, 1n << 32n, -1n << 32n, (1n << 63n) - 1n, -(1n << 63n)),
  fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
);

t.test('gradients of equal ids are added in order, each id once, in the order it came', async (t) => {
  let most = 0;
  const check = (ids: readonly bigint[], dim: number) => {
    const gradients = Float32Array.from({ length: ids.length * dim }, (_, i) => (i % 7 === 0 ? -0 : Math.sin(i) * 10));
    const summed = sumGradients(BigInt64Array.from(ids), gradients, dim);
    const expected = plain(ids, gradients, dim);
    const rows = [...expected.values()];
    const same = (found: ArrayLike<unknown>, wanted: readonly unknown[]) =>
      found.length === wanted.length && wanted.every((value, i) => Object.is(value, found[i]));
    most = Math.max(most, expected.size);
    return (
      same(summed.ids, [...expected.keys()]) &&
      same(
        summed.gradients,
        rows.flatMap(({ sum }) => [...sum]),
      ) &&
      same(
        summed.counts,
        rows.map(({ count }) => count),
      ) &&
      same(
        summed.first,
        rows.map(({ first }) => first),
      )
    );
  };
  fc.assert(fc.property(fc.array(id, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 5 }), check), {
    numRuns: 200,
  });
  t.ok(most > 20, `up to ${most} different ids`);
  // All different and all of a power of two: every cell of a half of the index is taken.
  t.ok(
    check(
      Array.from({ length: 4096 }, (_, i) => BigInt(i) << 40n),
      1,
    ),
  );
  t.ok(check([], 3));
});

// Cell by cell this would be some 10^11 steps, which no test waits for.
t.test('ids that were made to meet are told apart without a look at all others', async (t) => {
  const count = 400_000;
  const ids = BigInt64Array.from({ length: count }, (_, i) => keyOfMix(BigInt(i) << 40n));
  const summed = sumGradients(ids, new Float32Array(count).fill(1), 1);
  t.equal(summed.ids.length, count);
  t.ok(summed.ids.every((id, i) => id === ids[i]));
});
