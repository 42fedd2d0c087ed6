/**
 * @file Sorts the gradients of a step by the unique id they go to, so that a device adds them up without atomics and in
 * the order of the CPU: sums then have the same bits in every run.
 *
 * The host has the ids and their inverse anyway. It groups them by a counting sort, which takes two passes, and the
 * sorted list is copied over while the device still computes the gradients. What goes there, in words:
 *
 *   | unique id, end of its entries | of each segment, in the order ids first come | entries of all segments |
 */

/** Rows of 32 are the blocks in which scatterSlicesF32 goes over its pieces. */
const BLOCK_ROWS = 32;

/** Values of registers are named by the word of the memory they are at. */
export type GradientSource =
  | {
      /** scatterAddF32, scatterMeanF32 and firstNGradF32. Entry r * perRow + k is vector k of example r. */
      readonly kind: 'ragged';
      readonly inverse: number;
      readonly splits: number;
      readonly rows: number;
      /** Vectors of an example, each for one of its first ids; 0 when one vector is for all ids. */
      readonly firstN: number;
    }
  | {
      /** scatterSlicesF32. Entry r * pieces + p is row r of the matrix of piece p. */
      readonly kind: 'slices';
      readonly inverse: number;
      readonly idsPerRow: number;
      readonly rows: number;
      readonly pieces: readonly { readonly first: number; readonly ids: number }[];
    };

export class GradientSort {
  readonly #source: GradientSource;
  /** How many entries each unique id has; zeros between steps. */
  readonly #counts: Uint32Array;
  /** Unique id and entry, in the order of the CPU. */
  readonly #keys: Uint32Array;
  readonly #entries: Uint32Array;
  /** Where the sorted list goes. */
  readonly #out: Uint32Array;
  #segments = 0;

  constructor(source: GradientSource, uniqueMax: number, out: Uint32Array) {
    this.#source = source;
    this.#counts = new Uint32Array(uniqueMax);
    const entriesMax = out.length / WORDS_PER_ENTRY;
    this.#keys = new Uint32Array(entriesMax);
    this.#entries = new Uint32Array(entriesMax);
    this.#out = out;
  }

  /** Segments of the list that was sorted last. */
  get segments(): number {
    return this.#segments;
  }

  /** Sorts the gradients of the step at hand. */
  sort(u32: Uint32Array): void {
    const count = this.#source.kind === 'ragged' ? this.#listRagged(u32) : this.#listSlices(u32);
    this.#group(count);
  }

  #listRagged(u32: Uint32Array): number {
    const source = this.#source as GradientSource & { kind: 'ragged' };
    const { firstN } = source;
    const [keys, entries] = [this.#keys, this.#entries];
    const [inverse, splits, rows] = [u32[source.inverse]! / 4, u32[source.splits]! / 4, u32[source.rows]!];
    const base = inverse - u32[splits]!;
    let count = 0;
    for (let r = 0; r < rows; r++) {
      const begin = u32[splits + r]!;
      const end = firstN === 0 ? u32[splits + r + 1]! : Math.min(u32[splits + r + 1]!, begin + firstN);
      for (let j = begin; j < end; j++) {
        keys[count] = u32[base + j]!;
        entries[count++] = firstN === 0 ? r : r * firstN + (j - begin);
      }
    }
    return count;
  }

  #listSlices(u32: Uint32Array): number {
    const { pieces, idsPerRow, ...source } = this.#source as GradientSource & { kind: 'slices' };
    const [keys, entries] = [this.#keys, this.#entries];
    const [inverse, rows] = [u32[source.inverse]! / 4, u32[source.rows]!];
    let count = 0;
    for (let block = 0; block < rows; block += BLOCK_ROWS) {
      const end = Math.min(block + BLOCK_ROWS, rows);
      for (let p = 0; p < pieces.length; p++) {
        const { first, ids } = pieces[p]!;
        for (let r = block; r < end; r++) {
          const at = inverse + r * idsPerRow + first;
          for (let i = 0; i < ids; i++) {
            keys[count] = u32[at + i]!;
            entries[count++] = r * pieces.length + p;
          }
        }
      }
    }
    return count;
  }

  /** Counts, gives each id a place, and puts every entry there. Entries of an id keep their order. */
  #group(count: number): void {
    const [counts, keys, entries, out] = [this.#counts, this.#keys, this.#entries, this.#out];
    let segments = 0;
    for (let i = 0; i < count; i++) {
      const key = keys[i]!;
      if (counts[key]!++ === 0) out[2 * segments++] = key;
    }
    const first = 2 * segments;
    let end = 0;
    for (let s = 0; s < segments; s++) {
      const key = out[2 * s]!;
      const begin = end;
      end += counts[key]!;
      out[2 * s + 1] = end;
      counts[key] = begin;
    }
    for (let i = 0; i < count; i++) out[first + counts[keys[i]!]!++] = entries[i]!;
    for (let s = 0; s < segments; s++) counts[out[2 * s]!] = 0;
    this.#segments = segments;
  }
}

/** Words of the list per entry, at most: an id and an end for each, and the entry. */
export const WORDS_PER_ENTRY = 3;
