/** @file Cases of several tables in one: by slot, native, merged, fused. */

import type { HashTableConfigInstance } from '../../../src/sparse/config/table-config.js';
import { type FusedIds, fusedApplyGradient, fusedLookup } from '../../../src/sparse/many/fused-lookup.js';
import { MergedMultiTypeHashTable, mergeSlots } from '../../../src/sparse/many/merged-multi-type-hash-table.js';
import { MultiHashTable } from '../../../src/sparse/many/multi-hash-table.js';
import { type BaseMultiTypeHashTable, MultiTypeHashTable } from '../../../src/sparse/many/multi-type-hash-table.js';
import type { EmbeddingTable } from '../../../src/sparse/table/embedding-table.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { type Fields, fieldsOf, orError, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { inDirectory } from '../table-files.js';
import { CaseTables, configOf, entriesOf, rowsOf } from '../tables.js';
import { f32, i64, ids } from '../values.js';

/** Ids and rows of a slot: `[ids, rows]`, or a record of both. */
function pairOf(given: unknown): readonly [which: unknown, rows: unknown] {
  if (Array.isArray(given) && given.length === 2) return [given[0], given[1]];
  const { ids: which, grads, values } = fieldsOf(given, ['ids'], ['grads', 'values'], { where: 'a slot' });
  return [which, grads ?? values];
}

/** `{ slot: ids and rows }` */
const updatesOf = (given: unknown) =>
  Object.fromEntries(
    Object.entries(given as Fields).map(([slot, pair]) => {
      const [which, rows] = pairOf(pair);
      return [slot, { ids: ids(which), values: f32(rows).data.slice() }];
    }),
  );

const idListsOf = (given: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given as Fields).map(([slot, pair]) => [slot, pairOf(pair)[0]]));

/** Rows of the ids of each slot. */
function lookup(table: BaseMultiTypeHashTable, asked: Readonly<Record<string, unknown>>) {
  const found = table.lookup(Object.fromEntries(Object.entries(asked).map(([slot, which]) => [slot, ids(which)])));
  return Object.fromEntries(
    Object.entries(found).map(([slot, rows]) => [slot, rowsOf(rows, table.tableDimSizes[slot]!)]),
  );
}

/** A table per slot, of the dimension or description given. */
function configsOf(given: unknown, around: Fields): Record<string, HashTableConfigInstance> {
  const shared = { lr: around.lr, lr_fn: around.lr_fn };
  return Object.fromEntries(
    Object.entries(given as Fields).map(([slot, table]) => [
      slot,
      configOf(typeof table === 'number' ? { dim: table } : table, shared),
    ]),
  );
}

const makeIn = (tables: CaseTables) => (name: string, config: HashTableConfigInstance) =>
  tables.table(config, { name });

/** `{ slot: { id: row } }`: dimensions as wide as the rows. */
function dimsOf(rows: unknown): Record<string, number> {
  const bySlot = rows as Record<string, Record<string, number[]>>;
  return Object.fromEntries(
    Object.entries(bySlot).map(([slot, entries]) => {
      const [first] = Object.values(entries);
      if (first === undefined) throw new UnknownForm(`rows of ${slot}`);
      return [slot, first.length];
    }),
  );
}

const FUSED = ['ids', 'fused_slot_size', 'num_of_shards'];

/** A fused lookup, after a fused step when there are gradients. */
export function runFused(tables: readonly EmbeddingTable[], given: Fields) {
  const request: FusedIds = {
    ids: ids(given.ids),
    fusedSlotSize: given.fused_slot_size as number[],
    numOfShards: given.num_of_shards as number,
  };
  const { grads, global_step, time, enable_grad_accumulation } = given;
  if (grads !== undefined) {
    const gradients = f32(grads).data.slice();
    fusedApplyGradient(
      tables,
      { ...request, gradients },
      {
        globalStep: (global_step ?? 0) as number,
        timeSec: (time ?? 0) as number,
        enableDedup: (enable_grad_accumulation ?? false) as boolean,
      },
    );
  }
  const { embeddings, embeddingSplits, idOffsets, embeddingOffsets, ids: again } = fusedLookup(tables, request);
  return {
    [grads === undefined ? 'embeddings' : 'embeddings_after']: embeddings,
    embedding_splits: embeddingSplits,
    id_offsets: idOffsets,
    embedding_offsets: embeddingOffsets,
    ids: again,
  };
}

/** Ids of all tables with their splits: values are added or gradients stepped, then all requests looked up. */
function runRaw(table: MultiTypeHashTable, given: Fields) {
  if (!(table instanceof MultiHashTable)) throw new UnknownForm('splits of ids');
  const which = RaggedTensor.fromRowSplits(i64(given.ids), i64(given.id_split));
  if (given.values !== undefined) table.rawAssignAdd(which, f32(given.values).data);
  if (given.grads !== undefined) table.rawApplyGradients(which, f32(given.grads).data.slice());
  return { embeddings: table.rawLookup(which) };
}

const OPTIONAL = ['tables', 'rows', 'lr', 'lr_fn', 'global_step', 'time', 'assign', 'assign_add', 'grads', 'lookup'];

