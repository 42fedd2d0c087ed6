/**
 * @file Which names of parity files mean the same.
 *
 * A name is read word by word: camelCase and snake_case, singular and plural, the order of words and fillers such as
 * `of` make no difference, and words of one row of WORDS (same-names.ts) are one word. Names of one row of NAMES are
 * one name. A handler states the names it knows; a name that is none of them, nor means one of them, is unknown and
 * named in the failure.
 */

import { NAMES, WORDS, WORDS_WITHIN } from './same-names.js';

/** Names that are not the singular of another. */
const EXACT: ReadonlyMap<string, readonly string[]> = new Map([['step', ['global_step', 'global_steps']]]);

/** Words for the one thing that came out. */
const RESULT = (
  'out output outputs result results expected want answer value values got returns ' +
  'reordered reduced gathered combined summed sums'
).split(' ');

const FILLERS = new Set(['of', 'the', 'per', 'each', 'in', 'a']);
const firstOf = (rows: readonly (readonly string[])[]): ReadonlyMap<string, string> =>
  new Map(rows.flatMap((row) => row.map((word) => [word, row[0]!])));
const ALONE = firstOf(WORDS);
const WITHIN = firstOf([...WORDS_WITHIN, ...WORDS]);

const singular = (word: string): string => (/[^s]s$/.test(word) ? word.slice(0, -1) : word);

/** `numOfShards` as `num_of_shards`. */
export const snake = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();

/** Equal for names that say the same in other words. */
function signature(name: string): string {
  const words = snake(name)
    .replace(/learning_rate/g, 'learningrate')
    .split('_')
    .filter((word) => word !== '');
  const one = (meanings: ReadonlyMap<string, string>) => (word: string) =>
    meanings.get(singular(word)) ?? singular(word);
  if (words.length === 1) return one(ALONE)(words[0]!);
  const kept = words.filter((word) => !FILLERS.has(word)).map(one(WITHIN));
  return kept.sort().join(' ');
}

/** The name of `known` that `name` means, or undefined; names in `taken` stand for themselves and are passed over. */
export function knownName(
  name: string,
  known: readonly string[],
  { rows = NAMES, taken = [] }: { rows?: readonly (readonly string[])[]; taken?: readonly string[] } = {},
): string | undefined {
  if (known.includes(name)) return name;
  const free = known.filter((one) => !taken.includes(one));
  const exact = EXACT.get(name)?.find((one) => free.includes(one));
  if (exact !== undefined) return exact;
  const spelt = free.find((one) => snake(one) === snake(name));
  if (spelt !== undefined) return spelt;
  const said = signature(name);
  const same = free.find((one) => signature(one) === said);
  if (same !== undefined) return same;
  for (const row of rows) {
    if (!row.some((other) => signature(other) === said)) continue;
    const meant = row.find((other) => free.includes(other));
    const spoken = meant ?? free.find((one) => row.some((other) => signature(other) === signature(one)));
    if (spoken !== undefined) return spoken;
  }
  return undefined;
}

/** Whether a name says no more than that it is the result. */
export const meansResult = (name: string): boolean => RESULT.includes(snake(name));
