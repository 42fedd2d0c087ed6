/** @file The one-line account of a table that operators read (runtime/hash_table, Summary). */
import { BUCKET_SLOTS, bucketsOfMask, PARTITION } from '../../memory/table-layout.js';
import type { SegmentPlan, TablePlan } from '../config/table-plan.js';
import { type BankTable, rowsOf, sumOverPartitions } from './table-control.js';

/** Bytes upstream's map keeps beside a body: address and time. */
const MAP_VALUE_BYTES = 8;

const NAMES = { fp32: 'Fp32', fp16: 'Fp16', fixedR8: 'FixedR8', oneBit: 'OneBit' } as const;
const compressorText = ({ dim, compressor: { kind } }: SegmentPlan) => `${NAMES[kind]}(D=${dim})`;
const optimizerText = ({ dim, optimizer: { name } }: SegmentPlan) => `${name}(D=${dim})`;

/** `memory` is what upstream would report: rows times the bytes of a body and its place in the map. */
export function summarize(plan: TablePlan, tables: readonly BankTable[]): string {
  const size = tables.reduce((sum, table) => sum + rowsOf(table), 0);
  const slots = tables.reduce((sum, table) => sum + slotsOf(table), 0);
  const whole = plan.serving ? plan.dim * 4 : plan.bodyBytes;
  return JSON.stringify({
    accessor: plan.segments.map(plan.serving ? compressorText : optimizerText).join('|'),
    size,
    memory: size * (plan.bodyBytes + MAP_VALUE_BYTES),
    memory_if_not_compressed: size * (whole + MAP_VALUE_BYTES),
    load_factor: slots === 0 ? 0 : size / slots,
  });
}

/** Places in the index; a partition without an index has none. */
function slotsOf(table: BankTable): number {
  return sumOverPartitions(table, (u32, partition) =>
    u32[partition + PARTITION.index] === 0 ? 0 : bucketsOfMask(u32[partition + PARTITION.mask]!) * BUCKET_SLOTS,
  );
}
