/** @file Records of lists that kernels read: where the rows of a lookup go, and which columns of a product repeat. */

/**
 * A piece of gatherSlicesF32 and scatterSlicesF32, u32 words: a matrix that rows go to or gradients come from. `offset`,
 * in a row of the table, and `stride` are bytes; `matrix` is an address.
 */
export const PIECE = { first: 0, ids: 1, offset: 2, floats: 3, matrix: 4, stride: 5, add: 6 } as const;
export const PIECE_WORDS = 8;

/** Columns of equal ids in gemmRepeatsF32, u32 words; from `numbers` on they are addresses. */
export const FIELD = { column: 0, floats: 1, numbers: 2, order: 3, starts: 4, count: 5 } as const;
export const FIELD_WORDS = 8;
