/**
 * @file Restores a table from record files: all of it, or nothing and the table stays as it was.
 *
 * Rows go into new partitions beside those in use, which take their place once every file was read to its end. When
 * memory does not hold both, all files are checked first and read again into the cleared table.
 */

import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { entryLayout } from '../../io/entry-layout.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { validateShardedFiles } from '../../io/shard-files.js';
import { TIME_BYTES_MAX } from '../../memory/dump-layout.js';
import { HashTable } from '../table/hash-table.js';
import { checkShard } from './check-shard.js';
import { FreshPartitions } from './fresh-partitions.js';
import type { LayOut } from './laid-space.js';
import { ShardLoader } from './shard-loader.js';
import { ShardThreads } from './shard-threads.js';
import type { StoredTable, TableImage } from './stored-table.js';
import { tableImageOf } from './table-image-of.js';

export interface RestoreTableOptions {
  /** Where files are listed. */
  readonly fileSystem?: FileSystem;
  /** Threads that read shards at the same time. Default: as many as there are processors for large files. */
  readonly threads?: number;
}

export interface RestoreFilesOptions extends RestoreTableOptions {
  /** Gives the partitions, once they are empty, memory for the rows that come. Default: they grow with them. */
  readonly layOut?: LayOut;
}

export interface RestoredTable {
  readonly files: readonly string[];
  /** Rows read; with skipZero, the table may have fewer. */
  readonly rows: number;
  /** Memory did not hold old and new rows together: all files were checked, then read again into the cleared table. */
  readonly inPlace: boolean;
}

/**
 * Replaces what `table` holds with the rows of `<base>-*`, saved by any table of the same shape and in any number of
 * files. ML_CKPT_SHARDS for an incomplete set, ML_CKPT_CORRUPT for damage, ML_CKPT_TABLE for rows of another shape.
 *
 * ```ts
 * const { rows } = await restoreTable(table, 'runs/ffm/user');
 * ```
 */
export async function restoreTable(
  table: StoredTable | HashTable,
  base: string,
  options: RestoreTableOptions = {},
): Promise<RestoredTable> {
  checkOptions('restoreTable', options, ['fileSystem', 'threads']);
  return restoreFiles(table, await shardFilesOf(base, options.fileSystem ?? nodeFileSystem), options);
}

/** The same from files whose names are known to be all. */
export async function restoreFiles(
  table: StoredTable | HashTable,
  files: readonly string[],
  options: RestoreFilesOptions = {},
): Promise<RestoredTable> {
  return withLoad(table, files, options, async (image, load) => {
    const loaded = await loadBeside(image, load);
    settle(image, loaded, options);
    return { files, rows: loaded.rows, inPlace: loaded.inPlace };
  });
}

/** Runs `body` with what reads `files` into the table. */
async function withLoad<T>(
  table: StoredTable | HashTable,
  files: readonly string[],
  options: RestoreFilesOptions,
  body: (image: ReturnType<typeof tableImageOf>, load: Load) => Promise<T>,
): Promise<T> {
  if (table instanceof HashTable) table.changed();
  const image = tableImageOf(table);
  const rowsExpected = rowsGuess(image, files);
  const threads = ShardThreads.start(image, files.length, rowsExpected, options.threads);
  let load: Load | null = null;
  try {
    // Memory for reading is taken before any row is: a table that fills the rest can then still be replaced.
    load = new Load(image, files, threads, rowsExpected, options.layOut);
    return await body(image, load);
  } finally {
    load?.close();
    await threads.close();
  }
}

/** The table has the rows that were read. */
function settle(
  image: ReturnType<typeof tableImageOf>,
  { maxUpdateSec }: Pick<LoadedRows, 'maxUpdateSec'>,
  { layOut }: RestoreFilesOptions,
): void {
  image.raiseMaxUpdateSec(maxUpdateSec);
  if (layOut === undefined) image.noteRemovals();
}

/** Rows that were read into a table and are not kept yet: until one of the two is called, the table shows them. */
export interface PendingRows {
  /** Rows read. */
  readonly rows: number;
  /** The rows take the place of those the table had. Cannot fail. */
  keep(): void;
  /** The table has again what it had. Cannot fail. */
  discard(): void;
}

