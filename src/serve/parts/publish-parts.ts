/** @file Publishes the parts of a version: all of them under one number, the last one last, or none. */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writingTo } from '../../base/files/atomic-file.js';
import { nodeFileSystem } from '../../base/files/file-system.js';
import { log } from '../../base/log.js';
import type { Part } from './export-parts.js';

/** Seconds since 1970, or the first number after it that no part has. */
function freeVersion(base: string, parts: readonly Part[], nowMs: number): string {
  const isTaken = (version: number) =>
    parts.some(({ name }) => [`${version}`, `temp-${version}`].some((one) => existsSync(join(base, name, one))));
  let version = Math.floor(nowMs / 1000);
  while (isTaken(version)) version++;
  return `${version}`;
}

/** Writes parts in `base`, under a version that is given or of the time; the folder of the last one. */
export async function publishParts(
  base: string,
  parts: readonly Part[],
  { version: given, nowMs = Date.now() }: { readonly version?: string | undefined; readonly nowMs?: number } = {},
): Promise<string> {
  const version = given ?? freeVersion(base, parts, nowMs);
  const written: string[] = [];
  try {
    for (const part of parts) await publishPart(base, part, version, written);
  } catch (error) {
    for (const folder of written) await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return join(base, parts.at(-1)!.name, version);
}

async function publishPart(base: string, { name, write }: Part, version: string, written: string[]): Promise<void> {
  const [temporary, folder] = [join(base, name, `temp-${version}`), join(base, name, version)];
  if (existsSync(folder)) {
    log.info('skipping duplicated model exportings', { folder });
    return;
  }
  await writingTo(folder, async () => {
    await nodeFileSystem.makeDirectory(temporary);
    try {
      await write(temporary);
      await nodeFileSystem.syncDirectory(temporary);
      await rename(temporary, folder);
      written.push(folder);
      await nodeFileSystem.syncDirectory(join(base, name));
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
  });
}
