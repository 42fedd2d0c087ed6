/** @file Copies files and trees of them, on file systems where files come and go meanwhile (monolith/utils). */

import { constants, copyFile as copyOnce, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkOptions } from '../check-options.js';
import { MonolithError, messageOf } from '../errors.js';
import { makeDirectory } from './make-directory.js';

export interface CopyFileOptions {
  /** Replace what is at the target. Default: true. */
  readonly overwrite?: boolean;
  /** A source that is not there, or no longer, is no error. Default: true. */
  readonly skipNonexist?: boolean;
  /** Attempts to copy a file that fails. Default: 5. */
  readonly maxRetries?: number;
}

export interface CopyRecursivelyOptions extends Omit<CopyFileOptions, 'overwrite'> {
  /** Files copied at a time. Default: 1. */
  readonly maxWorkers?: number;
}

/** Copies one file. Whether it was there. */
export async function copyFile(src: string, dst: string, options: CopyFileOptions = {}): Promise<boolean> {
  checkOptions('copyFile', options, ['overwrite', 'skipNonexist', 'maxRetries']);
  const { overwrite = true, skipNonexist = true, maxRetries = 5 } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      await copyOnce(src, dst, overwrite ? 0 : constants.COPYFILE_EXCL);
      return true;
    } catch (cause) {
      if (skipNonexist && !(await exists(src))) return false;
      // Trying again does not make a file that is in the way go away.
      if (attempt >= maxRetries || codeOf(cause) === 'EEXIST') throw refused(src, messageOf(cause), cause);
    }
  }
}

/** Copies a folder with all in it to `dst`, which is removed first if it exists. The number of files copied. */
export async function copyRecursively(src: string, dst: string, options: CopyRecursivelyOptions = {}): Promise<number> {
  checkOptions('copyRecursively', options, ['skipNonexist', 'maxRetries', 'maxWorkers']);
  const { maxWorkers = 1, ...ofFile } = options;
  const { skipNonexist = true } = ofFile;
  if (!(await exists(src))) {
    if (skipNonexist) return 0;
    throw refused(src, 'it does not exist');
  }
  await rm(dst, { recursive: true, force: true });
  const files = await makeFolders(src, dst);
  let copied = 0;
  const work = async () => {
    for (let path = files.pop(); path !== undefined; path = files.pop()) {
      if (await copyFile(join(src, path), join(dst, path), ofFile)) copied++;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, maxWorkers) }, work));
  return copied;
}

/** Makes the folders of `src` at `dst`, and gives the paths of the files. */
async function makeFolders(src: string, dst: string, below = ''): Promise<string[]> {
  await makeDirectory(join(dst, below));
  const files: string[] = [];
  for (const entry of await readdir(join(src, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) files.push(...(await makeFolders(src, dst, path)));
    else files.push(path);
  }
  return files;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return false;
    throw refused(path, messageOf(cause), cause);
  }
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);

function refused(file: string, reason: string, cause?: unknown): MonolithError {
  return new MonolithError('ML_FILE_READ', { file, reason }, cause === undefined ? {} : { cause });
}
