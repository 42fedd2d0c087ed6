/** @file Plain TypeScript twin of assembly/sparse/repeats.ts. */
import { KERNEL } from '../../kernels/kernels.js';
import { twin } from './twin.js';
export const numberRepeatsU32 = twin(
  KERNEL.numberRepeatsU32,
  ({ u32 }, { inverse, columns, rows, numbers, order, starts, stride, counts }) => {
    for (let j = 0; j < columns; j++) {
      const rowsOf = new Map<number, number[]>();
      for (let r = 0; r < rows; r++) {
        const entry = u32[inverse / 4 + r * columns + j]!;
        rowsOf.set(entry, [...(rowsOf.get(entry) ?? []), r]);
      }
      const byNumber = [...rowsOf.values()];
      let start = 0;
      byNumber.forEach((members, number) => {
        u32[starts / 4 + j * (stride + 2) + number] = start;
        u32.set(members, order / 4 + j * stride + start);
        for (const row of members) u32[numbers / 4 + j * stride + row] = number;
        start += members.length;
      });
      u32[starts / 4 + j * (stride + 2) + byNumber.length] = rows;
      u32[counts / 4 + j] = byNumber.length;
    }
  },
);
