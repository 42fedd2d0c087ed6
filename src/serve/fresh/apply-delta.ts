/** @file Puts what a training changed into a model that answers: a few rows at a time, between two batches. */
import { MonolithError } from '../../base/errors.js';
import type { HashTable } from '../../sparse/table/hash-table.js';
import type { LoadedModel } from '../loaded-model.js';
import type { Delta, TableDelta } from './delta-files.js';

/** Rows that are put in between two batches: about a millisecond's worth. */
export const ROWS_AT_ONCE = 1024;

/** ML_MODEL for a delta of another model. */
export async function applyDelta(model: LoadedModel, delta: Delta, signal?: AbortSignal): Promise<void> {
  for (const part of delta.tables) await applyTable(model, part, signal);
  await applyVariables(model, delta.variables);
}

/** Sets variables between two batches. */
export async function applyVariables(
  model: LoadedModel,
  variables: Iterable<readonly [string, Float32Array]>,
): Promise<void> {
  await model.hold(async () => {
    for (const [name, values] of variables) model.session.writeVariable(name, values);
  });
}

/** The table of a model that answers; ML_MODEL where it has none of that name and size. */
export function tableFor(model: LoadedModel, name: string, dim: number): HashTable {
  const table = model.tables.get(name);
  if (table?.dim === dim) return table;
  const reason = table === undefined ? `it has no table ${name}` : `rows of table ${name} are ${table.dim}, not ${dim}`;
  throw new MonolithError('ML_MODEL', { model: model.name, reason });
}

async function applyTable(model: LoadedModel, part: TableDelta, signal: AbortSignal | undefined): Promise<void> {
  const { ids, rows, removed } = part;
  const dim = part.table.segments.reduce((sum, segment) => sum + segment.dim, 0);
  const table = tableFor(model, part.table.name, dim);
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
    signal?.throwIfAborted();
    const end = Math.min(from + ROWS_AT_ONCE, ids.length);
    await model.hold(async () => table.assign(ids.subarray(from, end), rows.subarray(from * dim, end * dim)));
  }
  for (let from = 0; from < removed.length; from += ROWS_AT_ONCE) {
    signal?.throwIfAborted();
    await model.hold(async () => table.remove(removed.subarray(from, from + ROWS_AT_ONCE)));
  }
}
