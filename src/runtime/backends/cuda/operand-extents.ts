/** @file What calls leave of the blocks they write, and where the records of table updates hold addresses. */
import { APPLY_SLICE } from '../../../memory/table-layout.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';

/** What there is of a block after a call: operands to multiply, and bytes of one. By kernel and operand. */
export const EXTENTS: Readonly<
  Record<string, Readonly<Record<number, 'within' | readonly [scale: number, ...operands: number[]]>>>
> = {
  uniqueI64: { 7: [4, 1] },
  uniqueColumnsI64: { 10: [4, 2, 4] },
  tableRetrieve: { 3: [4, 2, 4] },
  zeroRowsF32: { 0: [4, 1, 2] },
  scatterAddF32: { 6: 'within' },
  scatterMeanF32: { 6: 'within' },
  firstNGradF32: { 7: 'within' },
  scatterSlicesF32: { 5: 'within' },
};

/** Kernels whose records are those of tableApply. */
export const APPLIES: ReadonlySet<Kernel> = new Set([
  KERNEL.tableApply,
  KERNEL.bankedApply,
  KERNEL.tableAdmit,
  KERNEL.filterCount,
  KERNEL.tableTouch,
]);
/** Larger blocks are taken for values. */
export const RECORD_BYTES_MAX = 4096;

export const READ_OF_RECORDS = [
  APPLY_SLICE.ids,
  APPLY_SLICE.order,
  APPLY_SLICE.offsets,
  APPLY_SLICE.gradients,
  APPLY_SLICE.counts,
];
export const WRITTEN_OF_RECORDS = [APPLY_SLICE.rows, APPLY_SLICE.slots];
