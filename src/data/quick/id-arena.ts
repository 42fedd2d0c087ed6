/** @file Lists of ids of rows that wait, by slot, one behind the other in an array that is tidied when it is full. */
import type { FeedData, RaggedData } from '../../memory/batch.js';
import { longer, wordsOf } from './words.js';

const WORDS_MIN = 1 << 14;

export class IdArena {
  /** Words of the ids, two for each. */
  #values = new Int32Array(WORDS_MIN);
  #top = 0;
  /** Where the list of a slot begins, in words, and how many words it has. */
  #starts = new Int32Array(0);
  #lengths = new Int32Array(0);
  #live = 0;

  grow(slots: number): void {
    this.#starts = longer(this.#starts, slots);
    this.#lengths = longer(this.#lengths, slots);
  }

  add({ splits, values }: RaggedData, rows: ArrayLike<number>, slots: readonly number[]): void {
    const words = wordsOf(values);
    let needed = 0;
    for (let n = 0; n < rows.length; n++) needed += 2 * (splits[rows[n]! + 1]! - splits[rows[n]!]!);
    if (this.#top + needed > this.#values.length) this.#tidy(needed);
    for (let n = 0; n < rows.length; n++) {
      const [from, to] = [2 * splits[rows[n]!]!, 2 * splits[rows[n]! + 1]!];
      const slot = slots[n]!;
      this.#starts[slot] = this.#top;
      this.#lengths[slot] = to - from;
      for (let word = from; word < to; word++) this.#values[this.#top++] = words[word]!;
    }
    this.#live += needed;
  }

  take(slots: readonly number[]): FeedData {
    const splits = new Int32Array(slots.length + 1);
    for (const [row, slot] of slots.entries()) splits[row + 1] = splits[row]! + this.#lengths[slot]! / 2;
    const values = new BigInt64Array(splits[slots.length]!);
    const words = wordsOf(values);
    let at = 0;
    for (const slot of slots) {
      const start = this.#starts[slot]!;
      const length = this.#lengths[slot]!;
      for (let word = 0; word < length; word++) words[at++] = this.#values[start + word]!;
    }
    return { kind: 'ragged', splits, values };
  }

  free(slots: readonly number[]): void {
    for (const slot of slots) {
      this.#live -= this.#lengths[slot]!;
      this.#lengths[slot] = 0;
    }
  }

  /** Moves what is live together, into an array that has room for as much again. */
  #tidy(needed: number): void {
    const length = Math.max(this.#values.length, 2 * (this.#live + needed));
    const tidied = new Int32Array(length);
    let top = 0;
    for (const [slot, words] of this.#lengths.entries()) {
      if (words === 0) continue;
      const start = this.#starts[slot]!;
      tidied.set(this.#values.subarray(start, start + words), top);
      this.#starts[slot] = top;
      top += words;
    }
    this.#values = tidied;
    this.#top = top;
  }
}
