/** @file Saving and restoring of tables as the rest of the package calls it: the first call loads the code. */
import { onDemand } from '../../base/lazy-module.js';

/**
 * Writes the rows of `table` as `<base>-00000-of-00001` and so on. ML_CKPT_WRITE when a file cannot be written; then
 * nothing of an earlier save under the same name has changed.
 *
 * ```ts
 * const { files } = await saveTable(table, 'runs/ffm/user', { nshards: 2 });
 * ```
 */
export const saveTable = onDemand(async () => (await import('./save-table.js')).saveTable);

/**
 * Replaces what `table` holds with the rows of `<base>-*`, saved by any table of the same shape and in any number of
 * files. ML_CKPT_SHARDS for an incomplete set, ML_CKPT_CORRUPT for damage, ML_CKPT_TABLE for rows of another shape.
 *
 * ```ts
 * const { rows } = await restoreTable(table, 'runs/ffm/user');
 * ```
 */
export const restoreTable = onDemand(async () => (await import('./restore-table.js')).restoreTable);

/**
 * Writes `tables` as `<base>-i-of-n` and `<base>.meta-i-of-n`, in the order of their names. Rows expire by the days of
 * the first of them that has any, as the reference's do. ML_CKPT_WRITE leaves an earlier save as it was.
 *
 * ```ts
 * await saveMultiTable([{ name: 'slot0', table }], 'model.ckpt-10.assets/MonolithMultiHashTable_');
 * ```
 */
export const saveMultiTable = onDemand(async () => (await import('./save-multi-table.js')).saveMultiTable);

/**
 * Puts the rows of `<base>-*` into those of `tables` that the files name.
 *
 * ```ts
 * const files = 'model.ckpt-10.assets/MonolithMultiHashTable_';
 * const { warnings } = await restoreMultiTable([{ name: 'slot0', table }], files);
 * ```
 */
export const restoreMultiTable = onDemand(async () => (await import('./restore-multi-table.js')).restoreMultiTable);

/**
 * Puts the rows of a dump of the reference, `model.ckpt-<step>.assets` or a folder with one, into tables by their
 * names. All of it is read before the first row changes: whatever is wrong with a file changes nothing.
 *
 * ```ts
 * const rename = { user: 'fc_slot_1' };
 * const { imported, skipped } = await importTableDump('old/model.ckpt-900.assets', tables, { rename });
 * ```
 */
export const importTableDump = onDemand(async () => (await import('./import-dump.js')).importTableDump);

/**
 * Rows per table over all shards of a multi table, by name.
 *
 * ```ts
 * const rows = (await featureStat('model.ckpt-10.assets/MonolithMultiHashTable_')).get('fc_slot_1');
 * ```
 */
export const featureStat = onDemand(async () => (await import('./multi-meta.js')).featureStat);
