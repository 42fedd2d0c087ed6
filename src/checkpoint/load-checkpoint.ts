/**
 * @file Finds and loads checkpoints. Nothing is handed out before all of it was verified.
 */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { writeWhole } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { fileSystemOf, isRemote } from '../base/files/file-systems.js';
import { isPath } from '../base/files/read-file.js';
import { EntryDumpCodec } from '../io/entry-dump.js';
import { RecordReader } from '../io/record-reader.js';
import { type FilterFile, readFilter, restoreFilter } from '../sparse/admission/filter-files.js';
import type { AdmissionFilter } from '../sparse/admission/filter-memory.js';
import type { LayOut } from '../sparse/files/laid-space.js';
import { type PendingRows, readFilesBeside, restoreFiles } from '../sparse/files/restore-table.js';
import type { StoredTable } from '../sparse/files/stored-table.js';
import { getCheckpointState, type ReadStateOptions } from './checkpoint-state-reader.js';
import { unfinishedCheckpoints } from './leftovers.js';
import type { ManifestFilter, ManifestTable } from './manifest.js';
import { checkpointExists } from './model-dir.js';
import { assetDir, checkpointsOrNone, INDEX_SUFFIX, STATE_FILE } from './names.js';
import { notACheckpoint } from './not-a-checkpoint.js';
import { withCheckpoint, withModelDir } from './remote-dir.js';
import type { FilterSnapshot, ModelLayout, Snapshot, TableRow, TableSnapshot } from './snapshot.js';
import { decodeNext, hasAnyFile, verifyCheckpoint, wrapped } from './verify-checkpoint.js';

/**
 * A checkpoint in the form it was saved from; dense values are in memory, the rows of tables are read as they are
 * taken.
 */
export interface LoadedCheckpoint extends Snapshot {
  /** The prefix it was loaded from. */
  readonly path: string;
  readonly tables: readonly LoadedTable[];
  readonly filters: readonly LoadedFilter[];
}

export interface LoadedFilter extends FilterSnapshot {
  /**
   * Puts the saved state in place of the filter's own, or leaves it as it was: ML_FILTER_FILE for one of another size.
   */
  restoreInto(filter: AdmissionFilter): Promise<void>;
  /**
   * Reads the saved state and checks that it fits; what it returns puts it in place of the filter's own and cannot
   * fail.
   */
  prepare(filter: AdmissionFilter): Promise<() => void>;
}

export interface LoadedTable extends TableSnapshot {
  /**
   * Puts all rows into a table of the same shape in place of its own, or leaves it as it was; `layOut` makes room for
   * them.
   */
  restoreInto(table: StoredTable, layOut?: LayOut): Promise<void>;
  /** Reads all rows beside those of a table of the same shape, which has them once they are kept. */
  readBeside(table: StoredTable, layOut?: LayOut): Promise<PendingRows>;
}

export interface LoadOptions {
  /** The model to restore into; another one's checkpoint is ML_CKPT_MODEL. */
  readonly expect?: ModelLayout;
}

/**
 * Prefix of the latest checkpoint of a model directory, or of the one that the options name; null when nothing was
 * saved yet.
 */
export async function latestCheckpoint(modelDir: string, options?: ReadStateOptions): Promise<string | null> {
  if (!isPath(modelDir)) {
    throw new MonolithError('ML_CKPT_READ', { file: `${modelDir}`, reason: 'the name of the directory is no path' });
  }
  return withModelDir(modelDir, async (dir, nameOf) => {
    const path = await withHint(dir, '', () => latestIn(dir, options));
    return path === null ? null : nameOf(path);
  });
}

async function latestIn(modelDir: string, options: ReadStateOptions | undefined): Promise<string | null> {
  const state = await getCheckpointState(modelDir, options);
  if (state === null) return refuseUnlisted(modelDir);
  const path = state.modelCheckpointPath;
  const exists = isRemote(path)
    ? (await fileSystemOf(path).stat(`${path}${INDEX_SUFFIX}`)) !== null
    : checkpointExists(path);
  if (!exists) {
    // The reference starts over here. Training from nothing over a directory of saved work is worse than stopping.
    const reason = `it names ${path}. Couldn't match files for checkpoint ${path}`;
    throw new MonolithError('ML_CKPT_CORRUPT', {
      file: join(modelDir, STATE_FILE),
      field: 'model_checkpoint_path',
      reason,
    });
  }
  return path;
}

/** Null for a directory without checkpoints; an error for one whose state file is gone, which is no fresh start. */
function refuseUnlisted(modelDir: string): null {
  const unfinished = unfinishedCheckpoints(modelDir);
  const found = checkpointsOrNone(modelDir).filter((prefix) => !unfinished.includes(prefix));
  if (found.length === 0) return null;
  const names = found.map((prefix) => basename(prefix)).join(', ');
  const fields = {
    file: join(modelDir, STATE_FILE),
    field: 'file',
    reason: `it is missing, though there are ${names}`,
  };
  throw new MonolithError('ML_CKPT_CORRUPT', fields);
}

/**
 * Loads the checkpoint `prefix`.
 *
 * ```ts
 * const latest = await latestCheckpoint('runs/ffm');
 * if (latest !== null) for (const table of (await loadCheckpoint(latest)).tables) restore(table);
 * ```
 */
export async function loadCheckpoint(prefix: string, options: LoadOptions = {}): Promise<LoadedCheckpoint> {
  checkOptions('loadCheckpoint', options, ['expect']);
  return withCheckpoint(prefix, async (local, nameOf) => {
    const loaded = await loadLocal(local, options);
    return { ...loaded, path: nameOf(loaded.path) };
  });
}

