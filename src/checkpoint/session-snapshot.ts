/** @file Ties checkpoints to sessions: what a session holds as a snapshot, and putting a loaded one back. */
import type { Tensor } from '../graph/graph.js';
import { GLOBAL_STEP, VARIABLES } from '../graph/ops/state.js';
import type { Session } from '../runtime/session.js';
import { TABLES } from '../sparse/embedding-ops.js';
import { HashTable } from '../sparse/hash-table.js';
import type { TableConfig } from '../sparse/table-config.js';
import { storedTable } from '../sparse/table-files/table-image-of.js';
import type { LoadedCheckpoint } from './load-checkpoint.js';
import type { DenseValue, Settings, Snapshot, TableSnapshot } from './snapshot.js';

/** All variables and tables of the session, in place: save it before the next step runs. */
export function snapshotSession(session: Session, modelName: string, settings?: Settings): Snapshot {
  return {
    step: session.globalStep,
    modelName,
    ...(settings && { settings }),
    dense: denseVariables(session).map((tensor): DenseValue => {
      const { name } = tensor.op;
      const shape = tensor.spec.shape as readonly number[];
      return { name, dtype: tensor.spec.dtype, shape, data: session.readVariable(name) };
    }),
    tables: tableConfigs(session).map((config): TableSnapshot => {
      const table = HashTable.of(session, config);
      const stored = storedTable(table);
      return { name: config.name, segments: table.plan.dump, rowCount: table.size, rows: () => table.rows(), stored };
    }),
  };
}

/** Puts a checkpoint, which was verified when it was loaded, into a session. */
export async function restoreSession(session: Session, loaded: LoadedCheckpoint): Promise<void> {
  for (const { name, data } of loaded.dense) {
    if (!(data instanceof Int32Array)) session.writeVariable(name, data);
  }
  session.writeVariable(GLOBAL_STEP, BigInt64Array.of(BigInt(loaded.step)));
  const configs = new Map(tableConfigs(session).map((config) => [config.name, config]));
  for (const table of loaded.tables) {
    await table.restoreInto(storedTable(HashTable.of(session, configs.get(table.name)!)));
  }
}

function denseVariables(session: Session): Tensor[] {
  return session.graph.getCollection<Tensor>(VARIABLES).filter((tensor) => tensor.op.name !== GLOBAL_STEP);
}

function tableConfigs(session: Session): readonly TableConfig[] {
  return session.graph.getCollection<TableConfig>(TABLES);
}
