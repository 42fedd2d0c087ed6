/**
 * @file Several tables under one roof, each for the ids of one slot. Mirrors native_training/multi_type_hash_table.
 *
 * Names are sorted, and whatever is flat about all tables (learning rates, fused ids) follows that order. A call may
 * leave slots out; a slot that has no table is refused before anything is done.
 */
import type { Floats, Ids } from '../../memory/given-arrays.js';
import type { EmbeddingTable, OptimizeOptions, UpdateOptions } from '../table/embedding-table.js';
import { type FusedEmbeddings, type FusedIds, fusedApplyGradient, fusedLookup } from './fused-lookup.js';
import { NamedTables, ratesPerTable } from './named-tables.js';

/** Ids by slot. */
export type SlotIds = Readonly<Record<string, Ids>>;
/** Rows by slot: as many as the slot has ids, one after the other. */
export type SlotRows = Readonly<Record<string, Float32Array>>;
/** Ids by slot with what happens to each: values or gradients. */
export type SlotUpdates = Readonly<Record<string, { readonly ids: Ids; readonly values: Floats }>>;

/** What every form of it can do. */
export interface BaseMultiTypeHashTable {
  /** Floats of a row, by slot. */
  readonly tableDimSizes: Readonly<Record<string, number>>;
  lookup(slotToIds: SlotIds): SlotRows;
  assign(updates: SlotUpdates, options?: UpdateOptions): void;
  assignAdd(updates: SlotUpdates, options?: UpdateOptions): void;
  /**
   * `learningRates`, when given, are those of all tables in the order of their names. Gradients are scratch afterwards.
   */
  applyGradients(updates: SlotUpdates, options?: OptimizeOptions): void;
  /** 1 for each id that had a row, else 0. */
  reinitialize(slot: string, ids: Ids): Int32Array;
}

/**
 * A table for each slot.
 *
 * ```ts
 * const table = new MultiTypeHashTable({ user: userTable, item: itemTable });
 * table.applyGradients({ item: { ids: BigInt64Array.of(7n), values: Float32Array.of(0.5, -0.5) } }, { globalStep: 3 });
 * table.lookup({ item: BigInt64Array.of(7n) }).item; // Float32Array of 2
 * ```
 */
export class MultiTypeHashTable implements BaseMultiTypeHashTable {
  readonly tables: NamedTables;

  constructor(tables: Readonly<Record<string, EmbeddingTable>>) {
    this.tables = new NamedTables(tables);
  }

  /** A table per config, made by `factory` in the order of the names. */
  static fromConfigs<C>(
    slotToConfig: Readonly<Record<string, C>>,
    factory: (name: string, config: C) => EmbeddingTable,
  ): MultiTypeHashTable {
    return new MultiTypeHashTable(tablesOf(slotToConfig, factory));
  }

  get tableDimSizes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.tables.names.map((name, i) => [name, this.tables.tables[i]!.dim]));
  }

  lookup(slotToIds: SlotIds): SlotRows {
    return Object.fromEntries(this.#inOrder(slotToIds).map(([slot, table, ids]) => [slot, table.lookup(ids)]));
  }

  assign(updates: SlotUpdates, options?: UpdateOptions): void {
    for (const [, table, { ids, values }] of this.#inOrder(updates)) table.assign(ids, values, options);
  }

  assignAdd(updates: SlotUpdates, options?: UpdateOptions): void {
    for (const [, table, { ids, values }] of this.#inOrder(updates)) table.assignAdd(ids, values, options);
  }

  applyGradients(updates: SlotUpdates, { learningRates, ...options }: OptimizeOptions = {}): void {
    const rates = ratesPerTable(this.tables.tables, learningRates);
    for (const [slot, table, { ids, values }] of this.#inOrder(updates)) {
      table.optimize(ids, values, { ...options, ...rates[this.tables.names.indexOf(slot)] });
    }
  }

  reinitialize(slot: string, ids: Ids): Int32Array {
    return this.tables.get(slot).reinitialize(ids);
  }

  fusedLookup(request: FusedIds): FusedEmbeddings {
    return fusedLookup(this.tables.tables, request);
  }

  fusedApplyGradient(request: FusedIds & { readonly gradients: Float32Array }, options?: OptimizeOptions): void {
    fusedApplyGradient(this.tables.tables, request, options);
  }

  /** Slots of a request with their tables, in the order of the tables; all are known before the first is used. */
  #inOrder<T>(bySlot: Readonly<Record<string, T>>): (readonly [string, EmbeddingTable, T])[] {
    return Object.keys(bySlot)
      .sort()
      .map((slot) => [slot, this.tables.get(slot), bySlot[slot]!] as const);
  }
}

/** Tables of configs, made in the order of the names. */
export function tablesOf<C>(
  slotToConfig: Readonly<Record<string, C>>,
  factory: (name: string, config: C) => EmbeddingTable,
): Record<string, EmbeddingTable> {
  const names = Object.keys(slotToConfig).sort();
  return Object.fromEntries(names.map((name) => [name, factory(name, slotToConfig[name]!)]));
}
