/**
 * @file Puts a checkpoint into a session, all of it or nothing.
 *
 * Everything that can fail comes first: what goes where is decided, filters are read, rows are read beside those the
 * tables have. Then all of it takes its place in one go, which cannot fail.
 */
import { existsSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { nameOfMirrored } from '../base/files/mirror.js';
import { GLOBAL_STEP, type VariableAttrs } from '../graph/ops/state.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import { LaidSpace } from '../sparse/files/laid-space.js';
import type { PendingRows } from '../sparse/files/restore-table.js';
import { TableImage } from '../sparse/files/stored-table.js';
import { storedTable } from '../sparse/files/table-image-of.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { foreignNames, readForeign } from './foreign-checkpoint.js';
import { type LoadedCheckpoint, loadCheckpoint } from './load-checkpoint.js';
import { MANIFEST_SUFFIX } from './names.js';
import { type Assignment, type ModelSide, matchCheckpoint, type SideTable } from './restore-match.js';
import { checkRestoreOptions, type RestoreOptions } from './restore-options.js';
import type { RestoredItem, RestoreReport } from './restore-report.js';
import { prefixAt, type RestoreSource, sourceOf, type TablePair } from './restore-source.js';
import { denseVariables, filtersOf, tableConfigs } from './session-snapshot.js';
import { sparseOnlyPrefix } from './sparse-only.js';

/** The body of `restoreSession`, for a session that is held. */
export async function restoreHeld(
  session: Session,
  from: LoadedCheckpoint | string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const side = sideOf(session, options);
  const names = [...side.dense, ...side.tables].map(({ name }) => name);
  checkRestoreOptions(options, names);
  const source = await openSource(from, side, options);
  const match = matchCheckpoint(side, source, options, source.path);
  const filters = await prepareFilters(session, source);
  const commitTables = await readTables(session, source, match.tables, options);
  // From here on nothing can fail.
  commitTables();
  for (const { commit } of filters) commit?.();
  writeDense(session, source, match.dense);
  const counts = session.variableNames.includes(GLOBAL_STEP);
  const isCounted = counts && source.step !== null && options.globalStep !== false;
  if (isCounted) session.writeVariable(GLOBAL_STEP, BigInt64Array.of(BigInt(source.step)));
  // Lookups between here and the next step show what they did when it was saved.
  coreOf(session).followGlobalStep();
  return {
    path: nameOfMirrored(source.path),
    mode: options.mode ?? 'exact',
    step: source.step,
    tensors: [...match.tensorItems, ...stepItem(counts, isCounted)],
    tables: match.tableItems,
    filters: filters.map(({ item }) => item),
  };
}

/** What the session has. Checkpoints of others may have a table under several names. */
function sideOf(session: Session, { mode }: RestoreOptions): ModelSide {
  const dense = denseVariables(session).map(({ op, spec }) => {
    return { name: op.name, dtype: spec.dtype, shape: spec.shape as readonly number[] };
  });
  const tables = tableConfigs(session).map((config): SideTable => {
    const { plan } = HashTable.of(session, config);
    const { name, instance } = config;
    const known = { name, extraRestoreNames: instance.extraRestoreNames };
    const extraRestoreNames = mode === 'foreign' ? foreignNames(known) : known.extraRestoreNames;
    return { name, extraRestoreNames, segments: plan.dump, isServing: plan.serving };
  });
  return { dense, tables };
}

async function openSource(
  from: LoadedCheckpoint | string,
  side: ModelSide,
  { mode, rename = {} }: RestoreOptions,
): Promise<RestoreSource> {
  if (typeof (from as Partial<LoadedCheckpoint> | null | undefined)?.modelName === 'string') {
    return sourceOf(from as LoadedCheckpoint);
  }
  const given = from as string;
  const isForeign = mode === 'foreign';
  const prefix = (await prefixAt(given)) ?? (isForeign ? sparseOnlyPrefix(given) : null);
  if (prefix === null) {
    const hint = 'train with this model directory first, or give another one';
    throw new MonolithError('ML_CKPT_NONE', { path: given, reason: 'nothing was saved there' }, { hint });
  }
  if (!isForeign || existsSync(`${prefix}${MANIFEST_SUFFIX}`)) return sourceOf(await loadCheckpoint(prefix));
  const wanted = side.tables.flatMap(({ name, extraRestoreNames = [] }) => [name, ...extraRestoreNames]);
  return readForeign(prefix, [...wanted, ...Object.values(rename)]);
}

interface PreparedFilter {
  readonly item: RestoredItem;
  readonly commit?: () => void;
}

/** Reads the filters: one of another size is refused. */
async function prepareFilters(session: Session, source: RestoreSource): Promise<PreparedFilter[]> {
  const prepared: PreparedFilter[] = [];
  const unread = new Map(source.filters.map((filter) => [filter.name, filter]));
  for (const [server, filter] of filtersOf(session).entries()) {
    const name = `hash_filter_${server}`;
    const found = unread.get(name);
    unread.delete(name);
    if (found === undefined) prepared.push({ item: { name, outcome: 'initialised', reason: 'it stays as it is' } });
    else prepared.push({ item: { name, outcome: 'restored' }, commit: await found.prepare(filter) });
  }
  for (const name of unread.keys()) prepared.push({ item: { name, outcome: 'extra' } });
  return prepared;
}

/** Reads all rows beside those there are; what it returns puts them in place. */
async function readTables(
  session: Session,
  source: RestoreSource,
  assignments: readonly Assignment[],
  { inPlace = false }: RestoreOptions,
): Promise<() => void> {
  const configs = new Map(tableConfigs(session).map((config) => [config.name, config]));
  const tableOf = (name: string) => HashTable.of(session, configs.get(name)!);
  const pairs = assignments.flatMap(({ name, from }): TablePair[] => {
    return from === null ? [] : [{ from, table: tableOf(name) }];
  });
  // In the order of the checkpoint, which is that of what it tells of their memory.
  const order = new Map(source.tables.map(({ name }, index) => [name, index]));
  pairs.sort((a, b) => order.get(a.from)! - order.get(b.from)!);
  const laid = laidSpace(pairs, source);
  const pending: PendingRows[] = [];
  const over: (() => Promise<void>)[] = [];
  try {
    await source.readTables(pairs, pending, {
      layOut: laid && ((index) => laid.layOut(index)),
      over: inPlace ? (table, target) => over.push(() => table.restoreInto(storedTable(target))) : undefined,
    });
    // Those that were read free what they had first: the others need it.
    if (over.length > 0) for (const rows of pending.splice(0)) rows.keep();
    for (const replace of over) await replace();
  } catch (cause) {
    for (const rows of pending.reverse()) rows.discard();
    throw withMemoryHint(cause, inPlace);
  } finally {
    laid?.close();
  }
  return () => {
    for (const rows of pending) rows.keep();
    for (const { name, from } of assignments) {
      const table = tableOf(name);
      if (from === null && table.size > 0) table.clear();
    }
  };
}

/**
 * Tables that took all of a memory together get what each had before the first row: one by one they take more than
 * that.
 */
function laidSpace(pairs: readonly TablePair[], { tables, space }: RestoreSource): LaidSpace | undefined {
  if (pairs.length !== tables.length || pairs.some(({ from }, index) => tables[index]!.name !== from)) return undefined;
  return LaidSpace.take(
    pairs.map(({ table }) => new TableImage(storedTable(table))),
    space,
  );
}

function withMemoryHint(cause: unknown, inPlace: boolean): unknown {
  if (inPlace || !(cause instanceof MonolithError) || cause.code !== 'ML_MEMORY') return cause;
  const hint =
    'give the tables more memory or restore into a new session; inPlace: true clears a table before its rows are read';
  return new MonolithError(cause.code, cause.fields, { hint, cause: cause.cause ?? cause });
}

function writeDense(session: Session, source: RestoreSource, assignments: readonly Assignment[]): void {
  const values = new Map(source.dense.map((value) => [value.name, value.data]));
  const initial = new Map(denseVariables(session).map(({ op }) => [op.name, (op.attrs as VariableAttrs).initial]));
  for (const { name, from } of assignments) {
    const data = from === null ? initial.get(name)!() : values.get(from)!;
    if (!(data instanceof Int32Array)) session.writeVariable(name, data);
  }
}

function stepItem(counts: boolean, isCounted: boolean): RestoredItem[] {
  if (!counts) return [];
  if (isCounted) return [{ name: GLOBAL_STEP, outcome: 'restored' }];
  return [{ name: GLOBAL_STEP, outcome: 'initialised', reason: 'it stays as it is' }];
}
