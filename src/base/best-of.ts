/** @file The best few of many scored things, the best first; of equal ones those that came first. */

export interface Scored<T> {
  readonly item: T;
  readonly score: number;
}

export class BestOf<T> {
  readonly #count: number;
  readonly #best: Scored<T>[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  add(item: T, score: number): void {
    const best = this.#best;
    if (best.length === this.#count && !(score > best.at(-1)!.score)) return;
    let [low, high] = [0, best.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (best[middle]!.score >= score) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, { item, score });
    if (best.length > this.#count) best.pop();
  }

  get all(): readonly Scored<T>[] {
    return this.#best;
  }
}