async function loadLocal(prefix: string, options: LoadOptions): Promise<LoadedCheckpoint> {
  if (!hasAnyFile(prefix)) throw notACheckpoint(prefix);
  return withHint(dirname(prefix), prefix, async () => {
    const { manifest, dense } = await verifyCheckpoint(prefix, options.expect);
    const tables = manifest.tables.map((table) => loadedTable(prefix, table));
    const filters = (manifest.filters ?? []).map((filter) => loadedFilter(prefix, filter));
    const { step, model: modelName, settings, input, space } = manifest;
    return {
      path: prefix,
      step,
      modelName,
      ...(settings && { settings }),
      ...(input !== undefined && { input }),
      dense,
      tables,
      ...(space && { space }),
      filters,
    };
  });
}

function loadedTable(prefix: string, table: ManifestTable): LoadedTable {
  const { name, segments, rowCount } = table;
  const files = table.files.map((file) => join(assetDir(prefix), file));
  const restoreInto = async (target: StoredTable, layOut?: LayOut): Promise<void> => {
    const { rows } = await restoreFiles(target, files, layOut && { layOut });
    if (rows !== rowCount) throw rowsMissing(prefix, table, rows);
  };
  const readBeside = async (target: StoredTable, layOut?: LayOut): Promise<PendingRows> => {
    const pending = await readFilesBeside(target, files, layOut && { layOut });
    if (pending.rows === rowCount) return pending;
    pending.discard();
    throw rowsMissing(prefix, table, pending.rows);
  };
  return { name, segments, rowCount, rows: () => readRows(prefix, table), restoreInto, readBeside };
}

function loadedFilter(prefix: string, { name, files }: ManifestFilter): LoadedFilter {
  const copy = async (file: string, dir: string, fs: FileSystem): Promise<FilterFile> => {
    const to = join(dir, file);
    const { sizeBytes, crc } = await writeWhole(to, readFileSync(join(assetDir(prefix), file)), fs);
    return { file: to, bytes: sizeBytes, crc };
  };
  return {
    name,
    restoreInto: (filter) => restoreFilter(filter, join(assetDir(prefix), name)),
    prepare: (filter) => readFilter(filter, join(assetDir(prefix), name)),
    write: async (base, fs) => {
      const written: FilterFile[] = [];
      for (const file of files) written.push(await copy(file, dirname(base), fs));
      return written;
    },
  };
}

function rowsMissing(prefix: string, { name, rowCount }: ManifestTable, found: number): MonolithError {
  const reason = `rows: table ${name} gave ${found} of ${rowCount} rows`;
  return new MonolithError('ML_CKPT_CORRUPT', { file: assetDir(prefix), record: found, field: 'rows', reason });
}

/** Rows of all shards; the same object every time. Checksums are verified again, the file may have changed since. */
function* readRows(prefix: string, table: ManifestTable): Generator<TableRow> {
  const codec = new EntryDumpCodec(table.segments);
  const row = codec.makeRow();
  let rowCount = 0;
  for (const name of table.files) {
    const file = join(assetDir(prefix), name);
    const reader = wrapped(file, () => new RecordReader(file));
    try {
      while (wrapped(file, () => decodeNext(reader, codec, row))) {
        rowCount++;
        yield row;
      }
    } finally {
      reader.close();
    }
  }
  if (rowCount !== table.rowCount) throw rowsMissing(prefix, table, rowCount);
}

/** Runs `action`; a damaged checkpoint's error gets a hint that names another one that is intact, when there is one. */
async function withHint<T>(dir: string, damaged: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (!(cause instanceof MonolithError) || cause.code !== 'ML_CKPT_CORRUPT') throw cause;
    const all = await intactCheckpoints(dir, damaged, cause.fields.file === join(dir, STATE_FILE));
    const [intact = null] = all;
    const others = all.slice(1).map((path) => basename(path));
    const too = others.length > 0 ? `; intact too: ${others.join(', ')}` : '';
    const hint =
      intact === null
        ? `no other checkpoint in ${dir} is intact; restore the directory from a copy or use a new one`
        : `${intact} is intact: load it, or ${stateHint(dir, intact)}${too}`;
    const fields = { ...cause.fields, intact };
    throw new MonolithError('ML_CKPT_CORRUPT', fields, { hint, cause: cause.cause ?? cause });
  }
}

/** How to make `prefix` the newest checkpoint by hand. */
function stateHint(dir: string, prefix: string): string {
  const file = join(dir, STATE_FILE);
  if (existsSync(file)) return `set model_checkpoint_path to it in ${file}`;
  const line = `model_checkpoint_path: "${basename(prefix)}"`;
  return `go on from it: write ${line} to ${file}; use a new directory to start over`;
}

/**
 * Other checkpoints that pass verification, newest first; only the first of them unless `all` are asked for. Reads
 * whole checkpoints: only errors pay for it.
 */
async function intactCheckpoints(dir: string, except: string, all: boolean): Promise<string[]> {
  const intact: string[] = [];
  for (const prefix of checkpointsOrNone(dir)) {
    if (prefix === except) continue;
    try {
      await verifyCheckpoint(prefix);
      intact.push(prefix);
      if (!all) break;
    } catch (cause) {
      if (!(cause instanceof MonolithError)) throw cause; // a coded error means: not this one
    }
  }
  return intact;
}
