/**
 * @file The lock of a model directory in another file system: a file that only one process can create.
 *
 * There are no hard links and no times to go by there. A lock whose owner is a process of this host that is gone is
 * taken over; any other stays until it is deleted by hand.
 */
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import type { FileSystem } from '../base/files/file-system.js';
import { LOCK_FILE } from './dir-lock.js';
import { formatOwner, type LockOwner, parseOwner, stateOf, thisOwner } from './lock-owner.js';

const TEXT_BYTES_MAX = 1 << 16;
const TRIES = 2;

export interface RemoteLock {
  /** ML_DIR when somebody else has the lock by now. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Takes the lock of `dir`, which exists. ML_DIR names the process that has it. */
export async function takeRemoteLock(dir: string, fs: FileSystem): Promise<RemoteLock> {
  const owner = thisOwner();
  const path = join(dir, LOCK_FILE);
  for (let tries = 1; ; tries++) {
    let failure: unknown;
    try {
      await create(path, formatOwner(owner), fs);
      return {
        check: async () => {
          const found = await ownerOf(path, fs);
          if (found?.id !== owner.id) throw taken(dir, path, found);
        },
        release: async () => {
          if ((await ownerOf(path, fs))?.id === owner.id) await fs.remove(path);
        },
      };
    } catch (cause) {
      failure = cause;
    }
    if ((await fs.stat(path)) === null) {
      throw new MonolithError('ML_DIR', { dir, reason: `no lock: ${messageOf(failure)}` }, { cause: failure });
    }
    const found = await ownerOf(path, fs);
    if (found === undefined || tries === TRIES || stateOf(found, 0, owner) !== 'gone') throw taken(dir, path, found);
    await fs.remove(path);
  }
}

async function create(path: string, text: string, fs: FileSystem): Promise<void> {
  const file = await fs.create(path);
  try {
    await file.write(new TextEncoder().encode(text));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Undefined for a file that is gone, or no lock of ours. */
async function ownerOf(path: string, fs: FileSystem): Promise<LockOwner | undefined> {
  if ((await fs.stat(path)) === null) return undefined;
  const file = await fs.openToRead(path);
  try {
    const bytes = new Uint8Array(TEXT_BYTES_MAX);
    return parseOwner(new TextDecoder().decode(bytes.subarray(0, await file.read(bytes, 0))));
  } finally {
    await file.close();
  }
}

function taken(dir: string, path: string, owner: LockOwner | undefined): MonolithError {
  const { pid, host, since } = owner ?? {};
  const reason = owner
    ? `process ${pid} on host ${host} trains or saves there since ${since}`
    : `${path} is no lock of this package`;
  const hint = `wait for it, stop it, or delete ${path} when it is gone for good`;
  return new MonolithError('ML_DIR', { dir, reason, ...(owner && { pid, host, since }) }, { hint });
}
