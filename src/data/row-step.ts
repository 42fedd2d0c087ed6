/**
 * @file What is done to rows on their way that is known without a function of a program, step by step: on rows as
 * objects, or on their numbers where rows are columns.
 */
import { hashU32 } from '../base/random.js';

/** One step, as plain data. */
export type RowStep =
  | { readonly kind: 'take'; readonly count: number }
  | { readonly kind: 'repeat'; readonly times: number }
  | { readonly kind: 'shuffle'; readonly buffer: number; readonly seed: number }
  /** Rows by a hash of their number, or of a column: those below a share are one part, the others the other. */
  | {
      readonly kind: 'split';
      readonly by: string;
      readonly seed: number;
      readonly below: number;
      readonly test: boolean;
    };

/** Draws rows out of those that are held, as many as come in above `buffer`; `pass` gives each pass another order. */
export class ShuffleBuffer<R> {
  readonly #buffer: number;
  readonly #seed: number;
  readonly #pass: number;
  readonly #held: R[] = [];
  #drawn = 0;

  constructor(buffer: number, seed: number, pass: number) {
    this.#buffer = buffer;
    this.#seed = seed;
    this.#pass = pass;
  }

  get size(): number {
    return this.#held.length;
  }

  push(rows: Iterable<R>): R[] {
    const out: R[] = [];
    for (const row of rows) {
      this.#held.push(row);
      if (this.#held.length > this.#buffer) out.push(this.#draw());
    }
    return out;
  }

  /** Some of those that are left, at the end. */
  rest(count: number): R[] {
    return Array.from({ length: Math.min(count, this.#held.length) }, () => this.#draw());
  }

  #draw(): R {
    const held = this.#held;
    const at = hashU32(this.#seed, this.#pass, this.#drawn++) % held.length;
    const row = held[at]!;
    held[at] = held.at(-1)!;
    held.pop();
    return row;
  }
}
