/**
 * @file The physical tables of a model's slots. Slots whose configs are equal share one, named after the md5 of their
 * names, unless each is to have its own.
 */
import { misfit } from '../../graph/graph.js';
import { needsFilter } from '../../sparse/admission/filter-memory.js';
import type { Admission } from '../../sparse/config/admission.js';
import type { EmbeddingHashTableConfig } from '../../sparse/config/config-messages.js';
import { sharedName } from '../../sparse/config/shared-name.js';
import { HashTableConfigInstance, type TableConfig } from '../../sparse/config/table-config.js';
import { mergeSlots } from '../../sparse/many/merged-multi-type-hash-table.js';
import { DEFAULT_EXPIRE_DAYS, type FeatureSlot } from './feature-slot.js';

/** How the tables of slots are made. */
export interface SlotTableOptions {
  /** Ids that the admission filter of a session remembers when a slot has a threshold. Default: 300 million. */
  readonly filterCapacity?: number;
  readonly filterSplitNum?: number;
  /** False: every slot has a table of its own. Default: true. */
  readonly merge?: boolean;
  /** False: thresholds are not looked at. Default: true. */
  readonly filters?: boolean;
}

/** The table of each slot. */
export function tablesOfSlots(
  slots: readonly FeatureSlot[],
  options: SlotTableOptions = {},
): Map<FeatureSlot, TableConfig> {
  const empty = slots.find((slot) => slot.dim === 0);
  if (empty !== undefined) {
    throw misfit(empty.name, `${empty.name} has no slice, pls. check!`);
  }
  const byName = new Map(slots.map((slot) => [slot.name, slot]));
  const tables = new Map<FeatureSlot, TableConfig>();
  const { expiry, admission } = slotMaps(slots, options);
  const tableOf = (name: string, first: FeatureSlot, extraRestoreNames: readonly string[] = []): TableConfig => {
    const instance = slotInstance(first, expiry, extraRestoreNames);
    return { name: sharedName('hashTable', name), instance, ...(admission && { admission }) };
  };
  if (options.merge === false) {
    for (const slot of slots) tables.set(slot, tableOf(slot.name, slot));
    return tables;
  }
  const configs = Object.fromEntries(slots.map((slot) => [slot.name, slotInstance(slot, expiry)]));
  for (const { name, config, slots: names } of mergeSlots(configs)) {
    const extraRestoreNames = config.extraRestoreNames.map((extra) => sharedName('hashTable', extra));
    const table = tableOf(name, byName.get(names[0]!)!, extraRestoreNames);
    for (const slot of names) tables.set(byName.get(slot)!, table);
  }
  return tables;
}

/** What the slot's own table would be. */
export function slotInstance(
  slot: FeatureSlot,
  expiry: EmbeddingHashTableConfig = {},
  extraRestoreNames: readonly string[] = [],
): HashTableConfigInstance {
  const rates = slot.mergedSegments.map(({ rate }) => rate);
  return new HashTableConfigInstance({ ...slot.tableConfig, ...expiry }, rates, { extraRestoreNames });
}

/** The maps of all slots, which every table and the filter get. */
function slotMaps(slots: readonly FeatureSlot[], options: SlotTableOptions) {
  const known = slots.filter(({ slotId }) => slotId !== undefined);
  if (known.length === 0) return {};
  const slotExpireTimes = known.map(({ slotId, expireTime }) => ({ slot: slotId!, expireTime }));
  const expiry = { slotExpireTimeConfig: { slotExpireTimes, defaultExpireTime: DEFAULT_EXPIRE_DAYS } };
  const thresholds = {
    slotOccurrenceThresholds: known.map(({ slotId, occurrenceThreshold }) => ({ slot: slotId!, occurrenceThreshold })),
  };
  if (options.filters === false || !needsFilter(thresholds)) return { expiry };
  const { filterCapacity: capacity, filterSplitNum: splitNum } = options;
  const admission: Admission = {
    thresholds,
    ...(capacity === undefined ? {} : { capacity }),
    ...(splitNum === undefined ? {} : { splitNum }),
  };
  return { expiry, admission };
}
