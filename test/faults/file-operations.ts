/**
 * @file Stands between this process and the file system: counts what changes files, and at one operation ends the
 * process, or lets the disk be full.
 *
 * Works on Node's own functions, so nothing passes by it: not the lock of a directory, nor what a later version writes
 * in another way. Removing a tree counts as the removals it consists of.
 */
import fs, { type PathLike, type RmOptions } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

/** `kill`: SIGKILL right after operation `at`. `once`: it fails. `full`: from it on all that needs room fails. */
export interface Plan {
  readonly at: number;
  readonly mode: 'count' | 'kill' | 'once' | 'full';
}

let plan: Plan = { at: -1, mode: 'count' };
let count = 0;

/** Starts to count from 0. */
export function arm(next: Plan): void {
  plan = next;
  count = 0;
}

export const operations = (): number => count;

const full = () =>
  Object.assign(new Error('ENOSPC: no space left on device (injected)'), { code: 'ENOSPC', errno: -28 });

/** Before an operation; returns its number. What removes, `null`, never wants for room. */
function begin(needsRoom: boolean | null): number {
  const number = count++;
  if (plan.mode === 'once' && number === plan.at && needsRoom !== null) throw full();
  if (plan.mode === 'full' && number >= plan.at && needsRoom) throw full();
  return number;
}

function end(number: number): void {
  if (plan.mode !== 'kill' || number !== plan.at) return;
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

type Any = (...args: never[]) => unknown;

function sync<F extends Any>(original: F, needsRoom: boolean | null): F {
  return ((...args: Parameters<F>) => {
    const number = begin(needsRoom);
    try {
      return original(...args);
    } finally {
      end(number);
    }
  }) as F;
}

function async<F extends Any>(original: F, needsRoom: boolean | null, self?: unknown): F {
  return (async (...args: Parameters<F>) => {
    const number = begin(needsRoom);
    try {
      return await original.apply(self, args);
    } finally {
      end(number);
    }
  }) as unknown as F;
}

const { promises } = fs;
const original = {
  open: promises.open,
  openSync: fs.openSync,
  rm: promises.rm,
  unlink: promises.unlink,
  rmdir: promises.rmdir,
};
const creates = (flags: unknown) => (typeof flags === 'string' ? flags !== 'r' : (Number(flags ?? 0) & 3) !== 0);

/** A handle whose writing counts. */
function counted(handle: FileHandle): FileHandle {
  for (const name of ['write', 'writev', 'writeFile', 'truncate', 'sync', 'datasync'] as const) {
    Object.assign(handle, { [name]: async(handle[name] as Any, !/sync/.test(name), handle) });
  }
  return handle;
}

async function removeTree(path: string): Promise<void> {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) return async(original.unlink, null)(path);
  for (const name of fs.readdirSync(path)) await removeTree(join(path, name));
  await async(original.rmdir, null)(path);
}

Object.assign(promises, {
  open: async (path: PathLike, flags?: string | number, mode?: number) => {
    if (!creates(flags)) return counted(await original.open(path, flags, mode));
    return counted(await async(original.open, true)(path, flags, mode));
  },
  rm: async (path: string, options?: RmOptions) => {
    if (options?.recursive) await removeTree(path);
    else await async(original.rm, null)(path, options);
  },
  rename: async(promises.rename, false),
  unlink: async(original.unlink, null),
  rmdir: async(original.rmdir, null),
  mkdir: async(promises.mkdir as Any, true),
  link: async(promises.link, true),
  writeFile: async(promises.writeFile as Any, true),
  copyFile: async(promises.copyFile, true),
});
const openSync = sync(original.openSync, true);
Object.assign(fs, {
  openSync: (path: PathLike, flags?: string | number, mode?: number) =>
    (creates(flags ?? 'r') ? openSync : original.openSync)(path, flags ?? 'r', mode),
  writeSync: sync(fs.writeSync as Any, true),
  fsyncSync: sync(fs.fsyncSync, false),
  renameSync: sync(fs.renameSync, false),
  rmSync: sync(fs.rmSync, null),
  unlinkSync: sync(fs.unlinkSync, null),
  mkdirSync: sync(fs.mkdirSync as Any, true),
  linkSync: sync(fs.linkSync, true),
  writeFileSync: sync(fs.writeFileSync, true),
});
syncBuiltinESMExports();
