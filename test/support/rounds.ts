/**
 * @file How often a test repeats itself with other random numbers, sizes or moments.
 *
 * `npm test` makes enough rounds to see every case once. `npm run test:deep` runs the files that import this one, and
 * only those, with more rounds. A variable of the environment, where a test has one, goes further (docs/testing.md).
 */

export const DEEP = process.env.MONOLITH_TEST_DEEP === '1';

export interface Rounds {
  readonly quick: number;
  readonly deep: number;
  /** A variable of the environment that says another number. */
  readonly variable?: string;
}

export function rounds({ quick, deep, variable }: Rounds): number {
  const said = variable === undefined ? undefined : process.env[variable];
  if (said === undefined) return DEEP ? deep : quick;
  const count = Number(said);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`${variable} is a positive number of rounds, not ${said}`);
}
