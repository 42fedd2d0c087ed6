/**
 * @file Memory for batches of any size that are used in order: each is taken behind the one before, from the beginning
 * again at the end, as soon as nobody uses what was there.
 */
interface Taken {
  readonly from: number;
  readonly to: number;
}

const ALIGN = 64;

export class Region {
  readonly #at: number;
  readonly #end: number;
  readonly #ahead: number;
  /** Those that may be in use, the oldest first. */
  readonly #taken: Taken[] = [];
  /** How many were given back. */
  #given = 0;

  /** A batch is in use until `ahead` more than it were taken by the consumer. */
  constructor(at: number, bytes: number, ahead: number) {
    this.#at = at;
    this.#end = at + bytes;
    this.#ahead = ahead;
  }

  /** Whether a batch of so many bytes finds a place whatever the others have. */
  fits(bytes: number): boolean {
    return (bytes + ALIGN) * (this.#ahead + 2) <= this.#end - this.#at;
  }

  /** A place, once the consumer took `taken` batches; undefined while there is none. */
  take(bytes: number, taken: number): number | undefined {
    while (this.#taken.length > 0 && taken - this.#given > this.#ahead) {
      this.#taken.shift();
      this.#given++;
    }
    const size = Math.ceil(bytes / ALIGN) * ALIGN;
    const from = this.#place(size);
    if (from !== undefined) this.#taken.push({ from, to: from + size });
    return from;
  }

  #place(size: number): number | undefined {
    const [oldest, newest] = [this.#taken[0], this.#taken.at(-1)];
    if (oldest === undefined || newest === undefined) return this.#at + size <= this.#end ? this.#at : undefined;
    if (newest.to > oldest.from) {
      if (newest.to + size <= this.#end) return newest.to;
      return this.#at + size <= oldest.from ? this.#at : undefined;
    }
    return newest.to + size <= oldest.from ? newest.to : undefined;
  }
}
