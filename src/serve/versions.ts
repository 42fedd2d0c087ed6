/**
 * @file Versions of a model: folders named by numbers. One is made beside its name and takes it when it is whole, so
 * that whoever looks for the newest finds none that is half written.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { writingTo } from '../base/files/atomic-file.js';
import { nodeFileSystem } from '../base/files/file-system.js';
import { log } from '../base/log.js';
import { ENTRY } from '../train/part-folders.js';

const DIGITS = /^\d{1,18}$/;

/** Where the versions of a model lie: of one in parts those of its entry. */
export function folderOfVersions(dir: string): string {
  const entry = join(dir, ENTRY);
  return existsSync(entry) ? entry : dir;
}

/** Versions in a folder, oldest first. */
export async function versionsIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  return names.filter((name) => DIGITS.test(name)).sort((a, b) => Number(BigInt(a) - BigInt(b)));
}

/**
 * The folder of the newest version in `dir`; `dir` itself when it is a version. ML_NO_MODELS where there is none.
 */
export async function newestVersion(given: string, isModel: (folder: string) => boolean): Promise<string> {
  const dir = folderOfVersions(given);
  if (isModel(dir) || DIGITS.test(basename(dir))) return dir;
  const found = (await versionsIn(dir)).reverse().find((name) => isModel(join(dir, name)));
  if (found === undefined) {
    const isRun = existsSync(join(dir, 'checkpoint'));
    const hint = isRun ? `it is a run: monolith export ${dir} --to DIR makes a version of it` : undefined;
    throw new MonolithError('ML_NO_MODELS', { path: dir }, hint === undefined ? {} : { hint });
  }
  return join(dir, found);
}

/** Seconds since 1970, or the first number after it that is free. */
function freeVersion(dir: string, nowMs: number): string {
  let version = Math.floor(nowMs / 1000);
  while (existsSync(join(dir, `${version}`)) || existsSync(join(dir, `temp-${version}`))) version++;
  return `${version}`;
}

/** Has `write` fill the folder of a new version; returns it. A failure leaves nothing behind. */
export async function publishVersion(
  dir: string,
  write: (folder: string) => Promise<void>,
  { version: given, nowMs = Date.now() }: { readonly version?: string | undefined; readonly nowMs?: number } = {},
): Promise<string> {
  const version = given ?? freeVersion(dir, nowMs);
  const [temporary, folder] = [join(dir, `temp-${version}`), join(dir, version)];
  if (existsSync(folder)) {
    log.info('skipping duplicated model exportings', { folder });
    return folder;
  }
  return writingTo(folder, async () => {
    await nodeFileSystem.makeDirectory(temporary);
    try {
      await write(temporary);
      await nodeFileSystem.syncDirectory(temporary);
      await rename(temporary, folder);
      await nodeFileSystem.syncDirectory(dir);
      return folder;
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
  });
}
