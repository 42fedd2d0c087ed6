/**
 * @file A directory of another file system, with what is read and written of it at hand in a folder of this machine.
 *
 * Readers of checkpoints go over files of this machine, some of them on several threads. So what is to be read is
 * brought here first, and what is written here goes there in the same operations and the same order, renames included:
 * a write that breaks off leaves there what it would leave here. The folder is this process's and ends with it.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { MonolithError } from '../errors.js';
import type { FileSystem } from './file-system.js';
import { nodeFileSystem } from './file-system.js';
import { fileSystemOf, isRemote, setMirrored } from './file-systems.js';

const CHUNK_BYTES = 1 << 20;
/** By the path of the directory. */
const mirrors = new Map<string, Mirror>();
let folder = '';

/** A folder for mirrors, removed when the process exits. */
function newFolder(): string {
  if (folder === '') {
    folder = mkdtempSync(join(tmpdir(), 'monolith-mirror-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return mkdtempSync(join(folder, 'dir-'));
}

export class Mirror {
  readonly remote: string;
  readonly local: string;
  readonly #fs: FileSystem;
  /** Sizes and times of the files there that were brought, by path. */
  readonly #brought = new Map<string, string>();

  private constructor(remote: string, fs: FileSystem) {
    this.remote = remote;
    this.local = newFolder();
    this.#fs = fs;
    setMirrored(this.local, teeFileSystem(this, fs));
  }

  /** The mirror of a directory: one in a process. */
  static of(dir: string): Mirror {
    const remote = dir.replace(/\/+$/, '');
    const fs = fileSystemOf(remote);
    const known = mirrors.get(remote);
    if (known !== undefined && known.#fs === fs) return known;
    const made = new Mirror(remote, fs);
    mirrors.set(remote, made);
    return made;
  }

  /** A path below this directory, there and here. */
  toRemote(path: string): string {
    return path.startsWith(this.local) ? `${this.remote}${path.slice(this.local.length)}` : path;
  }

  toLocal(path: string): string {
    return path.startsWith(this.remote) ? `${this.local}${path.slice(this.remote.length)}` : path;
  }

  /** Names in the directory; none when it is not there. */
  async names(below = ''): Promise<string[]> {
    const path = `${this.remote}${below}`;
    return (await this.#fs.stat(path))?.isDirectory ? this.#fs.list(path) : [];
  }

  /** Brings a file or a folder of that name as it is now, or removes what is here when it is gone. */
  async bring(name: string): Promise<void> {
    const [there, here] = [`${this.remote}/${name}`, join(this.local, name)];
    const found = await this.#fs.stat(there);
    if (found === null) {
      this.#brought.delete(there);
      rmSync(here, { recursive: true, force: true });
      return;
    }
    if (found.isDirectory) {
      mkdirSync(here, { recursive: true });
      const names = await this.#fs.list(there);
      for (const old of readdirSync(here)) if (!names.includes(old)) rmSync(join(here, old), { recursive: true });
      for (const inner of names) await this.bring(`${name}/${inner}`);
      return;
    }
    const version = `${found.sizeBytes} ${found.modifiedMs}`;
    if (this.#brought.get(there) === version) return;
    await this.#copy(there, here);
    this.#brought.set(there, version);
  }

  async #copy(there: string, here: string): Promise<void> {
    rmSync(here, { recursive: true, force: true });
    mkdirSync(dirname(here), { recursive: true });
    const [from, to] = [await this.#fs.openToRead(there), await nodeFileSystem.create(here)];
    try {
      const buffer = new Uint8Array(CHUNK_BYTES);
      for (let at = 0; ; ) {
        const got = await from.read(buffer, at);
        if (got === 0) break;
        await to.write(buffer.subarray(0, got));
        at += got;
      }
    } finally {
      await to.close();
      await from.close();
    }
  }

  /** The error in the names that whoever called knows. */
  named(thrown: unknown): unknown {
    if (!(thrown instanceof MonolithError)) return thrown;
    const rename = (value: unknown) => (typeof value === 'string' ? value.replaceAll(this.local, this.remote) : value);
    const fields = Object.fromEntries(Object.entries(thrown.fields).map(([name, value]) => [name, rename(value)]));
    const hint = thrown.hint === undefined ? {} : { hint: String(rename(thrown.hint)) };
    return new MonolithError(thrown.code, fields, { ...hint, cause: thrown.cause });
  }
}

/** Does there what it does here, there first: what fails there has not happened here. */
function teeFileSystem(mirror: Mirror, fs: FileSystem): FileSystem {
  const there = (path: string) => mirror.toRemote(path);
  return {
    async create(path) {
      const remote = await fs.create(there(path));
      const local = await nodeFileSystem.create(path);
      return {
        async write(bytes) {
          await remote.write(bytes);
          await local.write(bytes);
        },
        sync: () => remote.sync(),
        async close() {
          try {
            await remote.close();
          } finally {
            await local.close();
          }
        },
      };
    },
    async rename(from, to) {
      await fs.rename(there(from), there(to));
      await nodeFileSystem.rename(from, to);
    },
    async remove(path) {
      await fs.remove(there(path));
      await nodeFileSystem.remove(path);
    },
    async makeDirectory(path) {
      await fs.makeDirectory(there(path));
      await nodeFileSystem.makeDirectory(path);
    },
    syncDirectory: (path) => fs.syncDirectory(there(path)),
    list: (path) => fs.list(there(path)),
    stat: (path) => fs.stat(there(path)),
    openToRead: (path) => fs.openToRead(there(path)),
  };
}

/** Runs `action` with the path of `dir` on this machine; what goes wrong is told by the names of `dir`. */
export async function mirrored<T>(
  dir: string,
  bring: (mirror: Mirror) => Promise<void>,
  action: (local: string, nameOf: (local: string) => string) => Promise<T>,
): Promise<T> {
  if (!isRemote(dir)) return action(dir, (path) => path);
  const mirror = Mirror.of(dir);
  try {
    await bring(mirror);
    return await action(mirror.local, (path) => mirror.toRemote(path));
  } catch (thrown) {
    throw mirror.named(thrown);
  }
}

/** The directory of a path, without making one slash of two. */
export function directoryOf(path: string): string {
  return path.slice(0, path.length - basename(path).length).replace(/\/+$/, '');
}

/** The path that whoever called knows a file of a mirror by; other paths as they are. */
export function nameOfMirrored(path: string): string {
  for (const mirror of mirrors.values()) if (path.startsWith(`${mirror.local}/`)) return mirror.toRemote(path);
  return path;
}
