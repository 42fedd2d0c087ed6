/** @file The blocks of a step: what is copied between host and device as one, found by addresses of the arena. */

/** What has a place of its own on the device. */
export type BlockSource =
  | { readonly kind: 'arena'; readonly begin: number; readonly bytes: number }
  | { readonly kind: 'feed'; readonly feed: number; readonly bytes: number }
  | { readonly kind: 'pack'; readonly pack: number; readonly bytes: number }
  /** What was found of a table on the device; see table-use.ts. */
  | { readonly kind: 'found'; readonly bytes: number }
  | { readonly kind: 'sorted'; readonly sort: number; readonly bytes: number };

/** A place in a block, in bytes from its start. */
export interface BlockPlace {
  readonly block: number;
  readonly offset: number;
}

export class StepBlocks {
  readonly sources: BlockSource[] = [];
  readonly #begins: Uint32Array;
  readonly #known = new Map<number, number>();

  /** `begins` of the blocks of the arena, ascending, and the end of the last. */
  constructor(begins: Uint32Array) {
    this.#begins = begins;
  }

  add(source: BlockSource): number {
    return this.sources.push(source) - 1;
  }

  /** The block of the arena that an address is in, and how far; null outside of it. */
  place(address: number): BlockPlace | null {
    const begins = this.#begins;
    if (address < begins[0]! || address >= begins.at(-1)!) return null;
    let [low, high] = [0, begins.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (begins[middle]! <= address) low = middle;
      else high = middle;
    }
    const begin = begins[low]!;
    let block = this.#known.get(begin);
    if (block === undefined) {
      block = this.add({ kind: 'arena', begin, bytes: begins[low + 1]! - begin });
      this.#known.set(begin, block);
    }
    return { block, offset: address - begin };
  }

  /** Words from a place to the end of its block. */
  wordsFrom({ block, offset }: BlockPlace): number {
    return Math.floor((this.sources[block]!.bytes - offset) / 4);
  }
}
