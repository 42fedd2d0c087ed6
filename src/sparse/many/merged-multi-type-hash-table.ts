/**
 * @file Slots whose configs print equally share one table. Mirrors MergedMultiTypeHashTable of multi_type_hash_table.
 *
 * The ids of slots that share a table go to it one after the other, in the order of the slots' names. Callers see to it
 * that slots do not mean different things by one id; an id two slots have in common is one row.
 */

import type { Ids } from '../../memory/given-arrays.js';
import { HashTableConfigInstance } from '../config/table-config.js';
import { mergedTableNames } from '../config/table-messages.js';
import type { OptimizeOptions, UpdateOptions } from '../table/embedding-table.js';
import { idList, rowList } from '../table/table-checks.js';
import type { BaseMultiTypeHashTable, SlotIds, SlotRows, SlotUpdates } from './multi-type-hash-table.js';
import { unknownTable } from './named-tables.js';

/** A table that slots share. */
export interface MergedTable {
  readonly name: string;
  /** What the slots have in common, with the names that older checkpoints may have the table under. */
  readonly config: HashTableConfigInstance;
  /** Sorted. */
  readonly slots: readonly string[];
}

/** The tables that slots need, in the order of their first slots. */
export function mergeSlots(slotToConfig: Readonly<Record<string, HashTableConfigInstance>>): readonly MergedTable[] {
  const groups = new Map<string, { config: HashTableConfigInstance; slots: string[] }>();
  for (const slot of Object.keys(slotToConfig).sort()) {
    const config = slotToConfig[slot]!;
    const text = config.toString();
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { config, slots: [slot] });
    else group.slots.push(slot);
  }
  return [...groups.values()].map(({ config: { tableConfig, learningRateFns }, slots }) => {
    const { name, extraRestoreNames } = mergedTableNames(slots);
    return { name, slots, config: new HashTableConfigInstance(tableConfig, learningRateFns, { extraRestoreNames }) };
  });
}

/** Tables by slot, where slots of equal config share one. */
export class MergedMultiTypeHashTable implements BaseMultiTypeHashTable {
  readonly merged: readonly MergedTable[];
  readonly #inner: BaseMultiTypeHashTable;
  readonly #nameOf: ReadonlyMap<string, string>;

  /** `factory` makes the tables of the merged configs, by the names they have there. */
  constructor(
    slotToConfig: Readonly<Record<string, HashTableConfigInstance>>,
    factory: (nameToConfig: Readonly<Record<string, HashTableConfigInstance>>) => BaseMultiTypeHashTable,
  ) {
    this.merged = mergeSlots(slotToConfig);
    this.#inner = factory(Object.fromEntries(this.merged.map(({ name, config }) => [name, config])));
    this.#nameOf = new Map(this.merged.flatMap(({ name, slots }) => slots.map((slot) => [slot, name] as const)));
  }

  get tableDimSizes(): Readonly<Record<string, number>> {
    const dims = this.#inner.tableDimSizes;
    return Object.fromEntries([...this.#nameOf].map(([slot, name]) => [slot, dims[name]!]));
  }

  lookup(slotToIds: SlotIds): SlotRows {
    const groups = this.#group(slotToIds);
    const lists = Object.fromEntries(Object.entries(slotToIds).map(([slot, ids]) => [slot, idList(slot, ids)]));
    const ids = groups.map(({ name, slots }) => [name, concatIds(slots.map((slot) => lists[slot]!))]);
    const found = this.#inner.lookup(Object.fromEntries(ids));
    const dims = this.#inner.tableDimSizes;
    const rows: Record<string, Float32Array> = {};
    for (const { name, slots } of groups) {
      let from = 0;
      for (const slot of slots) {
        const to = from + lists[slot]!.length * dims[name]!;
        rows[slot] = found[name]!.subarray(from, to);
        from = to;
      }
    }
    return rows;
  }

  assign(updates: SlotUpdates, options?: UpdateOptions): void {
    this.#inner.assign(this.#join(updates), options);
  }

  assignAdd(updates: SlotUpdates, options?: UpdateOptions): void {
    this.#inner.assignAdd(this.#join(updates), options);
  }

  applyGradients(updates: SlotUpdates, options?: OptimizeOptions): void {
    this.#inner.applyGradients(this.#join(updates), options);
  }

  reinitialize(slot: string, ids: Ids): Int32Array {
    return this.#inner.reinitialize(this.#tableOf(slot), ids);
  }

  /** Updates by table: those of its slots one after the other. */
  #join(updates: SlotUpdates): SlotUpdates {
    const dims = this.#inner.tableDimSizes;
    return Object.fromEntries(
      this.#group(updates).map(({ name, slots }) => {
        // Joined, one slot's surplus would pass for another's missing rows.
        const parts = slots.map((slot) => {
          const ids = idList(slot, updates[slot]!.ids);
          return { ids, values: rowList(slot, dims[name]!, ids, updates[slot]!.values) };
        });
        const values = new Float32Array(parts.reduce((sum, part) => sum + part.values.length, 0));
        let at = 0;
        for (const part of parts) {
          values.set(part.values, at);
          at += part.values.length;
        }
        return [name, { ids: concatIds(parts.map(({ ids }) => ids)), values }];
      }),
    );
  }

  /** Slots of a request by table, sorted. */
  #group(bySlot: Readonly<Record<string, unknown>>): { name: string; slots: readonly string[] }[] {
    const groups = new Map<string, string[]>();
    for (const slot of Object.keys(bySlot).sort()) {
      const name = this.#tableOf(slot);
      const slots = groups.get(name);
      if (slots === undefined) groups.set(name, [slot]);
      else slots.push(slot);
    }
    return [...groups].map(([name, slots]) => ({ name, slots }));
  }

  #tableOf(slot: string): string {
    const name = this.#nameOf.get(slot);
    if (name !== undefined) return name;
    throw unknownTable(slot, [...this.#nameOf.keys()]);
  }
}

function concatIds(parts: readonly BigInt64Array[]): BigInt64Array {
  const all = new BigInt64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
