import t from 'tap';
import { BACKENDS } from '../runtime/with-session.js';
import { rounds } from '../support/rounds.js';
import {
  ARRANGEMENTS,
  type Arrangement,
  explain,
  type Failure,
  FURTHER,
  recipeOf,
  runRecipes,
  shrink,
} from './harness.js';
import type { Recipe } from './recipe.js';
import { RULES } from './rules.js';

/** A seed or a recipe to replay, or how many graphs to draw and from which seed on: docs/testing.md. */
const {
  MONOLITH_ORACLE_SEED: seed,
  MONOLITH_ORACLE_RECIPE: recipe,
  MONOLITH_ORACLE_FROM: from = '1',
  MONOLITH_TEST_BACKENDS: backends,
  MONOLITH_TEST_GPU_TABLES: deviceTables,
} = process.env;
const QUICK = 120;
/** Fewer on backends that were asked for, such as the simulated GPU. */
const COUNTS = backends ? { quick: 30, deep: 30 } : { quick: QUICK, deep: 300 };
/** Graphs that share sessions. */
const GROUP = 120;
const FAILURES_MAX = 5;

function recipes(): Recipe[] {
  if (recipe !== undefined) return [JSON.parse(recipe) as Recipe];
  if (seed !== undefined) return [recipeOf(Number(seed))];
  const count = rounds({ ...COUNTS, variable: 'MONOLITH_ORACLE_GRAPHS' });
  const drawn = Array.from({ length: count }, (_, i) => recipeOf(Number(from) + i));
  // Tables on a device know no batch softmax.
  const fits = ({ tables }: Recipe) => !tables.flat().some(({ optimizer }) => optimizer === 'batchSoftmax');
  return deviceTables ? drawn.filter(fits) : drawn;
}

function arrangementsFor(count: number): readonly Arrangement[] {
  if (backends) return BACKENDS.map((backend) => ({ backend, threads: 2 }));
  return count === QUICK ? ARRANGEMENTS : [...ARRANGEMENTS, ...FURTHER];
}

const all = recipes();
const arrangements = arrangementsFor(all.length);
t.setTimeout(300_000 + 2_000 * all.length);

t.test(`${all.length} random graphs from seed ${all[0]!.seed} on give what a float64 oracle gives`, async (t) => {
  const failures: Failure[] = [];
  const types = new Set<string>();
  let [numbers, telling] = [0, 0];
  for (let first = 0; first < all.length && failures.length < FAILURES_MAX; first += GROUP) {
    const report = await runRecipes(all.slice(first, first + GROUP), arrangements);
    failures.push(...report.failures);
    for (const type of report.types) types.add(type);
    numbers += report.tally.numbers;
    telling += report.tally.telling;
  }
  const seen = new Set<number>();
  for (const failure of failures) {
    if (seen.has(failure.recipe.seed) || seen.size >= FAILURES_MAX) continue;
    seen.add(failure.recipe.seed);
    t.fail(explain(await shrink(failure)));
  }
  t.ok(failures.length === 0 && numbers > 0, `all ${all.length} agree`);
  t.comment(`${numbers} numbers compared, ${((100 * telling) / numbers).toFixed(1)} % with a bound that tells`);
  if (all.length < QUICK || failures.length > 0) return;
  t.ok(telling > 0.85 * numbers, 'most bounds are small');
  t.same(
    [...RULES.keys()].filter((type) => !types.has(type)),
    [],
    'every op comes up',
  );
});
