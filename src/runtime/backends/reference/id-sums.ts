/** @file Sums of gradients per id in blocks: the plain twin of assembly/sparse/block-sums.ts, which says why. */

import { BLOCK_ADDITIONS, CHAIN_MAX } from '../../../memory/id-sums-layout.js';
import type { Views } from '../../../memory/views.js';

interface Tally {
  additions: number;
  carry?: Float32Array;
}

export class IdSums {
  readonly #m: Views;
  readonly #sums: number;
  readonly #stride: number;
  readonly #floats: number;
  readonly #tallies = new Map<number, Tally>();

  private constructor(m: Views, sums: number, stride: number, floats: number) {
    this.#m = m;
    this.#sums = sums / 4;
    this.#stride = stride;
    this.#floats = floats;
  }

  /**
   * Undefined when sums are chains: a feature has at most CHAIN_MAX ids in the call, or there is no scratch for more.
   */
  static of(m: Views, scratch: number, count: number, sums: number, stride: number, floats: number) {
    return scratch !== 0 && count > CHAIN_MAX ? new IdSums(m, sums, stride, floats) : undefined;
  }

  #sum(id: number): Float32Array {
    const at = this.#sums + id * this.#stride;
    return this.#m.f32.subarray(at, at + this.#floats);
  }

  /** Notes that something was added to the sum of an id. */
  note(id: number): void {
    const tally: Tally = this.#tallies.get(id) ?? { additions: 0 };
    if (tally.additions === 0) this.#tallies.set(id, tally);
    if (++tally.additions % BLOCK_ADDITIONS !== 0) return;
    const sum = this.#sum(id);
    if (tally.carry === undefined) tally.carry = sum.slice();
    else for (let c = 0; c < this.#floats; c++) tally.carry[c]! += sum[c]!;
    sum.fill(0);
  }

  /** Adds what was carried. */
  end(): void {
    for (const [id, { carry }] of this.#tallies) {
      const sum = this.#sum(id);
      for (let c = 0; carry !== undefined && c < this.#floats; c++) sum[c]! += carry[c]!;
    }
  }
}
