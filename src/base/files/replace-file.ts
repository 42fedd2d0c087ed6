/** @file Small files that are replaced in one piece, without waiting for an event loop. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { temporaryName } from './temporary-names.js';

export interface ReplaceOptions {
  /** Default: what the process gives new files. */
  readonly mode?: number;
  /** Whether it is on the disk when the call ends: otherwise a power cut may leave an empty file. */
  readonly forced: boolean;
}

/** Makes `file` with this text, or leaves what was there; errors are those of the file system. */
export function replaceFile(file: string, text: string, { mode, forced }: ReplaceOptions): void {
  const temporary = temporaryName(file);
  try {
    const fd = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(fd, text);
      if (forced) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw cause;
  }
}
