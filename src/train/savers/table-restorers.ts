/**
 * @file Listeners that read tables and filters out of the assets of a checkpoint: when a session was made, and after a
 * save for those that evict what expired (hash_table_ops, multi_hash_table_ops and hash_filter_ops of native_training).
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { getCheckpointState } from '../../checkpoint/checkpoint-state-reader.js';
import { checkpointExists } from '../../checkpoint/model-dir.js';
import { assetDir } from '../../checkpoint/names.js';
import { sparseOnlyPrefix } from '../../checkpoint/sparse-only.js';
import { tableBaseName } from '../../io/shard-files.js';
import type { Session } from '../../runtime/session/session.js';
import { restoreFilter } from '../../sparse/admission/filter-files.js';
import { restoreMultiTable, restoreTable } from '../../sparse/files/on-demand.js';
import type { CheckpointRestorerListener } from '../hooks/checkpoint-restorer.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import {
  bareName,
  FILTERS_LIMIT_MS,
  filtersIn,
  heldWithin,
  MULTI_TABLE_BASE,
  type SessionTable,
  TABLES_LIMIT_MS,
  tablesIn,
} from './session-tables.js';

/** Prefix of the newest checkpoint that is there; null without one. */
async function newest(basenameOfPrefixes: string): Promise<string | null> {
  const state = await getCheckpointState(dirname(basenameOfPrefixes));
  return state !== null && checkpointExists(state.modelCheckpointPath) ? state.modelCheckpointPath : null;
}

/** A listener of restores that puts back what a prefix has; without a checkpoint it does nothing. */
abstract class Restorer implements CheckpointRestorerListener {
  protected readonly basename: string;

  constructor(basenameOfPrefixes: string) {
    this.basename = basenameOfPrefixes;
  }

  async beforeRestore(session: Session): Promise<void> {
    const prefix = (await newest(this.basename)) ?? this.otherwise();
    if (prefix !== null) await this.restore(session, prefix);
  }

  /** Where to restore from when there is no checkpoint. */
  protected otherwise(): string | null {
    return null;
  }

  protected abstract restore(session: Session, prefix: string): Promise<void>;
}

/**
 * Restores each table from files of its own, by its name or one that it had before. Without a checkpoint, the only
 * folder of tables in the directory is taken.
 */
export class HashTableCheckpointRestorerListener extends Restorer {
  protected override otherwise(): string | null {
    const dir = dirname(this.basename);
    return statSync(dir, { throwIfNoEntry: false })?.isDirectory() ? sparseOnlyPrefix(dir) : null;
  }

  protected restore(session: Session, prefix: string): Promise<void> {
    return restoreTables(session, prefix);
  }
}

/** Restores what the one set of files has; a table that it lacks stays as it is, with a warning. */
export class MultiHashTableCheckpointRestorerListener extends Restorer {
  protected restore(session: Session, prefix: string): Promise<void> {
    return restoreTogether(session, prefix);
  }
}

export interface FilterRestorerOptions {
  /** Default: true. */
  readonly enabled?: boolean;
}

/** Restores the admission filters; also from files beside the checkpoint, as old ones have them. */
export class HashFilterCheckpointRestorerListener extends Restorer {
  readonly #enabled: boolean;

  constructor(basenameOfPrefixes: string, options: FilterRestorerOptions = {}) {
    super(basenameOfPrefixes);
    checkOptions('HashFilterCheckpointRestorerListener', options, ['enabled']);
    this.#enabled = options.enabled ?? true;
  }

  protected async restore(session: Session, prefix: string): Promise<void> {
    if (!this.#enabled) return;
    const assets = assetDir(prefix);
    const hasAssets = statSync(assets, { throwIfNoEntry: false })?.isDirectory() ?? false;
    await heldWithin(session, 'the restore of the filters', FILTERS_LIMIT_MS, async () => {
      for (const { name, filter } of filtersIn(session)) {
        await restoreFilter(filter, hasAssets ? join(assets, name) : `${prefix}_${name}`);
      }
    });
  }
}

/** Reads the tables again once they are saved: files leave out what has expired, and then so do tables. */
abstract class AfterSave implements CheckpointSaverListener {
  readonly #basename: string;

  constructor(basenameOfPrefixes: string) {
    this.#basename = basenameOfPrefixes;
  }

  async afterSave(session: Session): Promise<void> {
    const prefix = await newest(this.#basename);
    if (prefix !== null) await this.restore(session, prefix);
  }

  protected abstract restore(session: Session, prefix: string): Promise<void>;
}

/** For tables in files of their own, those of `saveCheckpoint` too. */
export class HashTableRestorerSaverListener extends AfterSave {
  protected restore(session: Session, prefix: string): Promise<void> {
    return restoreTables(session, prefix);
  }
}

/** For tables in one set of files. */
export class MultiHashTableRestorerSaverListener extends AfterSave {
  protected async restore(session: Session, prefix: string): Promise<void> {
    await heldWithin(session, 'the restore of the tables', TABLES_LIMIT_MS, async () => {
      // Rows of files go over those of tables: what expired has to be gone first.
      for (const { table } of tablesIn(session)) table.clear();
    });
    await restoreTogether(session, prefix);
  }
}

async function restoreTables(session: Session, prefix: string): Promise<void> {
  await heldWithin(session, 'the restore of the tables', TABLES_LIMIT_MS, async () => {
    // Where all of them are is known before the first one changes.
    const found = tablesIn(session).map((table) => ({ table: table.table, base: baseOf(prefix, table) }));
    for (const { table, base } of found) await restoreTable(table, base);
  });
}

/** Base name of the files of a table, under the first of its names that has any. */
function baseOf(prefix: string, { name, extraRestoreNames }: SessionTable): string {
  const assets = assetDir(prefix);
  const isThere = statSync(assets, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const files = isThere ? readdirSync(assets) : [];
  const names = [name, ...extraRestoreNames].map(tableBaseName);
  const base = names.find((one) => files.some((file) => isShardOf(one, file)));
  if (base !== undefined) return join(assets, base);
  throw new MonolithError('ML_CKPT_NO_TABLE', { dir: assets, table: names.join(', ') });
}

/** One table's name may begin with another's. */
function isShardOf(base: string, file: string): boolean {
  return file.startsWith(base) && /^-\d{5}-of-\d{5}$/.test(file.slice(base.length));
}

async function restoreTogether(session: Session, prefix: string): Promise<void> {
  const tables = tablesIn(session).map(({ name, table }) => ({ name: bareName(name), table }));
  if (tables.length === 0) return;
  const { warnings } = await heldWithin(session, 'the restore of the tables', TABLES_LIMIT_MS, () => {
    return restoreMultiTable(tables, join(assetDir(prefix), MULTI_TABLE_BASE));
  });
  for (const text of warnings) log.warn(text, { checkpoint: basename(prefix) });
}
