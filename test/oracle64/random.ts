/** @file Seeded draws: the whole of a random graph follows from one number. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  seed(): number {
    return this.below(2 ** 31);
  }

  floats(count: number, size = 1): Float32Array {
    return Float32Array.from({ length: count }, () => this.between(-size, size));
  }
}
