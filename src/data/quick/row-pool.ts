/**
 * @file Rows that wait to be drawn: each in a slot, its values side by side, so that a row that is drawn at random
 * costs a few cache lines and not one for each column.
 *
 * Everything is copied as words of 32 bits, whatever it means: one kind of array, and no bigint is ever made.
 */
import type { BatchSchema, FeedData } from '../../memory/batch.js';
import type { Block } from './block.js';
import { IdArena } from './id-arena.js';
import { longer, wordsOf } from './words.js';

const SLOTS_MIN = 4096;
/** Rows that are copied together: what they have stays in a cache while it is gone over column by column. */
const ROWS_TOGETHER = 512;

/** Where the values of a feed are in a slot. */
interface Column {
  readonly offset: number;
  readonly words: number;
  readonly lists: IdArena | undefined;
}

export class RowPool {
  readonly #schema: BatchSchema;
  readonly #columns: readonly Column[];
  /** Words of a slot. */
  readonly #words: number;
  #values = new Int32Array(0);
  #capacity = 0;
  /** Slots that are free, those to take first at the end. */
  #free: number[] = [];

  constructor(schema: BatchSchema) {
    this.#schema = schema;
    let offset = 0;
    this.#columns = schema.map((spec) => {
      if (spec.kind === 'ragged') return { offset, words: 0, lists: new IdArena() };
      const column = { offset, words: spec.width * (spec.kind === 'ids' ? 2 : 1), lists: undefined };
      offset += column.words;
      return column;
    });
    this.#words = offset;
  }

  /** Puts rows of a block in; their slots. */
  add({ feeds }: Block, rows: readonly number[]): number[] {
    while (this.#free.length < rows.length) this.#grow();
    const slots = this.#free.splice(this.#free.length - rows.length).reverse();
    for (const [index, { lists, offset, words }] of this.#columns.entries()) {
      const feed = feeds[index]!;
      if (feed.kind === 'ragged') lists!.add(feed, rows, slots);
      else
        copyRows(
          wordsOf(feed.values),
          { rows, stride: words, offset: 0 },
          this.#values,
          {
            rows: slots,
            stride: this.#words,
            offset,
          },
          words,
        );
    }
    return slots;
  }

  /** The rows of slots as the feeds of a batch; the slots are free from now on. */
  take(slots: readonly number[]): FeedData[] {
    const feeds = this.#schema.map((spec): FeedData => {
      if (spec.kind === 'ragged') return { kind: 'ragged', splits: new Int32Array(0), values: new BigInt64Array(0) };
      const count = slots.length * spec.width;
      return (
        spec.kind === 'dense'
          ? { kind: 'dense', values: new Float32Array(count) }
          : { kind: 'ids', values: new BigInt64Array(count) }
      ) as FeedData;
    });
    for (let first = 0; first < slots.length; first += ROWS_TOGETHER) {
      const some = slots.slice(first, first + ROWS_TOGETHER);
      const to = some.map((_, index) => first + index);
      for (const [index, { offset, words, lists }] of this.#columns.entries()) {
        if (lists !== undefined) continue;
        const target = { rows: to, stride: words, offset: 0 };
        copyRows(
          this.#values,
          { rows: some, stride: this.#words, offset },
          wordsOf(feeds[index]!.values),
          target,
          words,
        );
      }
    }
    for (const [index, { lists }] of this.#columns.entries()) if (lists !== undefined) feeds[index] = lists.take(slots);
    this.free(slots);
    return feeds;
  }

  /** Slots of rows that nobody wants. */
  free(slots: readonly number[]): void {
    for (const { lists } of this.#columns) lists?.free(slots);
    for (let n = slots.length - 1; n >= 0; n--) this.#free.push(slots[n]!);
  }

  #grow(): void {
    const capacity = Math.max(SLOTS_MIN, 2 * this.#capacity);
    for (const { lists } of this.#columns) lists?.grow(capacity);
    this.#values = longer(this.#values, capacity * this.#words);
    const made: number[] = [];
    for (let slot = capacity - 1; slot >= this.#capacity; slot--) made.push(slot);
    this.#free = [...made, ...this.#free];
    this.#capacity = capacity;
  }
}

/** Rows of an array, `stride` words apart, and where a value stands in one. */
interface Rows {
  readonly rows: readonly number[];
  readonly stride: number;
  readonly offset: number;
}

function copyRows(from: Int32Array, source: Rows, to: Int32Array, target: Rows, words: number): void {
  const { length } = source.rows;
  for (let n = 0; n < length; n++) {
    const read = source.rows[n]! * source.stride + source.offset;
    const write = target.rows[n]! * target.stride + target.offset;
    for (let word = 0; word < words; word++) to[write + word] = from[read + word]!;
  }
}
