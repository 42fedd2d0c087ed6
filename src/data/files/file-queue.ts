/**
 * @file Files that are handed out to readers as they ask, so that a slow reader holds nobody up: dynamic sharding.
 *
 * Mirrors the two shared queues of native_training, of patterns and of the files that one of them stands for. In one
 * process all readers have the same `FileQueue`; a service of a cluster is another `FileSource`.
 */
import { MonolithError } from '../../base/errors.js';
import { type FileOptions, type Findings, fileRows } from './file-rows.js';
import { expandPattern, matchFiles } from './patterns.js';
import type { DataRow } from './place.js';

/** Where readers get files from. */
export interface FileSource {
  /** A file that nobody else has got; undefined when none is left. `reader` asks. */
  take(reader: number): string | undefined | Promise<string | undefined>;
  /** The reader is done with the file. */
  done(reader: number, file: string): void | Promise<void>;
}

/** What is left to be read. */
export interface FileQueueState {
  readonly patterns: readonly string[];
  /** Those that readers had and were not done with are the first of them. */
  readonly files: readonly string[];
}

/** A queue of files for the readers of one process, gone over once. */
export class FileQueue implements FileSource {
  #patterns: string[];
  #files: string[] = [];
  readonly #taken = new Map<string, number>();
  #found = false;

  constructor(patterns: string | readonly string[]) {
    this.#patterns = [patterns].flat().flatMap(expandPattern).sort();
    if (this.#patterns.length === 0) throw new MonolithError('ML_DATASET', { reason: 'no files were named' });
  }

  /** A pattern is looked up when files are wanted: what comes meanwhile is read too. */
  take(reader: number): string | undefined {
    while (this.#files.length === 0 && this.#patterns.length > 0) {
      const pattern = this.#patterns.shift()!;
      this.#files.push(...found(pattern));
    }
    const file = this.#files.shift();
    if (file !== undefined) {
      this.#found = true;
      this.#taken.set(file, reader);
    } else if (!this.#found) throw new MonolithError('ML_DATASET', { reason: 'no match files' });
    return file;
  }

  done(reader: number, file: string): void {
    if (this.#taken.get(file) === reader) this.#taken.delete(file);
  }

  /** Gives back what a reader that is gone had. */
  giveBack(reader: number): void {
    const files = [...this.#taken].flatMap(([file, owner]) => (owner === reader ? [file] : []));
    for (const file of files) this.#taken.delete(file);
    this.#files.unshift(...files);
  }

  saveState(): FileQueueState {
    return { patterns: [...this.#patterns], files: [...this.#taken.keys(), ...this.#files] };
  }

  restoreState({ patterns, files }: FileQueueState): void {
    this.#patterns = [...patterns];
    this.#files = [...files];
    this.#taken.clear();
    this.#found = true;
  }
}

function found(pattern: string): readonly string[] {
  try {
    return matchFiles(pattern).files;
  } catch (error) {
    if (!(error instanceof MonolithError) || error.fields.reason !== 'no match files') throw error;
    process.emitWarning(`pattern not match any files: ${pattern}`, { code: 'ML_DATASET' });
    return [];
  }
}

export function isFileSource(given: unknown): given is FileSource {
  const { take, done } = (given ?? {}) as Partial<FileSource>;
  return typeof take === 'function' && typeof done === 'function';
}

/** Rows of the files that a reader gets, one after the other; it is done with one when it asks for the next. */
export async function* queuedRows(
  source: FileSource,
  reader: number,
  options: FileOptions,
  findings: Findings,
): AsyncGenerator<readonly DataRow[]> {
  for (let file = await source.take(reader); file !== undefined; file = await source.take(reader)) {
    yield* fileRows([file], options, findings);
    await source.done(reader, file);
  }
}
