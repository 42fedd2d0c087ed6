/** @file A model that answers in this process, as a target of pushes: rows go from table to table, without files. */
import type { HashTable } from '../../sparse/table/hash-table.js';
import type { LoadedModel } from '../loaded-model.js';
import type { ServedModel } from '../online/served-model.js';
import type { TrainedTable } from '../trained-model.js';
import { applyDelta, applyVariables, ROWS_AT_ONCE, tableFor } from './apply-delta.js';
import type { Delta } from './delta-files.js';
import { type Pushed, rowsOf, type SyncTarget, type Whole } from './sync-target.js';

export class LiveTarget implements SyncTarget {
  readonly #served: ServedModel;
  /** The version that has everything. */
  #current: LoadedModel | undefined;

  constructor(served: ServedModel) {
    this.#served = served;
  }

  /** A version that took the place of another knows nothing of what was pushed. */
  get asks(): boolean {
    return this.#current !== this.#served.current.model;
  }

  whole({ model: trained }: Whole, signal: AbortSignal): Promise<Pushed> {
    const version = this.#served.current;
    const { model } = version;
    return version.use(async () => {
      // What does not fit is known before the first row changes.
      const tables = trained.tables.map((table) => ({ table, live: tableFor(model, table.name, dimOf(table)) }));
      let rows = 0;
      for (const { table, live } of tables) rows += await replaceRows(model, live, table, signal);
      const variables = trained.written.variables.map(({ name }) => [name, trained.array(name)] as const);
      await applyVariables(model, variables);
      this.#current = model;
      return { rows, bytes: 0 };
    });
  }

  push(delta: Delta, signal: AbortSignal): Promise<Pushed> {
    const version = this.#served.current;
    return version.use(async () => {
      await applyDelta(version.model, delta, signal);
      return { rows: rowsOf(delta), bytes: 0 };
    });
  }
}

const dimOf = ({ segments }: TrainedTable): number => segments.reduce((sum, { dim }) => sum + dim, 0);

/** All rows of a table, and none that it has not. Answers see each row as it was or as it is. */
async function replaceRows(model: LoadedModel, live: HashTable, table: TrainedTable, signal: AbortSignal) {
  const ids = new BigInt64Array(ROWS_AT_ONCE);
  const floats = new Float32Array(ROWS_AT_ONCE * live.dim);
  let [held, rows] = [0, 0];
  const flush = async () => {
    signal.throwIfAborted();
    await model.hold(async () => live.assign(ids.subarray(0, held), floats.subarray(0, held * live.dim)));
    rows += held;
    held = 0;
  };
  for (const { id, weights } of table.rows()) {
    ids[held] = id;
    floats.set(weights, held * live.dim);
    if (++held === ROWS_AT_ONCE) await flush();
  }
  if (held > 0) await flush();
  if (live.size > table.count) rows += await removeOthers(model, live, table);
  return rows;
}

async function removeOthers(model: LoadedModel, live: HashTable, table: TrainedTable): Promise<number> {
  const known = new Set<bigint>();
  for (const { id } of table.rows()) known.add(id);
  const others: bigint[] = [];
  for (const { id } of live.rows()) if (!known.has(id)) others.push(id);
  for (let from = 0; from < others.length; from += ROWS_AT_ONCE) {
    await model.hold(async () => live.remove(others.slice(from, from + ROWS_AT_ONCE)));
  }
  return others.length;
}
