/**
 * @file Gradients of equal ids added up, for updates that step each id once.
 *
 * By hand, because it is hot: a Map of bigints takes several times as long as all the rest of such an update.
 */
import { mixBy } from '../../memory/hash.js';
import { SECRET_HIGH, SECRET_LOW } from '../../memory/secret.js';

export interface SummedGradients {
  /** Each id once, in the order of its first appearance. */
  readonly ids: BigInt64Array;
  readonly gradients: Float32Array;
  /** How often each id came. */
  readonly counts: Uint32Array;
  /** Where each id came first. */
  readonly first: Uint32Array;
}

/** Sums of `dim` floats per id, in f32 and in order. */
export function sumGradients(ids: BigInt64Array, gradients: Float32Array, dim: number): SummedGradients {
  const sums = new Float32Array(gradients.length);
  const counts = new Uint32Array(ids.length);
  const first = new Uint32Array(ids.length);
  const places = new Places(ids, first);
  for (let position = 0; position < ids.length; position++) {
    const place = places.of(position);
    counts[place]!++;
    const [from, to] = [position * dim, place * dim];
    // A sum begins as its first gradient: 0 + -0 would be 0.
    if (first[place] === position) for (let c = 0; c < dim; c++) sums[to + c] = gradients[from + c]!;
    else for (let c = 0; c < dim; c++) sums[to + c]! += gradients[from + c]!;
  }
  const { count } = places;
  const unique = new BigInt64Array(count);
  for (let place = 0; place < count; place++) unique[place] = ids[first[place]!]!;
  return {
    ids: unique,
    gradients: sums.subarray(0, count * dim),
    counts: counts.subarray(0, count),
    first: first.subarray(0, count),
  };
}

/** Numbers ids in the order they come: open addressing over the two words of an id. */
class Places {
  count = 0;
  readonly #lanes: Uint32Array;
  readonly #first: Uint32Array;
  /** Place + 1, or 0 where a cell is free; at most half are taken. */
  readonly #cells: Int32Array;
  readonly #hash = new Uint32Array(2);

  constructor(ids: BigInt64Array, first: Uint32Array) {
    this.#lanes = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
    this.#first = first;
    this.#cells = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, ids.length * 2))));
  }

  /** Place of the id at `position`; a new id is given the next one. */
  of(position: number): number {
    const lanes = this.#lanes;
    const [low, high] = [lanes[2 * position]!, lanes[2 * position + 1]!];
    mixBy(SECRET_LOW, SECRET_HIGH, low, high, this.#hash);
    const mask = this.#cells.length - 1;
    for (let cell = this.#hash[0]! & mask; ; cell = (cell + 1) & mask) {
      const place = this.#cells[cell]! - 1;
      if (place < 0) {
        this.#first[this.count] = position;
        this.#cells[cell] = ++this.count;
        return this.count - 1;
      }
      const seen = this.#first[place]! * 2;
      if (lanes[seen] === low && lanes[seen + 1] === high) return place;
    }
  }
}
