/** @file What a GPU cannot do of a table. */
import { MonolithError } from '../../../base/errors.js';
import type { TableTraits } from '../backend.js';
import { DEVICE_OPTIMIZERS } from './row-steps.js';

export function tableRefusal(table: string, reason: string, hint: string): MonolithError {
  return new MonolithError('ML_GPU_TABLE', { table, reason }, { hint });
}

/** ML_GPU_TABLE when the table cannot live on the device. */
export function refuseTable(table: TableTraits): void {
  const refuse = (reason: string, hint: string): never => {
    throw tableRefusal(table.name, reason, hint);
  };
  const { whenFull, segments } = table;
  if (table.serving) refuse('it is a serving table', 'train with a table of training entries');
  if (table.isFiltered) refuse('it has an admission filter', 'leave the filter out, or the table on the host');
  if (table.recordsTouched) refuse('it records touched ids', 'leave the table on the host');
  if (whenFull !== 'fail') refuse(`it does not fail but ${whenFull} when it is full`, "use whenFull 'fail'");
  if (table.isApart) {
    const hint = "use fewer tableBytes: at most half of the session's memory";
    refuse("the host's tables are in memories of their own", hint);
  }
  for (const { optimizer, roundsToHalf, compressor } of segments) {
    if (!DEVICE_OPTIMIZERS.includes(optimizer)) {
      refuse(`its optimizer is ${optimizer}`, `there are ${DEVICE_OPTIMIZERS.join(', ')}`);
    }
    if (roundsToHalf) {
      const reason = `its optimizer ${optimizer} rounds weights to half precision (stochasticRoundingFloat16)`;
      refuse(reason, 'leave the rounding out, or the table on the host');
    }
    if (compressor === 'fixedR8' || compressor === 'oneBit') {
      refuse(`lookups show what ${compressor} makes of its weights`, 'use fp32 or fp16');
    }
  }
}
