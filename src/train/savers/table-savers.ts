/**
 * @file Listeners that write tables and filters into the assets of a checkpoint, for savers that save variables alone
 * (hash_table_ops, multi_hash_table_ops and hash_filter_ops of native_training).
 *
 * `saveCheckpoint` writes tables itself. These are for PartialRecoverySaver, whose checkpoints have the layout of the
 * reference: tables are written before the variables, so that a save that breaks off never counts.
 */
import { dirname, join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { fileSystemOf } from '../../base/files/file-systems.js';
import { assetDir, checkpointPrefix } from '../../checkpoint/names.js';
import { formatCkptInfo } from '../../io/ckpt-info.js';
import { tableBaseName } from '../../io/shard-files.js';
import type { Session } from '../../runtime/session/session.js';
import { saveFilter } from '../../sparse/admission/filter-files.js';
import { saveMultiTable, saveTable } from '../../sparse/files/on-demand.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import {
  bareName,
  FILTERS_LIMIT_MS,
  filtersIn,
  heldWithin,
  MULTI_TABLE_BASE,
  TABLES_LIMIT_MS,
  tablesIn,
} from './session-tables.js';

export interface TableSaverOptions {
  /** Files of a table. Default: one per million rows, from one to four. */
  readonly nshards?: number;
  /** ML_DEADLINE after it. Default: an hour. */
  readonly timeoutMs?: number;
}

const sharded = ({ nshards }: TableSaverOptions) => (nshards === undefined ? {} : { nshards });

/**
 * Writes each table of the session to files of its own.
 *
 * ```ts
 * const saver = new compat.PartialRecoverySaver();
 * const listeners = [new compat.HashTableCheckpointSaverListener('runs/ffm/model.ckpt')];
 * new compat.NoFirstSaveCheckpointSaverHook({ modelDir: 'runs/ffm', modelName: 'ffm', saver, listeners });
 * ```
 */
export class HashTableCheckpointSaverListener implements CheckpointSaverListener {
  readonly #basename: string;
  readonly #options: TableSaverOptions;

  /** `basename` is what prefixes begin with. */
  constructor(basename: string, options: TableSaverOptions = {}) {
    checkOptions('HashTableCheckpointSaverListener', options, ['nshards', 'timeoutMs']);
    this.#basename = basename;
    this.#options = options;
  }

  async beforeSave(session: Session, step: number): Promise<void> {
    const { timeoutMs = TABLES_LIMIT_MS } = this.#options;
    const assets = assetDir(checkpointPrefix(this.#basename, step));
    await heldWithin(session, 'the save of the tables', timeoutMs, async () => {
      for (const { name, table } of tablesIn(session)) {
        await saveTable(table, join(assets, tableBaseName(name)), {
          ...sharded(this.#options),
          fileSystem: fileSystemOf(assets),
        });
      }
    });
  }
}

export interface MultiTableSaverOptions extends TableSaverOptions {
  /** Whether `ckpt.info-<step>` tells the rows of each table. Default: true. */
  readonly writeCkptInfo?: boolean;
}

/** Writes all tables of the session to one set of files. */
export class MultiHashTableCheckpointSaverListener implements CheckpointSaverListener {
  readonly #basename: string;
  readonly #options: MultiTableSaverOptions;

  constructor(basename: string, options: MultiTableSaverOptions = {}) {
    checkOptions('MultiHashTableCheckpointSaverListener', options, ['nshards', 'timeoutMs', 'writeCkptInfo']);
    this.#basename = basename;
    this.#options = options;
  }

  async beforeSave(session: Session, step: number): Promise<void> {
    const { timeoutMs = TABLES_LIMIT_MS, writeCkptInfo = true } = this.#options;
    const tables = tablesIn(session).map(({ name, table }) => ({ name: bareName(name), table }));
    if (tables.length === 0) return;
    const base = join(assetDir(checkpointPrefix(this.#basename, step)), MULTI_TABLE_BASE);
    const { featureCounts } = await heldWithin(session, 'the save of the tables', timeoutMs, () => {
      return saveMultiTable(tables, base, { ...sharded(this.#options), fileSystem: fileSystemOf(base) });
    });
    if (writeCkptInfo) await writeFileAtomic(infoFile(this.#basename, step), formatCkptInfo({ featureCounts }));
  }
}

/** `ckpt.info-<step>` beside the checkpoints of `basename`. */
export function infoFile(basename: string, step: number): string {
  return join(dirname(basename), `ckpt.info-${step}`);
}

export interface FilterSaverOptions {
  /** Default: true. */
  readonly enabled?: boolean;
  /** ML_DEADLINE after it. Default: half an hour. */
  readonly timeoutMs?: number;
}

/** Writes the admission filters of the session. */
export class HashFilterCheckpointSaverListener implements CheckpointSaverListener {
  readonly #basename: string;
  readonly #options: FilterSaverOptions;

  constructor(basename: string, options: FilterSaverOptions = {}) {
    checkOptions('HashFilterCheckpointSaverListener', options, ['enabled', 'timeoutMs']);
    this.#basename = basename;
    this.#options = options;
  }

  async beforeSave(session: Session, step: number): Promise<void> {
    const { enabled = true, timeoutMs = FILTERS_LIMIT_MS } = this.#options;
    if (!enabled) return;
    const assets = assetDir(checkpointPrefix(this.#basename, step));
    await heldWithin(session, 'the save of the filters', timeoutMs, async () => {
      for (const { name, filter } of filtersIn(session)) {
        await saveFilter(filter, join(assets, name), fileSystemOf(assets));
      }
    });
  }
}
