/**
 * @file A table of a session that lives on a device: which ones can, and how its rows come back to the host.
 *
 * The hash table on the host stays what everybody but steps works with. It may be old: whoever reads it calls `bringHome`
 * first, and whoever writes it `changed` too. Steps then upload what they need.
 */
import { MonolithError } from '../../base/errors.js';
import { TABLE } from '../../memory/table-layout.js';
import type { ResidentTable, ResidentTables } from '../../runtime/backends/cuda/resident-tables.js';
import { DEVICE_OPTIMIZERS } from '../../runtime/backends/cuda/row-steps.js';
import type { CompileEnvironment } from '../../runtime/compile/compile-environment.js';
import type { TableConfig } from '../config/table-config.js';
import { planTable, type SegmentPlan, type TablePlan } from '../config/table-plan.js';
import type { BankTable } from './table-control.js';
import type { TableOptions } from './table-options.js';
import type { TableRowView } from './table-rows.js';
import { keepsIdsOut } from './update-gate.js';

/** ML_GPU_TABLE with what a device cannot do of the table. */
export function checkDeviceTable(session: CompileEnvironment, config: TableConfig, options: TableOptions): void {
  const refuse = (reason: string, hint: string) => {
    throw new MonolithError('ML_GPU_TABLE', { table: config.name, reason }, { hint });
  };
  const plan = planTable(config);
  if (plan.serving) refuse('it is a serving table', 'train with a table of training entries');
  if (keepsIdsOut(options.filter))
    refuse('it has an admission filter', 'leave the filter out, or the table on the host');
  if (options.touchedKeys !== undefined) refuse('it records touched ids', 'leave the table on the host');
  const { whenFull = 'fail' } = options;
  if (whenFull !== 'fail') refuse(`it does not fail but ${whenFull} when it is full`, "use whenFull 'fail'");
  if (session.tables.banks[0]!.views.buffer !== session.views.buffer) {
    const hint = "use fewer tableBytes: at most half of the session's memory";
    refuse("the host's tables are in memories of their own", hint);
  }
  for (const { optimizer, compressor } of plan.segments) {
    if (!DEVICE_OPTIMIZERS.includes(optimizer.name)) {
      refuse(`its optimizer is ${optimizer.name}`, `there are ${DEVICE_OPTIMIZERS.join(', ')}`);
    }
    if (optimizer.roundsToHalf) {
      const reason = `its optimizer ${optimizer.name} rounds weights to half precision (stochasticRoundingFloat16)`;
      refuse(reason, 'leave the rounding out, or the table on the host');
    }
    if (compressor.kind === 'fixedR8' || compressor.kind === 'oneBit') {
      refuse(`lookups show what ${compressor.kind} makes of its weights`, 'use fp32 or fp16');
    }
  }
}

/** Of a table that a session made; undefined when its tables stay on the host. */
export function residenceOf(
  { deviceTables }: CompileEnvironment,
  name: string,
  plan: TablePlan,
  table: BankTable,
): DeviceResidence | undefined {
  return deviceTables && new DeviceResidence(deviceTables, name, plan, table);
}

export class DeviceResidence {
  readonly #resident: ResidentTable;
  readonly #plan: TablePlan;
  readonly #name: string;

  /** Of the empty table at `address`. */
  constructor(tables: ResidentTables, name: string, plan: TablePlan, { bank, address }: BankTable) {
    const { u32, f32 } = bank.views;
    // The row that absent ids read lends its place: it is as long as any.
    const [begin, floats] = [u32[address / 4 + TABLE.zeroRow]! / 4, plan.rowBytes / 4];
    bank.kernels.tableInitRow(address, begin * 4, 0n);
    const first = f32.slice(begin, begin + floats);
    f32.fill(0, begin, begin + floats);
    const range = new Float32Array(first.length);
    for (const segment of plan.segments) writeFirst(segment, first, range);
    this.#resident = tables.add(name, address, { first, range });
    this.#plan = plan;
    this.#name = name;
  }

  /** ML_GPU_TABLE: other threads know nothing of the device. */
  refuseHandle(): never {
    const reason = 'another thread is to work on it';
    throw new MonolithError('ML_GPU_TABLE', { table: this.#name, reason }, { hint: 'leave the table on the host' });
  }

  /** Rows, wherever the newest are; undefined when the host has them. */
  get size(): number | undefined {
    return this.#resident.isHome ? undefined : this.#resident.count();
  }

  /** Calls `restore` with all rows when the host's are old. */
  bringHome(restore: (rows: Iterable<TableRowView>) => void): void {
    if (this.#resident.isHome) return;
    restore(this.#rows());
    this.#resident.cameHome();
  }

  changed(): void {
    this.#resident.changed();
  }

  *#rows(): Generator<TableRowView> {
    const { dim, stateFloats } = this.#plan;
    for (const { id, lastUpdateSec, floats } of this.#resident.rows()) {
      yield { id, lastUpdateSec, weights: floats.subarray(0, dim), state: floats.subarray(dim, dim + stateFloats) };
    }
  }
}

function writeFirst({ initializer, weightOffset, dim }: SegmentPlan, first: Float32Array, range: Float32Array): void {
  const end = weightOffset + dim;
  if (initializer.kind === 'constant') {
    first.fill(initializer.value, weightOffset, end);
    return;
  }
  const [from, to] = [Math.fround(initializer.minval), Math.fround(initializer.maxval)];
  first.fill(from, weightOffset, end);
  range.fill(Math.fround(to - from), weightOffset, end);
}
