/**
 * @file Rounds in which several systems take turns, so that whatever else the machine does meets them all.
 *
 * A comparison is the median over rounds of the ratio within a round. Rounds during which other processes used much of
 * a core are repeated, up to a limit: two threads against one cannot be compared while one of two cores is taken.
 */
import { ForeignLoad } from './clocks.js';
import { median } from './harness.js';

export interface RoundOptions {
  /** Quiet rounds wanted. */
  readonly rounds: number;
  readonly roundsMax: number;
}

/** Share of one core that others may use in a quiet round. */
const QUIET_SHARE = 0.15;

export interface Rounds {
  /** Numbers of each system, round by round. */
  readonly values: readonly (readonly number[])[];
  /** Rounds that were quiet; when there were none, all of them count and the numbers are those of a busy machine. */
  readonly quietCount: number;
}

/** Runs every system once per round; every other round in reverse order, so that nobody always follows the same one. */
export async function takeTurns(systems: readonly (() => Promise<number>)[], options: RoundOptions): Promise<Rounds> {
  const all: { values: number[]; quiet: boolean }[] = [];
  let quietCount = 0;
  for (let round = 0; round < options.roundsMax && quietCount < options.rounds; round++) {
    const load = new ForeignLoad();
    const values = new Array<number>(systems.length);
    for (let i = 0; i < systems.length; i++) {
      const system = round % 2 === 0 ? i : systems.length - 1 - i;
      values[system] = await systems[system]!();
    }
    const share = load.share();
    const quiet = Number.isNaN(share) || share < QUIET_SHARE;
    if (quiet) quietCount++;
    all.push({ values, quiet });
  }
  const counted = quietCount > 0 ? all.filter(({ quiet }) => quiet) : all;
  return { values: systems.map((_, i) => counted.map(({ values }) => values[i]!)), quietCount };
}

/** Median over the rounds of system `over` divided by system `under`. */
export function ratioOf({ values }: Rounds, over: number, under: number): number {
  return median(values[over]!.map((value, round) => value / values[under]![round]!));
}
