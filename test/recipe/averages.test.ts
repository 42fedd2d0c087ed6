/** @file Averages of ids: what they predict, which ids are new, which were met a single time. */
import t from 'tap';
import { averagesOf } from '../../src/recipe/averages.js';
import { denseIndex } from '../../src/recipe/dense-index.js';

const users = denseIndex(BigInt64Array.of(1n, 1n, 2n, 3n, 3n, 4n));
const label = Float32Array.of(1, 1, 0, 0, 1, 1);
const averages = averagesOf(new Map([['user', users]]), label, Uint32Array.of(0, 1, 2, 3));

t.test('an id that was seen says what its rows were, one that was not says nothing', async (t) => {
  const [liked, disliked, stranger] = averages.predict(Uint32Array.of(0, 2, 5));
  t.ok(liked! > 0.5 && disliked! < 0.5);
  t.equal(stranger, 0.5, 'the mean of all');
});

t.test('new ids are told as a share of rows, those met once as a share of ids', async (t) => {
  t.equal(averages.unseen('user', Uint32Array.of(4, 5)), 0.5);
  t.equal(averages.once('user'), 2 / 3);
});
