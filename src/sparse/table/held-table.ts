/**
 * @file A table as one thread holds it: where it is, how large it is, what it counted, and in which memory its rows are
 * now.
 *
 * What is done with the rows is in hash-table.ts.
 */
import { MonolithError } from '../../base/errors.js';
import { type Rate, rateAt } from '../../base/rates/rate.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import type { TableConfig } from '../config/table-config.js';
import { planTable, type TablePlan } from '../config/table-plan.js';
import { checkRates, checkStep } from './table-checks.js';
import { type BankTable, badGradientsOf, maxUpdateTimeOf, passedOverOf, rowsOf, setStepOf } from './table-control.js';
import { TableGrip } from './table-grip.js';
import type { TableResidence } from './table-residence.js';
import { rowChunks, type TableRowView } from './table-rows.js';

export interface HeldParts {
  readonly memory: TableMemory;
  readonly config: TableConfig;
  readonly addresses: readonly number[];
  readonly rates: readonly (Rate | null)[];
}

export abstract class HeldTable {
  readonly config: TableConfig;
  readonly plan: TablePlan;
  readonly memory: TableMemory;
  /** Address of the control block in each bank. */
  readonly addresses: readonly number[];
  protected readonly grip: TableGrip;
  protected readonly rates: readonly (Rate | null)[];
  /** Of a table whose rows may be in another memory. */
  protected residence: TableResidence | undefined;

  constructor({ memory, config, addresses, rates }: HeldParts) {
    this.memory = memory;
    this.config = config;
    this.plan = planTable(config);
    this.addresses = addresses;
    this.rates = rates;
    const tables = memory.banks.map((bank, index) => ({ bank, address: addresses[index]! }));
    this.grip = new TableGrip(memory, tables, this.plan.dim);
  }

  /** Puts rows in that came back from another memory. */
  protected abstract putRows(rows: readonly TableRowView[]): void;

  get name(): string {
    return this.config.name;
  }

  get banks(): readonly TableBank[] {
    return this.memory.banks;
  }

  /** Address of the control block of a table that lies in one bank, as a session's tables do. */
  get address(): number {
    return this.addresses[0]!;
  }

  get dim(): number {
    return this.plan.dim;
  }

  get stateFloats(): number {
    return this.plan.stateFloats;
  }

  get sliceSize(): number {
    this.refuseServing('SliceSize');
    return this.plan.segments.length;
  }

  /** Whether steps find and step its rows in another memory. */
  get isAway(): boolean {
    return this.residence !== undefined;
  }

  /**
   * Brings rows back that are in another memory, and waits for them. Every call on rows begins so: ML_TABLE_BUSY while
   * a step runs.
   */
  bringHome(): void {
    this.memory.refuseDuringStep(this.name);
    this.residence?.bringHome((rows) => {
      for (const chunk of rowChunks(this.name, this.plan, rows)) this.putRows(chunk);
    });
  }

  /** Rows are about to be written: those in another memory become old. */
  changed(): void {
    this.bringHome();
    this.residence?.changed();
  }

  /** Exact while no thread inserts or removes. */
  get size(): number {
    return this.residence?.size ?? this.tables.reduce((sum, table) => sum + rowsOf(table), 0);
  }

  /** The largest time an update had, in Unix seconds. */
  get maxUpdateSec(): number {
    return this.tables.reduce((most, table) => Math.max(most, Number(maxUpdateTimeOf(table))), 0);
  }

  /** Gradients that were NaN or infinite so far. */
  get badGradientRows(): number {
    void this.residence?.size;
    return this.tables.reduce((sum, table) => sum + badGradientsOf(table), 0);
  }

  /** New ids that got no row because the memory was full. */
  get passedOver(): number {
    return this.tables.reduce((sum, table) => sum + passedOverOf(table), 0);
  }

  /**
   * Sets the rates and the step that updates from now on use, on whatever thread; a caller that counts none says so.
   */
  setGlobalStep(globalStep: number, learningRates?: ArrayLike<number>, isCounted = true): void {
    checkStep(globalStep);
    this.memory.refuseDuringStep(this.name);
    const rates =
      learningRates === undefined
        ? this.rates.map((rate) => (rate === null ? null : rateAt(rate, globalStep)))
        : checkRates(learningRates, this.sliceSize);
    setStepOf(this.tables, rates, { globalStep: BigInt(globalStep), isCounted });
  }

  protected get tables(): readonly BankTable[] {
    return this.grip.tables;
  }

  protected refuseServing(operation: string): void {
    if (this.plan.serving) throw new MonolithError('ML_TABLE_SERVING', { operation, table: this.name });
  }
}
