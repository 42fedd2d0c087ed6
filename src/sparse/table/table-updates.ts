/**
 * @file Updates of a table by the shared kernels, a chunk of ids at a time, and what becomes of them when the memory is
 * full.
 *
 * `admitted` has a byte per id that is 0 where an id without a row stays out; null admits all.
 */
import { MonolithError } from '../../base/errors.js';
import { UPDATE_RESULT } from '../../memory/table-layout.js';
import type { TablePlan } from '../config/table-plan.js';
import { badGradient, type GradientRows, heapFull } from './table-checks.js';
import { maxUpdateTimeOf, rowsOf } from './table-control.js';
import { evictFull, type Handle, handleAll, whenFullOf } from './table-full.js';
import type { TableGrip, TablePart } from './table-grip.js';

/** Hears of ids whose rows a call changed. */
export type ChangedIds = (ids: Iterable<bigint>) => void;

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

  /**
   * The rates and the step are those the table has; `globalStep` is for the error alone. `changed` gets the ids whose
   * rows were stepped, also when the call fails: what came before is done.
   */
  step(
    rows: GradientRows,
    timeSec: number,
    globalStep: number,
    admitted: Uint8Array | null,
    changed: ChangedIds | null,
  ): void {
    const { dim } = this.#plan;
    this.#grip.each(rows.ids, (part) => {
      const { bank, address, count } = part;
      part.putRows(rows.gradients);
      const handled = this.#handleAll(part, admitted, (from, gate) => {
        const [at, gradients] = [part.ids + from * 8, part.floats + from * dim * 4];
        return bank.kernels.tableOptimize(address, at, count - from, gradients, dim, timeSec, gate);
      });
      if (changed !== null && handled !== UPDATE_RESULT.refused)
        changed(this.#steppedIds(part, rows, handled, admitted));
      if (handled === count) return;
      if (handled === UPDATE_RESULT.badGradient) throw badGradient(this.#name, dim, part, rows);
      if (handled < 0) throw new MonolithError('ML_GLOBAL_STEP', { step: globalStep });
      throw this.full(part);
    });
  }

  /** 1 for each id that had a row, 0 for those that got one. `changed` as for `step`. */
  reinitialize(ids: BigInt64Array, timeSec: number, changed: ChangedIds | null): Int32Array {
    const status = new Int32Array(ids.length);
    this.#grip.each(ids, (part) => {
      const { bank, address, count, words } = part;
      const handled = bank.kernels.tableReinitialize(address, part.ids, count, timeSec, words);
      changed?.(Array.from({ length: handled }, (_, i) => ids[part.at(i)]!));
      if (handled < count) throw this.full(part);
      part.takeWords(status);
    });
    return status;
  }

  /**
   * The ids of a part that tableOptimize stepped, of which it handled `handled` or came to a bad gradient: those before
   * it that have a row now, were let in, and had a gradient that is finite.
   */
  #steppedIds(part: TablePart, rows: GradientRows, handled: number, admitted: Uint8Array | null): bigint[] {
    const { bank, address, count, bytes } = part;
    const { dim } = this.#plan;
    const stepped: bigint[] = [];
    bank.kernels.tableContains(address, part.ids, count, bytes);
    for (let i = 0; i < (handled < 0 ? count : handled); i++) {
      const position = part.at(i);
      const isGood = rows.gradients.subarray(position * dim, (position + 1) * dim).every(Number.isFinite);
      if (!isGood && handled < 0) break;
      const isIn = bank.views.u8[bytes + i] !== 0 && (admitted === null || admitted[position] !== 0);
      if (isGood && isIn) stepped.push(rows.ids[position]!);
    }
    return stepped;
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
