/**
 * @file Plain TypeScript twins of assembly/dense/gemm-repeats.ts and gemm-repeats-grad.ts; the same order of every sum.
 */

import { FIELD_WORDS } from '../../../../memory/record-layout.js';
import { REPEATS } from '../../../../memory/sum-blocks.js';
import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { blockK, sumInBlocks } from './block-sums.js';
import { gemmF32 } from './gemm.js';

/** Columns of the gradient that are worked on at once. */
const COLUMNS = 32;
const f = Math.fround;

interface Field {
  readonly column: number;
  readonly floats: number;
  /** Number of each row's id, and the first row of each number. */
  readonly numbers: Uint32Array;
  readonly firsts: Uint32Array;
}

function fieldsAt({ u32 }: Views, at: number, count: number, rows: number): Field[] {
  return Array.from({ length: count }, (_, i) => {
    const [column, floats, numbers, order, starts, count] = u32.subarray(at / 4 + i * FIELD_WORDS);
    return {
      column: column!,
      floats: floats!,
      numbers: u32.subarray(numbers! / 4, numbers! / 4 + rows),
      firsts: u32.slice(starts! / 4, starts! / 4 + u32[count! / 4]!).map((start) => u32[order! / 4 + start]!),
    };
  });
}

/** Whether at most three of four products are left. */
function pays(fields: readonly Field[], rows: number): boolean {
  const left = fields.reduce((sum, { floats, firsts }) => sum + floats * firsts.length, 0);
  return left > 0 && left * 4 <= fields.reduce((sum, { floats }) => sum + floats * rows, 0) * 3;
}

/** Columns outside of fields, as ranges that are not empty. */
function gapsOf(fields: readonly Field[], k: number): (readonly [from: number, to: number])[] {
  const begins = [0, ...fields.map(({ column, floats }) => column + floats)];
  const ends = [...fields.map(({ column }) => column), k];
  return begins.map((from, i) => [from, ends[i]!] as const).filter(([from, to]) => to > from);
}

/** The WASM versions pack operands; there is no need for scratch here. */
export function gemmRepeatsScratchBytes(
  _m: Views,
  _rows: number,
  _n: number,
  _k: number,
  _fieldCount: number,
  _width: number,
): number {
  return 0;
}
export const gemmRepeatsGradScratchBytes = gemmRepeatsScratchBytes;

export const gemmRepeatsF32 = twin(
  KERNEL.gemmRepeatsF32,
  (m, { x, xStride, w, out, outStride, rows, n, k, fields: fieldsAddress, fieldCount, acc, scratch }) => {
    const all = fieldsAt(m, fieldsAddress, fieldCount, rows);
    const fields = pays(all, rows) ? all : [];
    let add = acc;
    for (const [from, to] of gapsOf(fields, k)) {
      gemmF32(m, x + from * 4, xStride, 1, w + from * n * 4, n, 1, out, outStride, rows, n, to - from, add, scratch);
      add = 1;
    }
    if (add === 0) gemmF32(m, x, xStride, 1, w, n, 1, out, outStride, rows, n, 0, 0, scratch);
    for (const { column, floats, numbers, firsts } of fields) {
      const products = Array.from(firsts, (row) => {
        const distinct = m.f32.subarray(x / 4 + row * xStride + column);
        return Float32Array.from({ length: n }, (_, c) => {
          return sumInBlocks(floats, floats, (i) => f(distinct[i]! * m.f32[w / 4 + (column + i) * n + c]!));
        });
      });
      numbers.forEach((number, r) => {
        for (let c = 0; c < n; c++) m.f32[out / 4 + r * outStride + c]! += products[number]![c]!;
      });
    }
  },
);

export const gemmRepeatsGradF32 = twin(
  KERNEL.gemmRepeatsGradF32,
  (
    m,
    {
      x,
      xStride,
      w,
      grad,
      gradStride,
      dx,
      dxStride,
      dxFrom,
      dxCount,
      dxAcc,
      dw,
      rows,
      n,
      k,
      fields: fieldsAddress,
      fieldCount,
      scratch,
    },
  ) => {
    const all = fieldsAt(m, fieldsAddress, fieldCount, rows);
    const fields = pays(all, rows) ? all : [];
    for (const [first, last] of gapsOf(fields, k)) {
      if (dw !== 0) {
        const [from, to] = [x + first * 4, dw + first * n * 4];
        gemmF32(m, from, 1, xStride, grad, gradStride, 1, to, n, last - first, n, rows, 0, scratch);
      }
      const [from, to] = [Math.max(first, dxFrom), Math.min(last, dxFrom + dxCount)];
      if (dx === 0 || to <= from) continue;
      const at = dx + (from - dxFrom) * 4;
      gemmF32(m, grad, gradStride, 1, w + from * n * 4, 1, n, at, dxStride, rows, to - from, n, dxAcc, scratch);
    }
    for (const { column, floats, numbers, firsts } of fields) {
      const rowsOf = Array.from(firsts, (): number[] => []);
      numbers.forEach((number, r) => void rowsOf[number]!.push(r));
      const sums = rowsOf.map((equal) =>
        Float32Array.from({ length: n }, (_, c) =>
          sumInBlocks(equal.length, REPEATS, (i) => m.f32[grad / 4 + equal[i]! * gradStride + c]!),
        ),
      );
      for (let i = 0; i < floats; i++) {
        const weights = m.f32.subarray(w / 4 + (column + i) * n);
        for (let c = 0; dw !== 0 && c < n; c++) {
          m.f32[dw / 4 + (column + i) * n + c] = sumInBlocks(firsts.length, blockK(firsts.length), (number) =>
            f(m.f32[x / 4 + firsts[number]! * xStride + column + i]! * sums[number]![c]!),
          );
        }
        if (dx === 0) continue;
        const to = dx / 4 + column - dxFrom + i;
        for (let r = 0; dxAcc === 0 && r < rows; r++) m.f32[to + r * dxStride] = 0;
        firsts.forEach((row, number) => {
          m.f32[to + row * dxStride]! += sumInBlocks(n, COLUMNS, (c) => f(sums[number]![c]! * weights[c]!));
        });
      }
    }
  },
);
