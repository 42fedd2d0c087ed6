/** @file The command alone on real data, which is not in the repository: MONOLITH_REAL_DATA names its folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runHere } from '../run-here.js';

const folder = process.env.MONOLITH_REAL_DATA ?? '';
const SEEDS = 5;
const ratings = join(folder, 'ml-latest-small/ratings.csv.gz');
const movies = join(folder, 'ml-latest-small/movies.csv.gz');
const options = existsSync(ratings) ? {} : { skip: 'MONOLITH_REAL_DATA names no folder with ml-latest-small' };

t.setTimeout(300_000);

t.test('MovieLens by the command alone reaches what the reference reaches', options, async (t) => {
  const cwd = t.testdir();
  const found: number[] = [];
  for (let seed = 0; seed < SEEDS; seed++) {
    const data = ['--data', ratings, '--with', `${movies}:movieId`, '--label', 'rating>=3.5', '--split', 'row'];
    const flags = ['--quiet', '--json', '--no-report', '--seed', String(seed)];
    const { code, out, err } = await runHere(['train', ...data, ...flags], { cwd });
    t.equal(code, 0, err);
    found.push((JSON.parse(out) as { auc: number }).auc);
  }
  found.sort((a, b) => a - b);
  t.ok(found[2]! >= 0.789, `median of ${SEEDS} seeds: ${found.map((auc) => auc.toFixed(4)).join(', ')}`);
});

const adult = join(folder, 'adult/adult.data.gz');
const adultTest = join(folder, 'adult/adult.test.gz');
const adultOptions = existsSync(adult) ? {} : { skip: 'MONOLITH_REAL_DATA names no folder with adult' };

for (const more of [[], ['--eval-data', adultTest]]) {
  t.test(`Adult by the command alone, ${more[0] ?? 'a tenth of the rows held out'}`, adultOptions, async (t) => {
    const cwd = t.testdir();
    const found: number[] = [];
    for (let seed = 0; seed < SEEDS; seed++) {
      const flags = ['--quiet', '--json', '--no-report', '--seed', String(seed)];
      const { code, out, err } = await runHere(['train', '--data', adult, '--label', 'column_15', ...more, ...flags], {
        cwd,
      });
      t.equal(code, 0, err);
      found.push((JSON.parse(out) as { auc: number }).auc);
    }
    found.sort((a, b) => a - b);
    t.ok(found[2]! >= 0.91, `median of ${SEEDS} seeds: ${found.map((auc) => auc.toFixed(4)).join(', ')}`);
  });
}
