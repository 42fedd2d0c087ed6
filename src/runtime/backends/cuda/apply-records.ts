/** @file Where the records of table updates hold addresses, and which kernels take such records. */
import { APPLY_SLICE } from '../../../memory/table-layout.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';

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
