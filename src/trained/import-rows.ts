/** @file Rows of a table set from outside: a checkpoint is loaded, changed, and saved into another model directory. */

import { saveCheckpoint } from '../checkpoint/on-demand.js';
import { restoreSession } from '../checkpoint/restore-session.js';
import { snapshotSession } from '../checkpoint/session-snapshot.js';
import { Session } from '../runtime/session/session.js';
import { TABLES } from '../sparse/steps/embedding-ops.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { buildIn } from '../train/estimator/estimator-model.js';
import { sessionOptionsOf } from '../train/estimator/estimator-options.js';
import type { OpenRun } from './open-run.js';
import { tableNamed } from './run-tables.js';

export interface RowsImported {
  readonly table: string;
  readonly rows: number;
  /** Rows that were not there before. */
  readonly added: number;
  readonly path: string;
}

/** Reads rows for a table of so many floats. */
export type ReadRows = (dim: number, table: HashTable) => AsyncIterable<{ ids: BigInt64Array; rows: Float32Array }>;

export async function importRows(
  run: OpenRun,
  name: string | null,
  dir: string,
  read: ReadRows,
): Promise<RowsImported> {
  return changeTables(run, dir, async (tables, path) => {
    const [found, table] = tableNamed(tables, name);
    const before = table.size;
    let rows = 0;
    for await (const some of read(table.dim, table)) {
      table.assign(some.ids, some.rows);
      rows += some.ids.length;
    }
    return { table: found, rows, added: table.size - before, path: await path() };
  });
}

/** Loads a checkpoint, has its tables changed, and saves it into another model directory where `save` is called. */
export async function changeTables<T>(
  run: OpenRun,
  dir: string,
  change: (tables: ReadonlyMap<string, HashTable>, save: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const model = buildIn(run.model, 'train');
  const session = await Session.create(model.graph, sessionOptionsOf({ threads: 1 }, run.model.schema.specs, 256));
  try {
    await restoreSession(session, run.checkpoint);
    const configs = session.graph.getCollection(TABLES);
    const tables = new Map(configs.map((config) => [config.name, HashTable.of(session, config)]));
    return await change(tables, async () => {
      const { path } = await saveCheckpoint(dir, snapshotSession(session, run.model.name));
      return path;
    });
  } finally {
    await session.close();
  }
}
