import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runAgainst } from '../../bench/against.js';
import { takeTurns } from '../../bench/rounds.js';

const HERE = fileURLToPath(new URL('../../..', import.meta.url));

t.test('tables of a build are measured beside those of a checkout', async (t) => {
  const { pairs, results } = await runAgainst({ checkout: HERE, pairs: 1, quick: true });
  t.equal(pairs, 1);
  t.same(
    results.map(({ what }) => what),
    [16, 64].flatMap((dim) =>
      ['update adagrad', 'lookup', 'assign again', 'new ids', 'update ftrl', 'update adam'].map(
        (what) => `dim ${dim}, ${what}`,
      ),
    ),
  );
  for (const { what, ours, ratio, interval } of results) {
    t.ok(ours > 0 && ratio > 0, what);
    t.same(interval, [ratio, ratio], 'one pair is its own range');
  }
});

t.test('the two take turns, every other pair the other way round', async (t) => {
  const order: string[] = [];
  const side = (name: string) => async () => order.push(name);
  await takeTurns([side('theirs'), side('ours')], { rounds: 3, roundsMax: 3 });
  t.same(order.join(' '), 'theirs ours ours theirs theirs ours');
});

t.test('a folder without a build is refused', async (t) => {
  await t.rejects(runAgainst({ checkout: t.testdir() }), { code: 'ML_FLAG', message: /has no build/ });
});
