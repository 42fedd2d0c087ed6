/**
 * @file The lock file of a model directory: one process at a time trains or saves there. Readers need no lock.
 *
 * A lock is a file that appears with its content, by a hard link, so there is no moment at which it has none. A lock
 * whose owner is gone is not removed first: two processes that saw it could then each remove the lock of the other.
 * Instead each lock has one place for its successor, `monolith.lock.<id>`, which only one process can fill. The
 * successor is then renamed over the old lock. Who filled such a place after that, with what it had seen before, finds
 * that the lock is another one now, and begins again:
 *
 * ```
 * monolith.lock            owner gone, id a1      link: only one succeeds       monolith.lock  ◄─ rename
 * monolith.lock.a1         ─────────────────────► its successor, id b2 ───────────────────────┘
 * ```
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { writeError } from '../base/files/atomic-file.js';
import { readWhole } from '../base/files/read-file.js';
import { isTemporaryName, temporaryName } from '../base/files/temporary-names.js';
import { formatOwner, type LockOwner, parseOwner, SILENT_MS, stateOf, thisOwner } from './lock-owner.js';
import { isMissing } from './model-dir.js';

export const LOCK_FILE = 'monolith.lock';

const BEAT_MS = 5_000;
/** Each try that fails means that another process came further. */
const TRIES_MAX = 1000;
/** What a file system without hard links answers. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Locks of this thread, to be released when it exits. */
const held = new Set<DirLock>();
/** Ids of locks of this thread that could not be removed: nobody has them, though their process lives. */
const abandoned = new Set<string>();
let releasesAtExit = false;

export class DirLock {
  readonly #dir: string;
  #owner: LockOwner;
  #beat: NodeJS.Timeout | undefined;

  private constructor(dir: string, owner: LockOwner) {
    this.#dir = dir;
    this.#owner = owner;
  }

