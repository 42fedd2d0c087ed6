import t from 'tap';
import { DEEP, rounds } from '../support/rounds.js';
import { firstDifference, report } from './check.js';
import { ALL_FEATURES, describe, draw } from './recipe.js';
import { allComparisons, someComparisons, THREADS } from './ways.js';

/**
 * MONOLITH_DETERMINISM_SEED=7: that model, in every pair of ways. MONOLITH_DETERMINISM_MODELS=1000: so many models,
 * from seed MONOLITH_DETERMINISM_FROM on.
 */
const {
  MONOLITH_DETERMINISM_SEED: seed,
  MONOLITH_DETERMINISM_MODELS: models,
  MONOLITH_DETERMINISM_FROM: from = '0',
} = process.env;
const count = rounds({ quick: 14, deep: 14, variable: 'MONOLITH_DETERMINISM_MODELS' });
/** In a deep run these models and a few more, in every pair of ways. */
const deep = DEEP || seed !== undefined || models !== undefined;
const recipes =
  seed === undefined ? Array.from({ length: count }, (_, i) => draw(Number(from) + i)) : [draw(Number(seed))];

if (!deep) {
  t.test('the models have every feature between them, and the ways every number of threads', async (t) => {
    const met = new Set(recipes.flatMap(({ features }) => features));
    t.same(
      ALL_FEATURES.filter((feature) => !met.has(feature)),
      [],
      'features that no model has',
    );
    const ways = recipes.flatMap(someComparisons).flatMap(({ one, other }) => [one, other]);
    const threads = new Set(ways.flatMap((way) => (way.deterministic ? [way.threads] : [])));
    t.same([...threads].sort(), [...THREADS]);
    for (const way of ['groups', 'banks', 'resumeAt'] as const) t.ok(ways.some((one) => one[way]));
  });
}

// The runner has a limit of its own for a file of a normal run.
t.setTimeout(deep ? 0 : 600_000);
for (const recipe of recipes) {
  t.test(`the same bytes (${describe(recipe)})`, { timeout: deep ? 0 : 120_000 }, async (t) => {
    const found = await firstDifference(recipe, (deep ? allComparisons : someComparisons)(recipe));
    t.equal(found === undefined ? '' : await report(recipe, found), '', 'no pair of ways differs');
  });
}
