/**
 * @file Updates of a table by the shared kernels, a chunk of ids at a time, and what becomes of them when the memory is full.
 *
 * `admitted` has a byte per id that is 0 where an id without a row stays out; null admits all.
 */
import { MonolithError } from '../base/errors.js';
import { UPDATE_RESULT } from '../memory/table-layout.js';
import { badGradient, type GradientRows, heapFull } from './table-checks.js';
import { maxUpdateTimeOf, rowsOf } from './table-control.js';
import { evictFull, type Handle, handleAll, whenFullOf } from './table-full.js';
import type { TableGrip, TablePart } from './table-grip.js';
import type { TablePlan } from './table-plan.js';

export class TableUpdates {
  readonly #name: string;
  readonly #plan: TablePlan;
  readonly #grip: TableGrip;

  constructor(name: string, plan: TablePlan, grip: TableGrip) {
    this.#name = name;
    this.#plan = plan;
    this.#grip = grip;
  }

  assign(ids: BigInt64Array, values: Float32Array, timeSec: number, admitted: Uint8Array | null, add: boolean): void {
    const { dim } = this.#plan;
    this.#grip.each(ids, (part) => {
      const { bank, address, count } = part;
      part.putRows(values);
      const handled = this.#handleAll(part, admitted, (from, gate) => {
        const [at, rows] = [part.ids + from * 8, part.floats + from * dim * 4];
        return bank.kernels.tableAssign(address, at, count - from, rows, dim, timeSec, gate, add ? 1 : 0);
      });
      if (handled < count) throw this.full(part);
    });
  }

  /** The rates and the step are those the table has; `globalStep` is for the error alone. */
  step(rows: GradientRows, timeSec: number, globalStep: number, admitted: Uint8Array | null): void {
    const { dim } = this.#plan;
    this.#grip.each(rows.ids, (part) => {
      const { bank, address, count } = part;
      part.putRows(rows.gradients);
      const handled = this.#handleAll(part, admitted, (from, gate) => {
        const [at, gradients] = [part.ids + from * 8, part.floats + from * dim * 4];
        return bank.kernels.tableOptimize(address, at, count - from, gradients, dim, timeSec, gate);
      });
      if (handled === count) return;
      if (handled === UPDATE_RESULT.badGradient) throw badGradient(this.#name, dim, part, rows);
      if (handled < 0) throw new MonolithError('ML_GLOBAL_STEP', { step: globalStep });
      throw this.full(part);
    });
  }

  /** 1 for each id that had a row, 0 for those that got one. */
  reinitialize(ids: BigInt64Array, timeSec: number): Int32Array {
    const status = new Int32Array(ids.length);
    this.#grip.each(ids, (part) => {
      const { bank, address, count, words } = part;
      if (bank.kernels.tableReinitialize(address, part.ids, count, timeSec, words) < count) throw this.full(part);
      part.takeWords(status);
    });
    return status;
  }

  /** The error of a bank that has no room for another row. */
  full(part: TablePart): MonolithError {
    const rows = this.#grip.tables.reduce((sum, table) => sum + rowsOf(table), 0);
    return heapFull(this.#name, rows, this.#plan.rowBytes, part);
  }

  #handleAll(part: TablePart, admitted: Uint8Array | null, handle: Handle): number {
    if (admitted !== null) part.putBytes(admitted);
    const { tables } = this.#grip;
    const evict = () => {
      const newest = tables.reduce((most, table) => Math.max(most, Number(maxUpdateTimeOf(table))), 0);
      return evictFull(this.#name, tables, newest);
    };
    return handleAll(part, whenFullOf(part), admitted === null ? 0 : part.bytes, evict, handle);
  }
}
