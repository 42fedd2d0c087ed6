/**
 * @file Scratch memory of sums of gradients per id in blocks; assembly/sparse/block-sums.ts says why there are any.
 *
 * ```
 * | header | carry rows, one for each block of additions | tallies, one for each id |
 * ```
 */

/** A feature with more ids in a call is summed in blocks: up to here a chain is good enough, and faster. */
export const CHAIN_MAX = 4096;
/** Additions to the sum of an id after which it is carried, a power of two. */
export const BLOCK_ADDITIONS = 256;

/** `next`: where the next carry row goes. */
export const ID_SUMS = { tallies: 0, next: 1, carryBytes: 2, floats: 3 } as const;
/** A carry row is the id, three spare words, and the floats of the sum, a multiple of four. */
export const CARRY = { id: 0, sum: 4 } as const;
export const CARRIES = 4;
export const TALLY = { additions: 0, carry: 1 } as const;
export const TALLY_WORDS = 2;

/** Bytes of the scratch of sums for `ids` unique ids of `stride` floats, in calls of at most `additions` additions. */
export function idSumsScratchBytes(ids: number, stride: number, additions: number): number {
  const carryWords = CARRY.sum + Math.ceil(stride / 4) * 4;
  return 4 * (CARRIES + Math.floor(additions / BLOCK_ADDITIONS) * carryWords + ids * TALLY_WORDS);
}

/** Whether a feature with up to `count` ids in a call needs that scratch. */
export function needsIdSums(count: number): boolean {
  return count > CHAIN_MAX;
}
