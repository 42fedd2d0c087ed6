/** @file Whether something in a folder has changed: names, sizes and times of its files. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A text that is another one after a change; that of a folder that is gone, or changes meanwhile, is empty. */
export async function folderPrint(dir: string): Promise<string> {
  try {
    const names = (await readdir(dir)).sort();
    const files = await Promise.all(names.map((name) => stat(join(dir, name))));
    return files.map(({ size, mtimeMs }, at) => `${names[at]} ${size} ${mtimeMs}`).join('\n');
  } catch {
    return ''; // It is looked at again.
  }
}
