/**
 * @file Blocks of rows that were parsed before: a file beside the data, or in a folder that is named.
 *
 * It is known by what decides the rows: the files with their sizes and times, and how they are read. Whatever is wrong
 * with it (another key, damage, a full disk, no right to write), rows are parsed as without it, and a warning says why.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { isTemporaryName } from '../../base/files/temporary-names.js';
import { packageVersion } from '../../base/package-version.js';
import { type CachedBlock, decodeBlock, encodeBlock } from './block-codec.js';
import { DamagedCache, RECORD, RecordWriter, recordsOf } from './record-file.js';

export interface BlockCacheOptions {
  /** Default: `.monolith-cache` beside the first file. */
  readonly dir?: string | undefined;
  readonly files: readonly string[];
  /** What `stampsOf` found before rows were looked at that decided `how`, or are among the first of `parse`. */
  readonly seen?: ReadonlyMap<string, string> | undefined;
  /** What else decides the rows, as JSON. */
  readonly how: unknown;
}

/** What a cache did, for people. */
export interface CacheFound {
  readonly file: string;
  readonly bytes: number;
  /** `used`: rows came out of it. `made`: they were parsed, and the next reader has them. */
  readonly state: 'used' | 'made';
}

/** The folder beside the data. */
export const CACHE_FOLDER = '.monolith-cache';
const ENDING = '.mlcache';
/** Files of one data set that are kept, for other models and flags. */
const KEPT = 4;
/** A writer that is alive writes more often. */
const LEFT_BEHIND_MS = 3_600_000;

export class BlockCache {
  found: CacheFound | undefined;
  readonly #given: BlockCacheOptions;
  readonly #dir: string;
  /** Begin of the names of all files for this data, however it is read. */
  readonly #prefix: string;
  /** The file whose checksums all held, or that this process wrote: it is not gone over twice. */
  #good = '';
  #warned = false;

  constructor(given: BlockCacheOptions) {
    this.#given = given;
    const [first = ''] = given.files;
    this.#dir = given.dir ?? join(dirname(first), CACHE_FOLDER);
    const places = digest(JSON.stringify(given.files.map((file) => resolve(file)))).slice(0, 8);
    this.#prefix = `${basename(first).slice(0, 80)}-${places}-`;
  }

  /**
   * The blocks, out of the file where it is good, else of `parse`, which are then written down. `end` is what `parse`
   * found out beside the rows, once it is at its end, and `onEnd` is told it in both cases.
   */
  async *through<End>(
    parse: () => AsyncIterable<CachedBlock>,
    end: () => End,
    onEnd: (end: End) => void = () => undefined,
  ): AsyncGenerator<CachedBlock> {
    if (this.#changedSince()) {
      this.#warn('the files changed while they were read, so nothing is kept of them');
      yield* parse();
      return;
    }
    // As the files are now: the last pass may have been over others.
    const key = keyOf(this.#given);
    const path = join(this.#dir, `${this.#prefix}${digest(key)}${ENDING}`);
    const file = await this.#open(path, key);
    if (file === undefined) {
      yield* this.#writing(path, key, parse(), end);
      return;
    }
    try {
      for await (const { kind, payload } of recordsOf(file)) {
        if (kind === RECORD.block) yield decodeBlock(payload);
        else if (kind === RECORD.end) onEnd(JSON.parse(Buffer.from(payload).toString()) as End);
      }
    } catch (cause) {
      if (!(cause instanceof DamagedCache)) throw cause;
      // It was good before the first row: rows of both kinds must not be mixed.
      rmSync(path, { force: true });
      const reason = `the cache ${path} was damaged while it was read: ${cause.message}`;
      throw new MonolithError('ML_DATASET', { reason }, { hint: 'it is removed; run again', cause });
    } finally {
      await file.close();
    }
  }

  #changedSince(): boolean {
    const { files, seen } = this.#given;
    if (seen === undefined) return false;
    return [...stampsOf(files)].some(([file, stamp]) => seen.has(file) && seen.get(file) !== stamp);
  }

  /** The file, gone over once: with all of its checksums, and of this key. */
  async #open(path: string, key: string): Promise<FileHandle | undefined> {
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn(`${path} cannot be read`, cause);
      return undefined;
    }
    try {
      const { size, mtimeMs, ino } = await file.stat();
      const seen = `${ino} ${size} ${mtimeMs}`;
      if (this.#good !== seen) await check(file, key);
      this.#good = seen;
      this.found ??= { file: path, bytes: size, state: 'used' };
      return file;
    } catch (cause) {
      await file.close();
      this.#warn(`${path} is damaged and made anew`, cause);
      return undefined;
    }
  }

