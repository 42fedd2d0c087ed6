import fc from 'fast-check';
import t from 'tap';
import { auc } from '../../src/metrics/auc.js';

/** By the definition: every pair of a positive and a negative. */
function aucOfPairs(labels: readonly number[], scores: readonly number[]): number | null {
  let won = 0;
  let pairs = 0;
  labels.forEach((positive, i) => {
    labels.forEach((negative, j) => {
      if (positive === 0 || negative !== 0) return;
      pairs++;
      won += scores[i]! > scores[j]! ? 1 : scores[i] === scores[j] ? 0.5 : 0;
    });
  });
  return pairs === 0 ? null : won / pairs;
}

t.test('agrees with the count over all pairs, ties and infinities included', async () => {
  const score = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true }), fc.constant(-0));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(0, 1), score), { maxLength: 40 }), (rows) => {
      const labels = rows.map(([label]) => label);
      const scores = rows.map(([, score]) => score);
      return auc(labels, scores) === aucOfPairs(labels, scores);
    }),
    { numRuns: 400 },
  );
});

t.test('is 1 for a perfect order, 0 for its reverse, a half for no order, null for one class', async (t) => {
  t.equal(auc([0, 0, 1, 1], [1, 2, 3, 4]), 1);
  t.equal(auc([1, 1, 0, 0], Float32Array.of(1, 2, 3, 4)), 0);
  t.equal(auc([0, 1, 0, 1], [5, 5, 5, 5]), 0.5);
  t.equal(auc([0, 0], [1, 2]), null);
  t.equal(auc([], []), null);
});

t.test('refuses scores that are no numbers or too few', async (t) => {
  t.throws(() => auc([0, 1], [0, Number.NaN]), { code: 'ML_FEED', fields: { name: 'scores' } });
  t.throws(() => auc([0, 1], [0]), { code: 'ML_FEED' });
});
