/** @file Makes directories. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory and its parents, where they are missing. Not mkdir's own `recursive`: below a folder that answers
 * ENOENT to every new name, as /proc does, it never returns.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (cause) {
    if (await isDirectory(path)) return;
    const parent = dirname(path);
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (!missing || parent === path || (await isDirectory(parent))) throw cause;
    await makeDirectory(parent, mode);
    await makeDirectory(path, mode);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // whatever hides it, mkdir's own error says it better
  }
}
