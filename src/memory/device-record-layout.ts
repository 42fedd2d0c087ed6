/**
 * @file Records that CUDA kernels read, where those of record-layout.ts have addresses of 32 bits.
 *
 * Numbers are of words of 32 bits; an address takes two, low word first.
 */

/** PIECE of record-layout.ts with an address of a device. */
export const DEVICE_PIECE = { first: 0, ids: 1, offset: 2, floats: 3, matrix: 4, stride: 6, add: 7 } as const;
export const DEVICE_PIECE_WORDS = 8;

/** LAYOUT_SOURCE of record-layout.ts likewise. */
export const DEVICE_SOURCE = { address: 0, floats: 2, unit: 3 } as const;
export const DEVICE_SOURCE_WORDS = 4;
