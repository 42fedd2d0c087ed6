/**
 * @file Where the checkpoints of an estimator are: its model directory, or, without one, a directory that is gone when
 * the estimator is closed or the process ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Temporary directories of this thread that are there. */
const temporary = new Set<string>();
let removesAtExit = false;

export class ModelPlace {
  readonly isTemporary: boolean;
  #dir: string | null;

  constructor(modelDir: string | null) {
    this.#dir = modelDir;
    this.isTemporary = modelDir === null;
  }

  /** The directory, which a temporary one is made for now. */
  dir(): string {
    this.#dir ??= makeTemporary();
    return this.#dir;
  }

  /** The directory if there is one yet. */
  get known(): string | null {
    return this.#dir;
  }

  close(): void {
    if (!this.isTemporary || this.#dir === null) return;
    rmSync(this.#dir, { recursive: true, force: true });
    temporary.delete(this.#dir);
    this.#dir = null;
  }
}

function makeTemporary(): string {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-estimator-'));
  temporary.add(dir);
  if (!removesAtExit) process.on('exit', () => [...temporary].forEach((one) => void removeQuietly(one)));
  removesAtExit = true;
  return dir;
}

/** At the exit there is nobody to tell, and the other directories are still to be removed. */
function removeQuietly(dir: string): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    // What stays is in the directory for temporary files.
  }
}
