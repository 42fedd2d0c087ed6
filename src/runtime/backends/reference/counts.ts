/** @file Plain twins of the counters of assembly/program.ts. */
import { KERNEL } from '../../kernels/kernels.js';
import { twin } from './twin.js';

export const addCountI64 = twin(KERNEL.addCountI64, (m, { counter: pointer, count }) => {
  m.i64[pointer / 8]! += BigInt(count);
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
