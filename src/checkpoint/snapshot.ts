/**
 * @file What a checkpoint holds, as types, and the checks a snapshot must pass before anything is written.
 */

import { isDeepStrictEqual } from 'node:util';
import { MonolithError, messageOf } from '../base/errors.js';
import type { FileSystem } from '../base/files/file-system.js';
import type { InputState } from '../base/input-state.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import type { EntryRow } from '../io/entry-dump.js';
import { type DumpSegment, OPTIMIZER_DUMPS } from '../io/optimizer-dump.js';
import { tableBaseName } from '../io/shard-files.js';
import type { FilterFile } from '../sparse/admission/filter-files.js';
import type { StoredTable } from '../sparse/files/stored-table.js';
import type { SpaceRecord } from '../sparse/files/table-space.js';

export type DenseDtype = 'float32' | 'int32' | 'int64';

/** Name, type and shape of a dense variable. */
export interface DenseLayout {
  readonly name: string;
  readonly dtype: DenseDtype;
  readonly shape: readonly number[];
}

export interface DenseValue extends DenseLayout {
  readonly data: Float32Array | Int32Array | BigInt64Array;
}

/** One segment of a table's rows: its weights and the optimizer that updates them. */
export type TableSegment = DumpSegment;

/** A row; `state` is in row order: adagrad norm[dim]; ftrl norm[dim], zero[dim]; segment after segment. */
export type TableRow = EntryRow;

export interface TableLayout {
  /** For example `MonolithHashTable_<suffix>`. */
  readonly name: string;
  readonly segments: readonly TableSegment[];
  /** Of a session: names that older checkpoints may have it under. */
  readonly extraRestoreNames?: readonly string[];
}

export interface TableSnapshot extends TableLayout {
  readonly rowCount: number;
  /** Exactly `rowCount` rows. The object may be the same for all rows: copy what is kept. */
  rows(): Iterable<TableRow>;
  /** The table itself, when there is one: its rows are written from where they are, without those that expired. */
  readonly stored?: StoredTable;
}

/** What tells one model from another; a snapshot is one. */
export interface ModelLayout {
  readonly modelName: string;
  readonly dense: readonly DenseLayout[];
  readonly tables: readonly TableLayout[];
}

/** What else a run depends on, for example its batch size: kept to tell when a later run has it otherwise. */
export type Settings = Readonly<Record<string, string | number | boolean>>;

/** An admission filter. */
export interface FilterSnapshot {
  /** Base name of its files: `hash_filter_<server>`. */
  readonly name: string;
  /** Writes the files next to `base`. */
  write(base: string, fs: FileSystem): Promise<readonly FilterFile[]>;
}

/** Of a snapshot that is no copy: how to have it stay as it is while it is written. */
export interface LiveSource {
  /** Runs `action` after what was asked of the source before; what is asked of it meanwhile waits. */
  hold<T>(action: () => Promise<T>): Promise<T>;
  /** Step of the source now. */
  step(): number;
  /** Its step when the snapshot was taken. */
  readonly takenAtStep: number;
}

export interface Snapshot extends ModelLayout {
  readonly step: number;
  readonly live?: LiveSource;
  readonly settings?: Settings;
  /** Where the input of the training stood: the batches before that place are in this snapshot, no others are. */
  readonly input?: InputState | undefined;
  readonly dense: readonly DenseValue[];
  readonly tables: readonly TableSnapshot[];
  /** What the tables took of their memory, when they come from a checkpoint that tells; tables of a session know it. */
  readonly space?: SpaceRecord;
  readonly filters?: readonly FilterSnapshot[];
}

const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, int64: BigInt64Array } as const;

/** ML_CKPT_WRITE naming `file` when the snapshot cannot become a checkpoint. */
export function checkSnapshot(snapshot: Snapshot, file: string): void {
  const refuse = (reason: string): never => {
    throw new MonolithError('ML_CKPT_WRITE', { file, reason });
  };
  const { step, modelName, settings, dense, tables, filters = [] } = snapshot;
  if (!isCount(step)) refuse(`step ${step} is not a step`);
  if (typeof modelName !== 'string') refuse(`a model cannot be called ${String(modelName)}`);
  checkSettings(settings, file);
  if (snapshot.input !== undefined) checkInputState(snapshot.input, file);
  const names = new Set<string>([GLOBAL_STEP]);
  for (const { name, dtype, shape, data } of dense) {
    if (!isText(name) || name === '') refuse(`a dense value cannot be called "${String(name)}"`);
    if (names.has(name)) refuse(`two dense values have the same name: ${name}`);
    names.add(name);
    if (!(data instanceof ARRAY_TYPES[dtype])) refuse(`${name} does not hold ${dtype} values`);
    const count = shape.reduce((product, size) => product * size, 1);
    if (!shape.every(isCount) || count !== data.length) {
      refuse(`${name} has ${data.length} values for shape [${shape.join(', ')}]`);
    }
  }
  const files = new Set<string>();
  for (const { name } of filters) {
    if (!/^hash_filter_\d+$/.test(name) || files.has(name)) refuse(`a filter cannot be called ${name}`);
    files.add(name);
  }
  for (const table of tables) {
    if (!isText(table.name)) refuse(`a table cannot be called ${String(table.name)}`);
    const base = tableBaseName(table.name);
    if (base === '') refuse('a table has no name');
    if (files.has(base)) refuse(`two tables or filters have the same name: ${base}`);
    files.add(base);
    if (!isCount(table.rowCount)) refuse(`table ${table.name} has ${table.rowCount} rows`);
    if (table.segments.length === 0) refuse(`table ${table.name} has no segments`);
    for (const { dim, optimizer } of table.segments) {
      if (!isCount(dim) || dim === 0) refuse(`table ${table.name} has a segment of dimension ${dim}`);
      if (!Object.hasOwn(OPTIMIZER_DUMPS, optimizer)) refuse(`table ${table.name} has the optimizer ${optimizer}`);
    }
  }
}

/** ML_CKPT_WRITE naming the setting that would not be the same when it is loaded. */
export function checkSettings(settings: Settings | undefined, file: string): void {
  for (const [name, value] of Object.entries(settings ?? {})) {
    const kept = ['string', 'number', 'boolean'].includes(typeof value) && Object.is(readBack(value), value);
    if (kept && name !== '__proto__') continue;
    const found = Object.is(value, -0) ? '-0' : typeof value === 'object' ? JSON.stringify(value) : String(value);
    const fields = { file, field: `settings.${name}`, reason: `settings.${name}: ${found} cannot be kept` };
    const hint = 'settings are texts, finite numbers, true or false';
    throw new MonolithError('ML_CKPT_WRITE', fields, { hint });
  }
}

/** ML_CKPT_WRITE when the position of an input would not be the same when it is loaded. */
function checkInputState(input: unknown, file: string): void {
  let reason = 'it is not the same once it was written as JSON';
  try {
    if (isDeepStrictEqual(readBack(input), input)) return;
  } catch (cause) {
    reason = messageOf(cause);
  }
  const hint = 'saveState of an input returns plain JSON: no dates, bigints, arrays of numbers or undefined';
  throw new MonolithError('ML_CKPT_WRITE', { file, field: 'input', reason: `input: ${reason}` }, { hint });
}

function readBack(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Text that is the same after it was written as UTF-8, as names of tensors and files are. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed();
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
