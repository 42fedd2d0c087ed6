/** @file Exports of assembly/filter. `counts` and `present` may be 0: one each, and none. */
export interface FilterKernels {
  filterAdd(filter: number, ids: number, counts: number, n: number, out: number): void;
  filterGet(filter: number, ids: number, n: number, out: number): void;
  filterIds(
    filter: number,
    ids: number,
    counts: number,
    n: number,
    thresholds: number,
    present: number,
    out: number,
  ): void;
  seedXorshift(generator: number, seed: bigint): void;
  nextXorshift(generator: number): number;
  filterByChance(
    generator: number,
    ids: number,
    counts: number,
    n: number,
    thresholds: number,
    chances: number,
    present: number,
    out: number,
  ): void;
}
