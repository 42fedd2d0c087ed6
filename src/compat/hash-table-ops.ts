/**
 * @file The names of native_training/hash_table_ops and of native_training/entry that are functions around a table's
 * config.
 */
import type { TableMemory } from '../runtime/tables/table-memory.js';
import type { AdmissionFilter } from '../sparse/admission/filter-memory.js';
import type {
  FloatCompressorMessage,
  InitializerMessage,
  OptimizerMessage,
  Segment,
} from '../sparse/config/config-messages.js';
import {
  generateTestHashTableConfig,
  type HashTableConfigInstance,
  type TestTableOptions,
} from '../sparse/config/table-config.js';
import { HashTable } from '../sparse/table/hash-table.js';

export { extractSlot as extractSlotFromEntry } from '../sparse/config/extract-slot.js';
export { withStochasticRounding as StochasticRoundingFloat16OptimizerWrapper } from '../sparse/config/optimizers.js';

export interface FromConfigOptions {
  readonly hashFilter?: AdmissionFilter;
  /** Default: ''. */
  readonly nameSuffix?: string;
}

/** The table of a config in `memory`, called `MonolithHashTable_` and the suffix. */
export function hashTableFromConfig(
  memory: TableMemory,
  config: HashTableConfigInstance,
  { hashFilter, nameSuffix = '' }: FromConfigOptions = {},
): HashTable {
  const table = { name: `MonolithHashTable_${nameSuffix}`, instance: config };
  return HashTable.create(memory, table, hashFilter === undefined ? {} : { filter: hashFilter });
}

/** A table of `dimSize` floats. Default: zeros at first, stepped by sgd at rate 1. */
export function testHashTable(
  memory: TableMemory,
  dimSize: number,
  { hashFilter, nameSuffix, ...options }: TestTableOptions & FromConfigOptions = {},
): HashTable {
  return hashTableFromConfig(memory, generateTestHashTableConfig(dimSize, options), {
    ...(hashFilter && { hashFilter }),
    ...(nameSuffix !== undefined && { nameSuffix }),
  });
}

/** The message of a segment, for the config of an entry. */
export function CombineAsSegment(
  dimSize: number,
  initializer: InitializerMessage,
  optimizer: OptimizerMessage,
  compressor: FloatCompressorMessage,
): Segment {
  return { dimSize, initConfig: initializer, optConfig: optimizer, compConfig: compressor };
}
