/** @file The names of native_training/hash_table_utils. */
import type { EmbeddingHashTableConfig } from '../sparse/config/config-messages.js';
import { type IterateOptions, iterateTable } from '../sparse/files/iterate-table.js';

/**
 * Hands all rows of a table to `applyFn`, in portions of serialized EntryDump messages, and waits for each;
 * `iterateTable` is the same as a loop.
 *
 * ```ts
 * await iterateTableAndApply(table, (dumps) => send(dumps), { limit: 1000 });
 * ```
 */
export async function iterateTableAndApply(
  table: Parameters<typeof iterateTable>[0],
  applyFn: (dumps: Uint8Array[]) => unknown,
  options: IterateOptions = {},
): Promise<void> {
  for (const dumps of iterateTable(table, options)) await applyFn(dumps);
}

/** Floats that a row of a table has for its weights: those of its segments together. */
export function inferDimSize({ entryConfig }: EmbeddingHashTableConfig): number {
  return (entryConfig?.segments ?? []).reduce((sum, { dimSize = 0 }) => sum + dimSize, 0);
}