  async *#writing<End>(
    path: string,
    key: string,
    blocks: AsyncIterable<CachedBlock>,
    end: () => End,
  ): AsyncGenerator<CachedBlock> {
    let writer = await this.#trying(undefined, () => {
      mkdirSync(this.#dir, { recursive: true });
      this.#tidy();
      return RecordWriter.create(path);
    });
    const add = async (kind: number, payload: Uint8Array) => {
      const to = writer;
      if (to !== undefined) writer = await this.#trying(to, () => to.add(kind, payload).then(() => to));
    };
    try {
      await add(RECORD.key, Buffer.from(key));
      for await (const block of blocks) {
        if (writer !== undefined) await add(RECORD.block, encodeBlock(block));
        yield block;
      }
      await add(RECORD.end, Buffer.from(JSON.stringify(end())));
      const to = writer;
      if (to === undefined) return;
      if (keyOf(this.#given) !== key) {
        this.#warn('the files changed while they were read, so nothing is kept of them');
        return;
      }
      const published = await this.#trying(to, () => to.publish().then(() => to));
      writer = undefined;
      if (published === undefined) return;
      this.found = { file: path, bytes: published.bytes, state: 'made' };
      const { ino, size, mtimeMs } = statSync(path);
      this.#good = `${ino} ${size} ${mtimeMs}`;
    } finally {
      await writer?.giveUp();
    }
  }

  /** What `action` gives; without the writer, and with a warning, where the disk refuses it. */
  async #trying(writer: RecordWriter | undefined, action: () => Promise<RecordWriter>) {
    try {
      return await action();
    } catch (cause) {
      await writer?.giveUp();
      this.#warn(`nothing is kept in ${this.#dir}`, cause);
      return undefined;
    }
  }

  /** Removes what killed writers left, and the oldest files of this data. */
  #tidy(): void {
    const dir = this.#dir;
    const own = readdirSync(dir).filter((name) => name.startsWith(this.#prefix));
    const aged = own.flatMap((name) => {
      const found = statSync(join(dir, name), { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name, ageMs: Date.now() - found.mtimeMs }];
    });
    const left = aged.filter(({ name, ageMs }) => isTemporaryName(name) && ageMs > LEFT_BEHIND_MS);
    const whole = aged.filter(({ name }) => name.endsWith(ENDING)).sort((a, b) => a.ageMs - b.ageMs);
    for (const { name } of [...left, ...whole.slice(KEPT - 1)]) rmSync(join(dir, name), { force: true });
  }

  #warn(what: string, cause?: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const reason = cause === undefined ? '' : `: ${messageOf(cause)}`;
    process.emitWarning(`cache of parsed rows: ${what}${reason}`, { code: 'ML_CACHE', type: 'MonolithWarning' });
  }
}

/** DamagedCache unless it is whole, and of this key. */
async function check(file: FileHandle, key: string): Promise<void> {
  let first = true;
  for await (const { kind, payload } of recordsOf(file)) {
    if (first !== (kind === RECORD.key)) throw new DamagedCache('its records are in no order');
    if (first && Buffer.from(payload).toString() !== key) throw new DamagedCache('it is of other data');
    first = false;
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** What decides the rows, the files as they are now among it. */
function keyOf({ files, how }: BlockCacheOptions): string {
  const found = files.map((file) => [resolve(file), stampOf(file)]);
  return JSON.stringify({ version: packageVersion(), files: found, how });
}

/** What files are now, by their paths: another text once one has changed. */
export function stampsOf(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [resolve(file), stampOf(file)]));
}

function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return [stat?.size, stat?.mtimeNs, stat?.ctimeNs, stat?.ino].map(String).join(' ');
}
