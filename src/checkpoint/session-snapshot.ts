/** @file Ties checkpoints to sessions: what a session holds as a snapshot, and putting a loaded one back. */
import { dirname } from 'node:path';
import { MonolithError } from '../base/errors.js';
import type { Tensor } from '../graph/graph.js';
import { GLOBAL_STEP, VARIABLES } from '../graph/ops/state.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-core.js';
import type { AdmissionFilter } from '../sparse/admission/admission-filter.js';
import { writeFilter } from '../sparse/admission/filter-files.js';
import type { TableConfig } from '../sparse/config/table-config.js';
import { LaidSpace } from '../sparse/files/laid-space.js';
import { TableImage } from '../sparse/files/stored-table.js';
import { storedTable } from '../sparse/files/table-image-of.js';
import { TABLES } from '../sparse/steps/embedding-ops.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { checkModel } from './check-model.js';
import type { LoadedCheckpoint } from './load-checkpoint.js';
import type { DenseValue, Settings, Snapshot, TableSnapshot } from './snapshot.js';

/**
 * All variables, tables and filters of the session, in place: `saveCheckpoint` writes what they hold when the steps that were
 * asked for before it have run, and steps that are asked for later wait until it is done.
 */
export function snapshotSession(session: Session, modelName: string, settings?: Settings): Snapshot {
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
      return { name: config.name, segments: table.plan.dump, rowCount: table.size, rows: () => table.rows(), stored };
    }),
    filters: filtersOf(session).map((filter, server) => ({
      name: `hash_filter_${server}`,
      write: (base, fs) => writeFilter(filter, base, fs),
    })),
  };
}

/**
 * Puts a checkpoint, which was verified when it was loaded, into a session of the same variables and tables: ML_CKPT_MODEL names
 * what is missing, extra or of another shape, and nothing has changed then. Runs take their turn as with any step. A model
 * without a global step goes on without one.
 */
export function restoreSession(session: Session, loaded: LoadedCheckpoint): Promise<void> {
  return session.hold(() => restore(session, loaded));
}

async function restore(session: Session, loaded: LoadedCheckpoint): Promise<void> {
  if (typeof (loaded as Partial<LoadedCheckpoint> | null | undefined)?.modelName !== 'string') {
    const fields = { file: String(loaded), reason: 'it is no loaded checkpoint' };
    throw new MonolithError('ML_CKPT_READ', fields, { hint: 'give what loadCheckpoint(path) returns' });
  }
  checkModel(snapshotSession(session, loaded.modelName), loaded, dirname(loaded.path));
  // Filters, since one of another size is refused, and tables, whose files are read again, come before what cannot fail.
  const filters = filtersOf(session);
  for (const { name, restoreInto } of loaded.filters) {
    const filter = filters[Number(name.replace(/^.*_/, ''))];
    if (filter !== undefined) await restoreInto(filter);
  }
  await restoreTables(session, loaded);
  for (const { name, data } of loaded.dense) {
    if (!(data instanceof Int32Array)) session.writeVariable(name, data);
  }
  const counts = session.variableNames.includes(GLOBAL_STEP);
  if (counts) session.writeVariable(GLOBAL_STEP, BigInt64Array.of(BigInt(loaded.step)));
  // Lookups between here and the next step show what they did when it was saved.
  coreOf(session).followGlobalStep();
}

/** Tables that took all of a memory together get what each had before the first row: one by one they take more than that. */
async function restoreTables(session: Session, { tables, space }: LoadedCheckpoint): Promise<void> {
  const configs = new Map(tableConfigs(session).map((config) => [config.name, config]));
  const targets = tables.map(({ name }) => {
    const table = HashTable.of(session, configs.get(name)!);
    table.changed();
    return storedTable(table);
  });
  const laid = LaidSpace.take(
    targets.map((target) => new TableImage(target)),
    space,
  );
  try {
    for (const [index, table] of tables.entries()) await table.restoreInto(targets[index]!, laid?.layOut(index));
  } finally {
    laid?.close();
  }
}

/** The filters that the tables have and that have a state to save, each once, in the order of the tables. */
function filtersOf(session: Session): AdmissionFilter[] {
  const filters = tableConfigs(session).map((config) => HashTable.of(session, config).gate.filter);
  return [...new Set(filters)].filter((filter) => filter?.type === 'sliding_hash_filter') as AdmissionFilter[];
}

function denseVariables(session: Session): Tensor[] {
  return session.graph.getCollection(VARIABLES).filter((tensor) => tensor.op.name !== GLOBAL_STEP);
}

function tableConfigs(session: Session): readonly TableConfig[] {
  return session.graph.getCollection(TABLES);
}
