/** @file A list of numbers that grows by doubling, as one typed array. */
export class Column {
  #values = new Float64Array(64);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** What is in it, in place: good until the next append. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }

  append(values: ArrayLike<number>): void {
    const count = this.#count + values.length;
    if (count > this.#values.length) {
      const grown = new Float64Array(Math.max(count, 2 * this.#values.length));
      grown.set(this.values);
      this.#values = grown;
    }
    this.#values.set(values, this.#count);
    this.#count = count;
  }
}
