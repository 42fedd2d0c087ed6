/**
 * @file Replaces the `checkpoint` state file, the moment a save becomes the latest one.
 *
 * A rename is seen at once but is durable only when the directory is forced to disk, which can fail too. The old text
 * is therefore kept in a second file, so that going back takes a rename and no space on a disk that may be full.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { cleanUp, writeError, writeWhole } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { readWhole } from '../base/files/read-file.js';
import { temporaryName } from '../base/files/temporary-names.js';

/** Writes `text` to `file`. Returns the name of the file with the old text, for the caller to remove. */
export async function publishState(file: string, text: string, fs: FileSystem): Promise<string> {
  const temporary = temporaryName(file);
  const backup = temporaryName(file);
  const old = existsSync(file) ? readWhole(file, 'stateBytes') : null;
  let replaced = false;
  try {
    if (old !== null) await writeWhole(backup, old, fs);
    await writeWhole(temporary, text, fs);
    await fs.rename(temporary, file);
    replaced = true;
    await fs.syncDirectory(dirname(file));
    return backup;
  } catch (cause) {
    throw await cleanUp(writeError(file, cause), async () => {
      if (replaced && old === null) await fs.remove(file);
      if (replaced && old !== null) await fs.rename(backup, file);
      await fs.remove(temporary);
      await fs.remove(backup);
    });
  }
}
