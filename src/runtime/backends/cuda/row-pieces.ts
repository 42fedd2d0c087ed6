/**
 * @file Pieces: which floats of which rows go to which matrix, in calls that move feature slices of all features at
 * once.
 *
 * memory/record-layout.ts draws the records.
 */
import { DEVICE_PIECE, DEVICE_PIECE_WORDS } from '../../../memory/device-record-layout.js';
import { PIECE, PIECE_WORDS, wordsOf } from '../../../memory/record-layout.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import { callOf, type Instruction } from './read-program.js';
import type { StepBlocks } from './step-blocks.js';
import type { PieceList } from './step-work.js';

export type Piece = Readonly<Record<keyof typeof PIECE, number>>;

export const hasPieces = (kernel: Kernel) => kernel === KERNEL.gatherSlicesF32 || kernel === KERNEL.scatterSlicesF32;

/** The pieces of gatherSlicesF32 and scatterSlicesF32. */
export function piecesOf(instruction: Instruction, u32: Uint32Array): Piece[] {
  const call = callOf(instruction, KERNEL.gatherSlicesF32) ?? callOf(instruction, KERNEL.scatterSlicesF32)!;
  const first = u32[call.pieces]! / 4;
  return Array.from({ length: u32[call.pieceCount]! }, (_, index) => {
    const words = u32.subarray(first + index * PIECE_WORDS);
    return Object.fromEntries(Object.entries(PIECE).map(([name, word]) => [name, words[word]!])) as Piece;
  });
}

/** Pieces as the device has them; their matrices are put in where they are known. */
export function pieceList(pieces: readonly Piece[], blocks: StepBlocks): PieceList {
  const words = pieces.flatMap(({ first, ids, offset, floats, stride, add }) =>
    wordsOf(DEVICE_PIECE, DEVICE_PIECE_WORDS, { first, ids, offset, floats, matrix: 0, stride, add }),
  );
  return { words: Uint32Array.from(words), places: pieces.map(({ matrix }) => blocks.place(matrix)!) };
}
