/** @file How often each value of a column is there: values are told apart by their text. */

/** Values that are told apart; there are `more` from there on. */
const DISTINCT_MAX = 1 << 18;

export class ValueCounts {
  /** As long as there are numbers alone: to make their texts costs more than to count them. */
  #numbers: Map<number, number> | undefined = new Map();
  #texts = new Map<string, number>();
  #overflowed = false;

  add(cell: unknown): void {
    if (this.#numbers !== undefined) {
      if (typeof cell === 'number') {
        this.#count(this.#numbers, cell);
        return;
      }
      this.#texts = new Map([...this.#numbers].map(([value, count]) => [String(value), count]));
      this.#numbers = undefined;
    }
    this.#count(this.#texts, typeof cell === 'string' ? cell : String(cell));
  }

  /** By numbers where there are numbers alone, otherwise by texts. */
  get counts(): ReadonlyMap<string | number, number> {
    return this.#numbers ?? this.#texts;
  }

  get distinct(): number {
    return this.counts.size;
  }

  /** Whether there are more values than were counted. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** All of them, as they came first. */
  values(): string[] {
    return Array.from(this.counts.keys(), String);
  }

  /** The most frequent ones. */
  top(count: number): [value: string, count: number][] {
    const found: [value: string | number, count: number][] = [];
    for (const entry of this.counts) {
      if (found.length === count && entry[1] <= found[count - 1]![1]) continue;
      found.push(entry);
      found.sort((a, b) => b[1] - a[1]);
      found.length = Math.min(count, found.length);
    }
    return found.map(([value, times]) => [String(value), times]);
  }

  #count<T>(counts: Map<T, number>, value: T): void {
    const known = counts.get(value);
    if (known !== undefined) counts.set(value, known + 1);
    else if (counts.size < DISTINCT_MAX) counts.set(value, 1);
    else this.#overflowed = true;
  }
}
