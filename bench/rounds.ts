/**
 * @file Rounds in which several systems take turns, so that whatever else the machine does meets them all.
 *
 * A comparison is the median over rounds of the ratio within a round. Only the quietest rounds count: two threads
 * against one cannot be compared while another process has one of two cores.
 */
import { ForeignLoad } from './clocks.js';
import { median } from './harness.js';

export interface RoundOptions {
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds to look for quiet ones among. */
  readonly roundsMax: number;
}

/** Share of one core that others may use in a quiet round; once enough rounds were that quiet, no more are run. */
const QUIET_SHARE = 0.1;

export interface Rounds<T> {
  /** What each system measured, round by round. */
  readonly values: readonly (readonly T[])[];
  /** Share of one core that others used during these rounds, the median; NaN where the system does not tell. */
  readonly foreignShare: number;
}

/**
 * Runs every system once per round, every other round in reverse order, so that nobody always follows the same one, and
 * returns the quietest rounds.
 */
export async function takeTurns<T>(systems: readonly (() => Promise<T>)[], options: RoundOptions): Promise<Rounds<T>> {
  const all: { values: T[]; share: number }[] = [];
  let quietCount = 0;
  for (let round = 0; round < options.roundsMax && quietCount < options.rounds; round++) {
    const load = new ForeignLoad();
    const values = new Array<T>(systems.length);
    for (let i = 0; i < systems.length; i++) {
      const system = round % 2 === 0 ? i : systems.length - 1 - i;
      values[system] = await systems[system]!();
    }
    const share = load.share();
    if (!(share >= QUIET_SHARE)) quietCount++;
    all.push({ values, share });
  }
  const counted = all.toSorted((a, b) => a.share - b.share).slice(0, options.rounds);
  return {
    values: systems.map((_, i) => counted.map(({ values }) => values[i]!)),
    foreignShare: median(counted.map(({ share }) => share)),
  };
}

/** Median over the rounds of what `pick` finds at one system. */
export function medianOf<T>({ values }: Rounds<T>, system: number, pick: (value: T) => number): number {
  return median(values[system]!.map(pick));
}

/** Median over the rounds of system `over` divided by system `under`. */
export function ratioOf<T>(rounds: Rounds<T>, over: number, under: number, pick: (value: T) => number): number {
  return median(ratiosOf(rounds, over, under, pick));
}

/** System `over` divided by system `under`, round by round. */
export function ratiosOf<T>({ values }: Rounds<T>, over: number, under: number, pick: (value: T) => number): number[] {
  return values[over]!.map((value, round) => pick(value) / pick(values[under]![round]!));
}

/**
 * A range that holds the median of what was sampled 95 times in 100, whatever its distribution: from one of the values
 * to another, as many ranks from either end as coins that fall alike leave room for.
 */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  let [rank, below, term] = [0, 0, 0.5 ** count];
  while (below + term <= 0.025 && rank < count) {
    below += term;
    term *= (count - rank) / (rank + 1);
    rank++;
  }
  const first = Math.max(0, rank - 1);
  return [sorted[first]!, sorted[count - 1 - first]!];
}
