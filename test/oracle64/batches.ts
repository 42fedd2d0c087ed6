/** @file The batches of a graph: feeds for a session, and the same for the oracle. */
import type { FeedMap } from '../../src/index.js';
import type { FeedValue, IdRows } from './evaluation.js';
import type { Random } from './random.js';
import { FLOAT_FEEDS, ID_FEEDS, RAGGED_FEEDS } from './recipe.js';

export interface Batch {
  readonly rows: number;
  readonly feeds: FeedMap;
  readonly values: ReadonlyMap<string, FeedValue>;
}

/** Classes that sparse labels name: logits have at least this many. */
export const CLASSES = 3;
/** Most ids of a row of a ragged feed. */
export const RAGGED_MAX = 6;

/** Ids of both signs and all sizes, few enough that they repeat. */
const IDS = [3n, 4n, 5n, -7n, 1n << 40n, (1n << 62n) + 11n, -(1n << 63n), 12345678901n, 17n, 18n, -1n, 0n];
export const KNOWN_IDS = IDS.slice(0, 8);

/** Labels of several kinds, weights, and a loss's marks. */
export const LABEL_FEEDS = ['label', 'soft', 'class', 'weight', 'mark'] as const;

export function drawBatch(random: Random, rows: number): Batch {
  const values = new Map<string, FeedValue>();
  const feeds: Record<string, FeedMap[string]> = {};
  const floats = (name: string, width: number, draw: () => number) => {
    const list = Float32Array.from({ length: rows * width }, draw);
    feeds[name] = list;
    values.set(name, { floats: list });
  };
  // Exact zeros and equal numbers too: corners of relu, abs and the like.
  const plain = () => (random.chance(0.08) ? random.of([0, 1, -1]) : random.between(-1.5, 1.5));
  for (const [name, width] of Object.entries(FLOAT_FEEDS)) floats(name, width, plain);
  floats('label', 1, () => random.below(2));
  floats('soft', 1, () => random.of([0, 1, 0.25, 0.8]));
  floats('class', 1, () => random.below(CLASSES));
  floats('weight', 1, () => random.of([0, 1, 0.5, 2]));
  floats('mark', 1, () => random.of([1, 0, 0, -20000]));
  // One batch has ids of its own spread, so that some hold few distinct ones.
  const spread = random.of([2, 5, IDS.length]);
  const first = random.below(IDS.length);
  const id = () => IDS[(first + random.below(spread)) % IDS.length]!;
  for (const [name, width] of Object.entries(ID_FEEDS)) {
    const list = Array.from({ length: rows }, () => Array.from({ length: width }, id));
    feeds[name] = BigInt64Array.from(list.flat());
    values.set(name, { ids: list });
  }
  const small = Array.from({ length: rows }, () => Array.from({ length: 2 }, () => BigInt(random.below(9))));
  feeds.tiny = BigInt64Array.from(small.flat());
  values.set('tiny', { ids: small });
  for (const name of RAGGED_FEEDS) {
    const list: IdRows = Array.from({ length: rows }, () =>
      Array.from({ length: random.of([0, 0, 1, 2, RAGGED_MAX]) }, id),
    );
    const splits = new Int32Array(rows + 1);
    list.forEach((row, i) => {
      splits[i + 1] = splits[i]! + row.length;
    });
    feeds[name] = { splits, values: BigInt64Array.from(list.flat()) };
    values.set(name, { ids: list });
  }
  return { rows, feeds, values };
}