/** A multi-type or native table: writes, then gradients, then a lookup, then reinitializing. */
async function multi(make: typeof MultiTypeHashTable, { input, expected }: ParityCase) {
  const more = ['reinitialize', 'saved', 'restore_into', 'enable_grad_accumulation', 'id_split', 'values', ...FUSED];
  const given = fieldsOf(input, [], [...OPTIONAL, ...more]);
  const tables = await CaseTables.create();
  if (given.saved !== undefined) return restoreSubset(given, tables, expected as Fields);
  const table = make.fromConfigs(configsOf(given.tables ?? dimsOf(given.rows), given), makeIn(tables));
  const options = { timeSec: (given.time ?? 0) as number, globalStep: (given.global_step ?? 0) as number };
  for (const [slot, rows] of Object.entries((given.rows ?? {}) as Fields)) {
    table.assign({ [slot]: entriesOf(rows, table.tableDimSizes[slot]!) });
  }
  if (given.assign !== undefined) table.assign(updatesOf(given.assign), options);
  if (given.assign_add !== undefined) table.assignAdd(updatesOf(given.assign_add), options);
  if (given.id_split !== undefined) return orError(() => runRaw(table, given));
  if (given.ids !== undefined) return runFused(table.tables.tables, given);
  if (given.grads !== undefined) table.applyGradients(updatesOf(given.grads), options);
  const asked =
    (given.lookup as Record<string, unknown> | undefined) ??
    idListsOf({ ...(given.assign as Fields), ...(given.assign_add as Fields), ...(given.grads as Fields) });
  const found = lookup(table, asked);
  const again = (given.reinitialize ?? []) as [string, unknown[]][];
  const status = again.map(([slot, which]) => table.reinitialize(slot, ids(which)));
  const after = again
    .filter(([slot]) => table.tables.has(slot))
    .map(([slot, which]) => [`${slot}_after`, lookup(table, { [slot]: which })[slot]] as const);
  return { ...found, lookup: found, status, ...Object.fromEntries(after) };
}

/** Saves tables, restores into others: shared ones have the rows, new ones stay empty. */
async function restoreSubset(given: Fields, tables: CaseTables, expected: Fields) {
  const saved = given.saved as Record<string, Record<string, number[]>>;
  const dims = dimsOf(saved);
  const source = MultiHashTable.fromConfigs(configsOf(dims, given), makeIn(tables));
  for (const [slot, rows] of Object.entries(saved)) source.assign({ [slot]: entriesOf(rows, dims[slot]!) });
  const targets = (given.restore_into as string[]).map((slot) => [slot, dims[slot] ?? 2] as const);
  const memory = await CaseTables.create();
  const target = MultiHashTable.fromConfigs(configsOf(Object.fromEntries(targets), given), makeIn(memory));
  await inDirectory(async (dir) => {
    await source.save(`${dir}/multi`);
    await target.restore(`${dir}/multi`);
  });
  return Object.fromEntries(
    Object.keys(expected).map((slot) => {
      if (!target.tables.has(slot)) return [slot, 'skipped'];
      if (saved[slot] === undefined) {
        return [slot, target.tables.get(slot).size === 0 ? 'empty, warning only' : 'not empty'];
      }
      return [slot, lookup(target, { [slot]: Object.keys(saved[slot]) })[slot]];
    }),
  );
}

async function merged({ input, expected }: ParityCase) {
  const given = fieldsOf(input, [], ['slots', 'dims', 'assign_add', 'assign', 'then_gradients', 'lr', 'lr_fn']);
  if (given.slots !== undefined) {
    const slots = given.slots as string[];
    const tables = mergeSlots(configsOf(Object.fromEntries(slots.map((slot) => [slot, 2])), given));
    if (tables.length !== 1) throw new Error(`equal slots made ${tables.length} tables`);
    return { name: tables[0]!.name, extra_restore_names: tables[0]!.config.extraRestoreNames };
  }
  const tables = await CaseTables.create();
  const table = new MergedMultiTypeHashTable(configsOf(given.dims, given), (configs) =>
    MultiTypeHashTable.fromConfigs(configs, makeIn(tables)),
  );
  if (given.assign !== undefined) table.assign(updatesOf(given.assign));
  if (given.assign_add !== undefined) table.assignAdd(updatesOf(given.assign_add));
  const asked = idListsOf({ ...(given.assign as Fields), ...(given.assign_add as Fields) });
  const first = lookup(table, asked);
  if (given.then_gradients !== undefined) table.applyGradients(updatesOf(given.then_gradients));
  const second = lookup(table, { ...asked, ...idListsOf(given.then_gradients ?? {}) });
  return 'lookup' in (expected as Fields) ? { lookup: second } : { lookup_1: first, lookup_2: second };
}

export const handlers: ParityHandlers = {
  merged_hash_table: merged,
  multi_hash_table: (parity) => multi(MultiHashTable, parity),
  multi_type_hash_table: (parity) => multi(MultiTypeHashTable, parity),
};
