/**
 * @file Checks a model in pairs of ways, and finds out which of its features is to blame when one pair differs.
 *
 *   MONOLITH_DETERMINISM_SEED=7 npx tap build/test/determinism/determinism.test.js   one model, every pair
 */
import { describe, type Feature, type Recipe, without } from './recipe.js';
import { difference, type Outcome, train, type Way } from './train.js';
import type { Comparison } from './ways.js';

export interface Finding {
  readonly name: string;
  readonly what: string;
  readonly one: Way;
  readonly other: Way;
}

/**
 * The first pair of ways that differs, or undefined. A way that is in several pairs is trained once, unless it is
 * paired with itself.
 */
export async function firstDifference(
  recipe: Recipe,
  comparisons: readonly Comparison[],
): Promise<Finding | undefined> {
  const known = new Map<string, Promise<Outcome>>();
  const outcomeOf = (way: Way): Promise<Outcome> => {
    const key = JSON.stringify(way);
    const outcome = known.get(key) ?? train(recipe, way);
    known.set(key, outcome);
    return outcome;
  };
  for (const { name, one, other } of comparisons) {
    const first = await outcomeOf(one);
    const second = await (JSON.stringify(one) === JSON.stringify(other) ? train(recipe, other) : outcomeOf(other));
    const what = difference(first, second);
    if (what !== undefined) return { name, what, one, other };
  }
  return undefined;
}

/** How often a pair is trained before it counts as equal: threads that race do not always show it. */
const TRIES = 2;

/** The model without the features that the difference does not need, switched off one at a time. */
export async function shrink(recipe: Recipe, { name, one, other }: Finding): Promise<readonly Feature[]> {
  let least = recipe;
  for (const feature of recipe.features) {
    const smaller = without(least, feature);
    const pairs = Array.from({ length: TRIES }, () => ({ name, one, other }));
    const found = await Promise.resolve(firstFound(smaller, pairs)).catch(() => undefined);
    if (found) least = smaller;
  }
  return least.features;
}

async function firstFound(recipe: Recipe, pairs: readonly Comparison[]): Promise<boolean> {
  for (const pair of pairs) if ((await firstDifference(recipe, [pair])) !== undefined) return true;
  return false;
}

/** What to say of a finding: the seed, the pair, what differs, the features it takes, how to see it again. */
export async function report(recipe: Recipe, finding: Finding): Promise<string> {
  const guilty = await shrink(recipe, finding);
  return [
    `${finding.name}: ${finding.what}`,
    `${JSON.stringify(finding.one)} and ${JSON.stringify(finding.other)}`,
    describe(recipe),
    `it takes: ${guilty.length === 0 ? 'none of them' : guilty.join(', ')}`,
    `again: MONOLITH_DETERMINISM_SEED=${recipe.seed} npx tap build/test/determinism/determinism.test.js`,
  ].join('\n');
}
