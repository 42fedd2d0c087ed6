/**
 * @file A table of a session whose backend keeps rows in another memory: how they come back home.
 *
 * The hash table at home stays what everybody but steps works with. It may be old: whoever reads it calls `bringHome`
 * first, and whoever writes it `changed` too. Steps then take along what they need.
 */
import { TABLE } from '../../memory/table-layout.js';
import type { TableHome, TableHomes, TableTraits } from '../../runtime/backends/backend.js';
import type { SessionCore } from '../../runtime/session/session-core.js';
import type { TableConfig } from '../config/table-config.js';
import { planTable, type SegmentPlan, type TablePlan } from '../config/table-plan.js';
import type { BankTable } from './table-control.js';
import type { TableOptions } from './table-options.js';
import type { TableRowView } from './table-rows.js';
import { keepsIdsOut } from './update-gate.js';

/** What the backend of a session may have to refuse of a table. */
export function traitsOf({ tables, views }: SessionCore, config: TableConfig, options: TableOptions): TableTraits {
  const plan = planTable(config);
  return {
    name: config.name,
    serving: plan.serving,
    isFiltered: keepsIdsOut(options.filter),
    recordsTouched: options.touchedKeys !== undefined,
    whenFull: options.whenFull ?? 'fail',
    isApart: tables.banks[0]!.views.buffer !== views.buffer,
    segments: plan.segments.map(({ optimizer, compressor }) => ({
      optimizer: optimizer.name,
      roundsToHalf: optimizer.roundsToHalf,
      compressor: compressor.kind,
    })),
  };
}

export class TableResidence {
  readonly #home: TableHome;
  readonly #plan: TablePlan;

  /** Of the empty table at `address`. */
  constructor(homes: TableHomes, name: string, plan: TablePlan, { bank, address }: BankTable) {
    const { u32, f32 } = bank.views;
    // The row that absent ids read lends its place: it is as long as any.
    const [begin, floats] = [u32[address / 4 + TABLE.zeroRow]! / 4, plan.rowBytes / 4];
    bank.kernels.tableInitRow(address, begin * 4, 0n);
    const first = f32.slice(begin, begin + floats);
    f32.fill(0, begin, begin + floats);
    const range = new Float32Array(first.length);
    for (const segment of plan.segments) writeFirst(segment, first, range);
    this.#home = homes.add(name, address, { first, range });
    this.#plan = plan;
  }

  /** Throws: other threads know nothing of rows elsewhere. */
  refuseHandle(): never {
    return this.#home.refuseHandle();
  }

  /** Rows, wherever the newest are; undefined when they are at home. */
  get size(): number | undefined {
    return this.#home.isHome ? undefined : this.#home.count();
  }

  /** Calls `restore` with all rows when those at home are old. */
  bringHome(restore: (rows: Iterable<TableRowView>) => void): void {
    if (this.#home.isHome) return;
    restore(this.#rows());
    this.#home.cameHome();
  }

  changed(): void {
    this.#home.changed();
  }

  *#rows(): Generator<TableRowView> {
    const { dim, stateFloats } = this.#plan;
    for (const { id, lastUpdateSec, floats } of this.#home.rows()) {
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
