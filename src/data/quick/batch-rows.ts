/** @file Rows as columns that become the next batch, in the order they come. */
import type { BatchSchema, FeedData } from '../../memory/batch.js';
import type { Block } from './block.js';
import { copyRuns, longer, runsOf, wordsOf } from './words.js';

interface Column {
  readonly words: number;
  /** Values of as many rows as a batch has; of ids of a ragged feed as many as there were. */
  values: Int32Array;
  /** Of a ragged feed. */
  readonly splits: Int32Array | undefined;
}

export class BatchRows {
  readonly #schema: BatchSchema;
  readonly #batchSize: number;
  readonly #columns: readonly Column[];
  rows = 0;

  constructor(schema: BatchSchema, batchSize: number) {
    this.#schema = schema;
    this.#batchSize = batchSize;
    this.#columns = schema.map((spec) => {
      if (spec.kind === 'ragged') return { words: 2, values: new Int32Array(0), splits: new Int32Array(batchSize + 1) };
      const words = spec.width * (spec.kind === 'ids' ? 2 : 1);
      return { words, values: new Int32Array(batchSize * words), splits: undefined };
    });
  }

  get isFull(): boolean {
    return this.rows === this.#batchSize;
  }

  /** Takes rows of a block until it is full; how many. */
  add({ feeds }: Block, rows: readonly number[]): number {
    const room = this.#batchSize - this.rows;
    const some = rows.length <= room ? rows : rows.slice(0, room);
    const runs = runsOf(some, this.rows);
    for (const [index, column] of this.#columns.entries()) {
      const feed = feeds[index]!;
      if (feed.kind === 'ragged') addLists(column, feed, runs);
      else copyRuns(wordsOf(feed.values), column.values, runs, column.words);
    }
    this.rows += some.length;
    return some.length;
  }

  /** The feeds of the batch, good until rows are added; it is empty from now on. */
  take(): { readonly rows: number; readonly feeds: FeedData[] } {
    const { rows } = this;
    this.rows = 0;
    const feeds = this.#schema.map((spec, index): FeedData => {
      const { values, words, splits } = this.#columns[index]!;
      if (splits !== undefined) {
        const ids = new BigInt64Array(values.buffer, 0, splits[rows]);
        return { kind: 'ragged', splits: splits.subarray(0, rows + 1), values: ids };
      }
      if (spec.kind === 'ids') return { kind: 'ids', values: new BigInt64Array(values.buffer, 0, (rows * words) / 2) };
      return { kind: 'dense', values: new Float32Array(values.buffer, 0, rows * words) };
    });
    return { rows, feeds };
  }
}

function addLists(
  column: Column,
  { splits: ends, values }: { readonly splits: Int32Array; readonly values: BigInt64Array },
  runs: readonly number[],
): void {
  const words = wordsOf(values);
  const splits = column.splits!;
  for (let at = 0; at < runs.length; at += 3) {
    const [row, to, count] = [runs[at]!, runs[at + 1]!, runs[at + 2]!];
    const [first, last] = [ends[row]!, ends[row + count]!];
    const top = splits[to]!;
    const needed = 2 * (top + last - first);
    if (needed > column.values.length) column.values = longer(column.values, 2 * needed);
    column.values.set(words.subarray(2 * first, 2 * last), 2 * top);
    for (let n = 1; n <= count; n++) splits[to + n] = top + ends[row + n]! - first;
  }
}
