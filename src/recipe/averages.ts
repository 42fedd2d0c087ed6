/**
 * @file The model to beat: for each id how often its rows are 1, and of the ids of a row the sum of what they say. It
 * costs one pass, and a network that does no better has learnt nothing.
 */
import type { DenseIndex } from './dense-index.js';

/** Rows of the average that each id is mixed with: an id that was seen once says little. */
const PRIOR = 5;

/** Log odds of rows above those of all, for each id; 0 of one that was not trained on. */
function scoresOf({ index, count }: DenseIndex, label: Float32Array, train: Uint32Array, mean: number): Float32Array {
  const sums = new Float32Array(count);
  const rows = new Float32Array(count);
  for (const row of train) {
    sums[index[row]!]! += label[row]!;
    rows[index[row]!]!++;
  }
  const base = Math.log(mean / (1 - mean));
  return sums.map((sum, id) => {
    const share = (sum + PRIOR * mean) / (rows[id]! + PRIOR);
    return rows[id] === 0 ? 0 : Math.log(share / (1 - share)) - base;
  });
}

export interface Averages {
  /** Probabilities of rows, by the averages of all ids together. */
  predict(rows: Uint32Array): Float32Array;
  /** Scores of rows by the averages of one column alone. */
  scores(column: string, rows: Uint32Array): Float32Array;
  /** Share of `rows` whose id in the column no row of training has. */
  unseen(column: string, rows: Uint32Array): number;
  /** Of the ids in the column that rows of training have, the share that a single one has. */
  once(column: string): number;
}

/** Averages over the rows of training. */
export function averagesOf(
  columns: ReadonlyMap<string, DenseIndex>,
  label: Float32Array,
  train: Uint32Array,
): Averages {
  const mean = Math.min(1 - 1e-6, Math.max(1e-6, train.reduce((sum, row) => sum + label[row]!, 0) / train.length));
  const base = Math.log(mean / (1 - mean));
  const all = new Map([...columns].map(([name, ids]) => [name, scoresOf(ids, label, train, mean)]));
  const scores = (column: string, rows: Uint32Array): Float32Array => {
    const { index } = columns.get(column)!;
    const known = all.get(column)!;
    return Float32Array.from(rows, (row) => known[index[row]!]!);
  };
  return {
    scores,
    predict(rows) {
      const logits = new Float32Array(rows.length).fill(base);
      for (const column of columns.keys()) {
        const found = scores(column, rows);
        for (let at = 0; at < found.length; at++) logits[at]! += found[at]!;
      }
      return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
    },
    once(column) {
      const { index, count } = columns.get(column)!;
      const times = new Uint8Array(count);
      for (const row of train) if (times[index[row]!]! < 2) times[index[row]!]!++;
      let [single, known] = [0, 0];
      for (const many of times) {
        if (many === 1) single++;
        if (many > 0) known++;
      }
      return single / Math.max(1, known);
    },
    unseen(column, rows) {
      const { index, count } = columns.get(column)!;
      const seen = new Uint8Array(count);
      for (const row of train) seen[index[row]!] = 1;
      let strangers = 0;
      for (const row of rows) if (seen[index[row]!] === 0) strangers++;
      return strangers / Math.max(1, rows.length);
    },
  };
}
