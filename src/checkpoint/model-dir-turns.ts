/**
 * @file Who may write to a model directory: one training run or one save at a time, in all processes and in this one.
 *
 * A run keeps the directory from its start to its end; saves of the same process take turns inside it.
 */
import { realpathSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { writeError } from '../base/files/atomic-file.js';
import { nodeFileSystem } from '../base/files/file-system.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { DirLock } from './dir-lock.js';
import type { RemoteLock } from './remote-lock.js';

/** Directories that a run of this thread keeps. */
const kept = new Map<string, DirLock | RemoteLock>();
/** Ends of what was asked for last, by directory. */
const turns = new Map<string, Promise<unknown>>();

export interface KeptModelDir {
  /** Lets others have the directory, after the saves that were asked for before. */
  release(): Promise<void>;
}

/** Keeps `dir`, which exists, for a run: ML_DIR names the process that has it, another run of this one included. */
export async function keepModelDir(dir: string): Promise<KeptModelDir> {
  const key = keyOf(dir);
  return inTurn(key, async () => {
    if (kept.has(key)) {
      const hint = 'close the trainer that has it first, or use another directory';
      throw new MonolithError('ML_DIR', { dir, reason: 'another run of this process has it' }, { hint });
    }
    const lock = await takeLock(dir);
    kept.set(key, lock);
    return {
      release: () =>
        inTurn(key, async () => {
          if (kept.get(key) === lock) kept.delete(key);
          await lock.release();
        }),
    };
  });
}

/** Runs `action`, a save into `dir`, which exists, when no other save is under way. */
export async function saveInTurn<T>(dir: string, action: () => Promise<T>): Promise<T> {
  const key = keyOf(dir);
  return inTurn(key, async () => {
    const keeper = kept.get(key);
    if (keeper !== undefined) {
      await keeper.check();
      return action();
    }
    const lock = await takeLock(dir);
    try {
      return await action();
    } finally {
      await lock.release();
    }
  });
}

/** The lock of a directory of this machine, or of another file system that it mirrors. */
async function takeLock(dir: string): Promise<DirLock | RemoteLock> {
  const fs = fileSystemOf(dir);
  if (fs === nodeFileSystem) return DirLock.take(dir);
  const { takeRemoteLock } = await import('./remote-lock.js');
  return takeRemoteLock(dir, fs);
}

/** The name that all ways to the directory have in common. It may be gone since it was made. */
function keyOf(dir: string): string {
  try {
    return realpathSync(dir);
  } catch (cause) {
    throw writeError(dir, cause);
  }
}

async function inTurn<T>(key: string, action: () => Promise<T>): Promise<T> {
  const before = turns.get(key);
  const result = (async () => {
    await before;
    return action();
  })();
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  turns.set(key, end);
  try {
    return await result;
  } finally {
    if (turns.get(key) === end) turns.delete(key);
  }
}
