/** @file Plain twins of assembly/counts.ts. */
import { TIME_UNKNOWN } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { twin } from './twin.js';

export const addCountI64 = twin(KERNEL.addCountI64, (m, { counter: pointer, count }) => {
  m.i64[pointer / 8]! += BigInt(count);
});

function columnOf({ i64 }: Views, src: number, stride: number, rows: number): bigint[] {
  return Array.from({ length: rows }, (_, row) => i64[src / 8 + row * stride]!);
}

export const sumI64 = twin(KERNEL.sumI64, (m, { src, srcStride, rows, dst }) => {
  m.i64[dst / 8] = columnOf(m, src, srcStride, rows).reduce((sum, value) => sum + value, 0n);
});

export const maxI64 = twin(KERNEL.maxI64, (m, { src, srcStride, rows, dst }) => {
  const column = columnOf(m, src, srcStride, rows);
  m.i64[dst / 8] = column.reduce((largest, value) => (value > largest ? value : largest), -(2n ** 63n));
});

export const addSlicesI64 = twin(KERNEL.addSlicesI64, (m, { counter, parts, sliceStride, slices }) => {
  for (const part of columnOf(m, parts, sliceStride / 8, slices)) m.i64[counter / 8]! += part;
});

export const latestOfSlices = twin(KERNEL.latestOfSlices, (m, { parts, sliceStride, slices }) => {
  const latest = columnOf(m, parts, sliceStride / 8, slices).reduce((a, b) => (a > b ? a : b), -1n);
  return latest < 0n ? TIME_UNKNOWN : Math.min(Number(latest), TIME_UNKNOWN - 1);
});

export const advanceGeneration = twin(KERNEL.advanceGeneration, (m, { cell, table, cells }) => {
  let generation = (m.u32[cell / 4]! + 1) >>> 0;
  if (generation === 0) {
    m.u8.fill(0, table, table + cells * 16);
    generation = 1;
  }
  m.u32[cell / 4] = generation;
  return generation;
});

function shareBegin({ u32 }: Views, count: number, share: number, shares: number): number {
  return Math.floor((u32[count / 4]! * share) / shares);
}

export const shareOf = twin(
  KERNEL.shareOf,
  (m, { count, share, shares }) => shareBegin(m, count, share + 1, shares) - shareBegin(m, count, share, shares),
);

export const shareAt = twin(
  KERNEL.shareAt,
  (m, { base, count, share, shares, bytes }) => base + shareBegin(m, count, share, shares) * bytes,
);