  /** Takes the lock of `dir`, which exists. ML_DIR names the process that has it. */
  static take(dir: string): DirLock {
    const lock = new DirLock(dir, take(dir));
    held.add(lock);
    if (!releasesAtExit) process.on('exit', () => [...held].forEach((one) => void one.release()));
    releasesAtExit = true;
    lock.#beat = setInterval(() => {
      const now = new Date();
      // Whether the lock is still there and ours is for `check` to find out.
      utimes(join(dir, LOCK_FILE), now, now).catch(() => undefined);
    }, BEAT_MS).unref();
    return lock;
  }

  /** ML_DIR when somebody else has the lock now. One that was removed by hand is taken again. */
  check(): void {
    const path = join(this.#dir, LOCK_FILE);
    let found: FoundLock | undefined;
    try {
      found = readLock(path);
    } catch (cause) {
      throw writeError(path, cause); // a disk that does not answer: a later save may work
    }
    if (found?.owner?.id !== this.#owner.id) this.#owner = take(this.#dir);
  }

  release(): void {
    clearInterval(this.#beat);
    if (!held.delete(this)) return;
    const path = join(this.#dir, LOCK_FILE);
    try {
      if (readLock(path)?.owner?.id === this.#owner.id) rmSync(path, { force: true });
    } catch {
      // Others recognise what is left behind once this process is gone.
      abandoned.add(this.#owner.id);
    }
  }
}

/**
 * Whether `name` is what a process left that was killed while it took the lock: its owner is gone, or it is too old to
 * be one that takes it now.
 */
export function isLockLeftover(dir: string, name: string): boolean {
  if (!name.startsWith(`${LOCK_FILE}.`)) return false;
  const found = readLock(join(dir, name));
  if (found === undefined) return false;
  if (found.silentMs > SILENT_MS) return true;
  // What has its place in the line of locks is looked at by age alone.
  if (!isTemporaryName(name) || found.owner === undefined) return false;
  return stateOf(found.owner, found.silentMs, thisOwner()) === 'gone';
}

interface FoundLock {
  readonly path: string;
  /** Undefined while a process on a file system without hard links still writes it. */
  readonly owner: LockOwner | undefined;
  readonly id: string;
  readonly silentMs: number;
}

function take(dir: string): LockOwner {
  const owner = thisOwner();
  const root = join(dir, LOCK_FILE);
  const temporary = temporaryName(root);
  try {
    write(temporary, formatOwner(owner));
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { path } = endOfLocks(dir, owner);
      if (!place(temporary, path, owner)) continue;
      let ours = false;
      try {
        ours = endOfLocks(dir, owner).ours;
      } finally {
        if (!ours) rmSync(path, { force: true });
      }
      if (!ours) continue;
      if (path !== root) takeOver(path, root, owner);
      return owner;
    }
    throw new Error('other processes take and release its lock all the time');
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    const hint = isOther(root)
      ? `${root} is no lock: remove it`
      : 'name a directory this user can create and write, on a disk with free space';
    throw new MonolithError('ML_DIR', { dir, reason: `no lock: ${messageOf(cause)}` }, { hint, cause });
  } finally {
    removeOwn(temporary);
  }
}

/** Gives the successor of a lock its name. One that cannot have it is not left behind, where it would count. */
function takeOver(path: string, root: string, { id }: LockOwner): void {
  try {
    renameSync(path, root);
  } catch (cause) {
    removeOwn(path);
    abandoned.add(id);
    throw cause;
  }
}

/** Whether something stands in the place of a lock that no lock is: a pipe, a directory, a link. */
function isOther(path: string): boolean {
  try {
    return !lstatSync(path).isFile();
  } catch {
    return false; // most often there is nothing
  }
}

/** Removes a file that only this process has made. One that stays is found by its name and age (`isLockLeftover`). */
function removeOwn(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Whether the lock was taken does not depend on it.
  }
}

/** Follows the locks whose owners are gone to our own, or to the place for a new one. ML_DIR when an owner may live. */
function endOfLocks(dir: string, self: LockOwner): { readonly path: string; readonly ours: boolean } {
  const root = join(dir, LOCK_FILE);
  let path = root;
  let rootId: string | undefined;
  for (let found = readLock(path); found !== undefined; found = readLock(path)) {
    if (found.id === self.id) return { path, ours: true };
    rootId ??= found.id;
    try {
      refuseLiving(dir, found, self);
    } catch (refusal) {
      // Who came late may stand in the place of a successor for a moment: the lock has its new owner by then, who is to
      // be named.
      if (path !== root && readLock(root)?.id !== rootId) return endOfLocks(dir, self);
      throw refusal;
    }
    path = join(dir, `${LOCK_FILE}.${found.id}`);
  }
  return { path, ours: false };
}

function refuseLiving(dir: string, { path, owner, silentMs }: FoundLock, self: LockOwner): void {
  const file = join(dir, LOCK_FILE);
  if (owner === undefined) {
    if (silentMs > SILENT_MS) return;
    const reason = `${path} is new and cannot be read: another process is taking it`;
    throw new MonolithError('ML_DIR', { dir, reason }, { hint: `try again in ${SILENT_MS / 1000} seconds` });
  }
  const state = abandoned.has(owner.id) ? 'gone' : stateOf(owner, silentMs, self);
  if (state === 'gone' || state === 'silent') return;
  const { pid, host, since } = owner;
  const reason = `process ${pid} on host ${host} trains or saves there since ${since}`;
  const sign = `its last sign of life is ${Math.max(0, Math.round(silentMs / 1000))} seconds old`;
  const hint = {
    alive:
      pid === process.pid
        ? 'that is this process: close its trainer, or await its save'
        : 'wait for it, stop it, or use another directory',
    elsewhere: `${sign}; if it is gone for good, delete ${file} and try again`,
    unclear: `${sign}; if it is gone, try again in ${SILENT_MS / 1000} seconds, or delete ${file}`,
  }[state];
  throw new MonolithError('ML_DIR', { dir, reason, pid, host, since }, { hint });
}

function readLock(path: string): FoundLock | undefined {
  try {
    const text = readWhole(path, 'stateBytes').toString('utf8');
    const { mtimeMs, ino } = statSync(path);
    const owner = parseOwner(text);
    const id = owner?.id ?? createHash('md5').update(`${text}\n${ino}\n${mtimeMs}`).digest('hex');
    return { path, owner, id, silentMs: Date.now() - mtimeMs };
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
}

/** Gives our lock the name `path`; false when another has it. */
function place(temporary: string, path: string, owner: LockOwner): boolean {
  try {
    try {
      linkSync(temporary, path);
    } catch (cause) {
      if (!NO_LINKS.has(codeOf(cause))) throw cause;
      write(path, formatOwner(owner));
    }
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw cause;
  }
}

/** A new file, forced to disk: a lock must not turn up empty after a power cut. */
function write(path: string, text: string): void {
  const file = openSync(path, 'wx');
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
