/** @file Plain TypeScript twins of assembly/sparse/slices.ts, where a piece is drawn; the same order of every sum. */

import { PIECE_WORDS } from '../../../memory/record-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { IdSums } from './id-sums.js';
import { twin } from './twin.js';

const BLOCK_ROWS = 32;

interface Piece {
  readonly first: number;
  readonly ids: number;
  /** In floats. */
  readonly offset: number;
  readonly floats: number;
  /** In floats. */
  readonly matrix: number;
  readonly stride: number;
  readonly add: boolean;
}

function piecesAt(m: Views, at: number, count: number): Piece[] {
  return Array.from({ length: count }, (_, i) => {
    const [first, ids, offset, floats, matrix, stride, add] = m.u32.subarray(at / 4 + i * PIECE_WORDS);
    return {
      first: first!,
      ids: ids!,
      offset: offset! / 4,
      floats: floats!,
      matrix: matrix! / 4,
      stride: stride! / 4,
      add: add !== 0,
    };
  });
}

/** Calls `visit` for every piece and row, a block of rows after the other. */
function walk(rows: number, pieces: readonly Piece[], visit: (piece: Piece, row: number) => void): void {
  for (let first = 0; first < rows; first += BLOCK_ROWS) {
    for (const piece of pieces) {
      for (let r = first; r < Math.min(first + BLOCK_ROWS, rows); r++) visit(piece, r);
    }
  }
}

export const gatherSlicesF32 = twin(
  KERNEL.gatherSlicesF32,
  (m, { rowPtrs, inverse, idsPerRow, rows, pieces, pieceCount }) => {
    walk(rows, piecesAt(m, pieces, pieceCount), ({ first, ids, offset, floats, matrix, stride, add }, r) => {
      for (let c = 0; c < floats; c++) {
        let sum = 0;
        for (let i = 0; i < ids; i++) {
          const row = m.u32[rowPtrs / 4 + m.u32[inverse / 4 + r * idsPerRow + first + i]!]! / 4;
          const weight = m.f32[row + offset + c]!;
          sum = i === 0 ? weight : Math.fround(sum + weight);
        }
        const to = matrix + r * stride + c;
        m.f32[to] = add ? m.f32[to]! + sum : sum;
      }
    });
  },
);

export const scatterSlicesF32 = twin(
  KERNEL.scatterSlicesF32,
  (m, { inverse, idsPerRow, rows, pieces, pieceCount, sums, sumsStride: sumStride, scratch }) => {
    const list = piecesAt(m, pieces, pieceCount);
    const most = Math.max(0, ...list.map(({ ids }) => ids));
    const blocks = IdSums.of(m, scratch, rows * most, sums, sumStride, sumStride);
    walk(rows, list, ({ first, ids, offset, floats, matrix, stride }, r) => {
      for (let i = 0; i < ids; i++) {
        const id = m.u32[inverse / 4 + r * idsPerRow + first + i]!;
        const to = sums / 4 + id * sumStride + offset;
        for (let c = 0; c < floats; c++) m.f32[to + c]! += m.f32[matrix + r * stride + c]!;
        blocks?.note(id);
      }
    });
    blocks?.end();
  },
);