/**
 * Reads all rows of `files` beside those of the table. ML_MEMORY when there is no room for both; whatever fails, the
 * table is as it was.
 */
export async function readFilesBeside(
  table: StoredTable | HashTable,
  files: readonly string[],
  options: RestoreFilesOptions = {},
): Promise<PendingRows> {
  return withLoad(table, files, options, async (image, load) => {
    const fresh = FreshPartitions.beginOrFail(image);
    let loaded: LoadedRows;
    try {
      loaded = await load.run();
    } catch (cause) {
      fresh.discard();
      throw cause;
    }
    return {
      rows: loaded.rows,
      keep: () => {
        fresh.keep();
        settle(image, loaded, options);
      },
      discard: () => fresh.discard(),
    };
  });
}

/** Files of `base` in shard order. */
export async function shardFilesOf(base: string, fs: FileSystem): Promise<string[]> {
  const dir = dirname(base);
  let names: string[];
  try {
    names = await fs.list(dir);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) {
      throw new MonolithError('ML_CKPT_READ', { file: dir, reason: messageOf(cause) }, { cause });
    }
    names = [];
  }
  const start = basename(base);
  const found = names.filter((name) => name.startsWith(start)).map((name) => join(dir, name));
  return validateShardedFiles(join(dir, start), found);
}

interface LoadedRows {
  readonly rows: number;
  readonly maxUpdateSec: number;
}

interface ReplacedRows extends LoadedRows {
  readonly inPlace: boolean;
}

async function loadBeside(image: TableImage, load: Load): Promise<ReplacedRows> {
  const fresh = FreshPartitions.begin(image);
  if (fresh === null) return loadOver(image, load);
  let loaded: LoadedRows;
  try {
    loaded = await load.run();
  } catch (cause) {
    fresh.discard();
    const isFull = cause instanceof MonolithError && cause.code === 'ML_MEMORY';
    if (isFull && fresh.replacesRows) return loadOver(image, load);
    throw cause;
  }
  fresh.keep();
  return { ...loaded, inPlace: false };
}

/** Checks everything, then clears and loads. Only the memory can still fail it, and that leaves the table empty. */
async function loadOver(image: TableImage, load: Load): Promise<ReplacedRows> {
  const { name, isServing } = image;
  for (const file of load.files) await checkShard({ name, isServing, segments: image.table.dumpSegments }, file);
  image.clear();
  try {
    return { ...(await load.run()), inPlace: true };
  } catch (cause) {
    image.clear();
    throw cause;
  }
}

/** Loading of a set of files, on threads or here. */
class Load {
  readonly files: readonly string[];
  readonly #threads: ShardThreads;
  readonly #loader: ShardLoader | null;
  readonly #image: TableImage;
  readonly #rowsExpected: number;
  readonly #layOut: LayOut | undefined;

  constructor(
    image: TableImage,
    files: readonly string[],
    threads: ShardThreads,
    rowsExpected: number,
    layOut: LayOut | undefined,
  ) {
    this.#image = image;
    this.#layOut = layOut;
    this.#rowsExpected = rowsExpected;
    this.files = files;
    this.#threads = threads;
    this.#loader = threads.count === 0 ? new ShardLoader(image, { load: true }) : null;
  }

  async run(): Promise<LoadedRows> {
    if (this.#layOut !== undefined) this.#layOut(this.#image);
    else this.#image.reserve(this.#rowsExpected);
    const shards = await this.#threads.each(this.files, (file, thread) => {
      return thread === null ? this.#loader!.load(file) : thread.loadShard(file);
    });
    return {
      rows: shards.reduce((sum, shard) => sum + shard.rows, 0),
      maxUpdateSec: shards.reduce((newest, shard) => Math.max(newest, shard.maxUpdateSec), 0),
    };
  }

  close(): void {
    this.#loader?.close();
  }
}

/** About how many rows the files have: as many as records of the usual size with a time of today. */
function rowsGuess({ table }: TableImage, files: readonly string[]): number {
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  const { template } = entryLayout(table.dumpSegments);
  return Math.floor(bytes / (RECORD_HEADER_BYTES + template.length + TIME_BYTES_MAX + RECORD_FOOTER_BYTES));
}
