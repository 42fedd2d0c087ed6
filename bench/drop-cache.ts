/**
 * @file Drops files from the page cache, so that the next read comes from the disk.
 *
 * By the advice that `dd` gives for the whole of a file, which needs no rights and touches no other file; `fincore`
 * tells whether the system followed it. Machines that lack either cannot say what a cold read is.
 */
import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';

/** Null when nothing of `files` is in memory any more; otherwise why that is not so. */
export async function dropCache(files: readonly string[]): Promise<string | null> {
  for (const file of files) {
    // Only what is on disk can be dropped.
    const handle = await open(file, 'r+');
    await handle.sync();
    await handle.close();
    try {
      execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'], { stdio: 'pipe' });
      const resident = execFileSync('fincore', ['--bytes', '--noheadings', '--output', 'RES', file], { stdio: 'pipe' });
      if (Number(resident) !== 0) return `${resident.toString().trim()} bytes of ${file} stay in the page cache`;
    } catch (cause) {
      return `dd or fincore failed: ${cause instanceof Error ? cause.message : String(cause)}`;
    }
  }
  return null;
}
