/** @file Plain twins of the counters of assembly/program.ts. */
import type { Views } from '../../../memory/views.js';

export function addCountI64(m: Views, pointer: number, count: number): void {
  m.i64[pointer / 8]! += BigInt(count);
}

export function advanceGeneration(m: Views, cell: number, table: number, cells: number): number {
  let generation = (m.u32[cell / 4]! + 1) >>> 0;
  if (generation === 0) {
    m.u8.fill(0, table, table + cells * 16);
    generation = 1;
  }
  m.u32[cell / 4] = generation;
  return generation;
}
