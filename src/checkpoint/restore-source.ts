/** @file What a session is restored from: a checkpoint with our manifest, or one without. */
import { statSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { fileSystemOf, isRemote } from '../base/files/file-systems.js';
import { isPath } from '../base/files/read-file.js';
import type { AdmissionFilter } from '../sparse/admission/filter-memory.js';
import type { LayOut } from '../sparse/files/laid-space.js';
import type { PendingRows } from '../sparse/files/restore-table.js';
import { storedTable } from '../sparse/files/table-image-of.js';
import type { SpaceRecord } from '../sparse/files/table-space.js';
import type { HashTable } from '../sparse/table/hash-table.js';
import { type LoadedCheckpoint, type LoadedTable, latestCheckpoint } from './load-checkpoint.js';
import { notACheckpoint } from './not-a-checkpoint.js';
import { withCheckpoint } from './remote-dir.js';
import type { ModelSide } from './restore-match.js';
import type { DenseValue } from './snapshot.js';
import { hasAnyFile } from './verify-checkpoint.js';

/** A table of a session and the name it has in the checkpoint. */
export interface TablePair {
  readonly from: string;
  readonly table: HashTable;
}

export interface RestoreSource extends ModelSide {
  /** The prefix. */
  readonly path: string;
  /** Null when it has none. */
  readonly step: number | null;
  readonly dense: readonly DenseValue[];
  readonly filters: readonly {
    readonly name: string;
    prepare(filter: AdmissionFilter): Promise<() => void>;
  }[];
  /** What the tables, all of them and in this order, took of their memory. */
  readonly space?: SpaceRecord | undefined;
  /** Reads the rows of the tables beside those they have, and adds what is read to `pending` as it comes. */
  readTables(pairs: readonly TablePair[], pending: PendingRows[], options: ReadTablesOptions): Promise<void>;
}

export interface ReadTablesOptions {
  readonly layOut?: ((index: number) => LayOut) | undefined;
  /** Takes over a table whose old and new rows do not fit together. */
  readonly over?: ((table: LoadedTable, target: HashTable) => void) | undefined;
}

/** A loaded checkpoint, which was verified. */
export function sourceOf(loaded: LoadedCheckpoint): RestoreSource {
  const byName = new Map(loaded.tables.map((table) => [table.name, table]));
  return {
    path: loaded.path,
    step: loaded.step,
    dense: loaded.dense,
    tables: loaded.tables,
    filters: loaded.filters,
    space: loaded.space,
    async readTables(pairs, pending, { layOut, over }) {
      for (const [index, { from, table }] of pairs.entries()) {
        const source = byName.get(from)!;
        try {
          table.changed();
          pending.push(await source.readBeside(storedTable(table), layOut?.(index)));
        } catch (cause) {
          if (over === undefined || !(cause instanceof MonolithError) || cause.code !== 'ML_MEMORY') throw cause;
          over(source, table);
        }
      }
    },
  };
}

/** The prefix of a checkpoint: `path` itself, or the newest one of the directory `path`; null in one without any. */
export async function prefixAt(path: string): Promise<string | null> {
  if (!isPath(path)) {
    const hint = 'give what loadCheckpoint(path) returns, the prefix of a checkpoint or a model directory';
    throw new MonolithError('ML_CKPT_READ', { file: String(path), reason: 'it is no loaded checkpoint' }, { hint });
  }
  if (isRemote(path)) return remotePrefix(path);
  if (hasAnyFile(path)) return path;
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return latestCheckpoint(path);
  throw notACheckpoint(path);
}

/** The same of another file system: the prefix on this machine, where all of the checkpoint was brought. */
async function remotePrefix(path: string): Promise<string | null> {
  const isDirectory = (await fileSystemOf(path).stat(path))?.isDirectory === true;
  const prefix = isDirectory ? await latestCheckpoint(path) : path;
  if (prefix === null) return null;
  return withCheckpoint(prefix, async (local) => {
    if (!hasAnyFile(local)) throw notACheckpoint(local);
    return local;
  });
}
