/** @file What a session holds, as a snapshot to save. */
import type { Tensor } from '../graph/graph.js';
import { GLOBAL_STEP, VARIABLES } from '../graph/ops/state.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import { writeFilter } from '../sparse/admission/filter-files.js';
import type { AdmissionFilter } from '../sparse/admission/filter-memory.js';
import type { TableConfig } from '../sparse/config/table-config.js';
import { storedTable } from '../sparse/files/table-image-of.js';
import { TABLES } from '../sparse/steps/embedding-ops.js';
import { HashTable } from '../sparse/table/hash-table.js';
import type { DenseValue, Settings, Snapshot, TableSnapshot } from './snapshot.js';

/**
 * All variables, tables and filters of the session, in place: `saveCheckpoint` writes what they hold when the steps
 * that were asked for before it have run, and steps that are asked for later wait until it is done.
 */
export function snapshotSession(session: Session, modelName: string, settings?: Settings): Snapshot {
  coreOf(session);
  const step = session.globalStep;
  return {
    step,
    live: { hold: (action) => session.hold(action), step: () => session.globalStep, takenAtStep: step },
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
      const { name, instance } = config;
      const { extraRestoreNames } = instance;
      return {
        ...{ name, segments: table.plan.dump, rowCount: table.size, rows: () => table.rows(), stored },
        ...(extraRestoreNames.length > 0 && { extraRestoreNames }),
      };
    }),
    filters: filtersOf(session).map((filter, server) => ({
      name: `hash_filter_${server}`,
      write: (base, fs) => writeFilter(filter, base, fs),
    })),
  };
}

/** The filters that the tables have and that have a state to save, each once, in the order of the tables. */
export function filtersOf(session: Session): AdmissionFilter[] {
  const filters = tableConfigs(session).map((config) => HashTable.of(session, config).gate.filter);
  return [...new Set(filters)].filter((filter) => filter?.type === 'sliding_hash_filter') as AdmissionFilter[];
}

export function denseVariables(session: Session): Tensor[] {
  return session.graph.getCollection(VARIABLES).filter((tensor) => tensor.op.name !== GLOBAL_STEP);
}

export function tableConfigs(session: Session): readonly TableConfig[] {
  return session.graph.getCollection(TABLES);
}
