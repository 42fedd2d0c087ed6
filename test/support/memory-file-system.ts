/** @file A file system in memory, with folders, exclusive creation and times, for paths with a scheme. */
import type { FileSystem } from '../../src/base/files/file-system.js';

interface MemoryFile {
  bytes: Uint8Array;
  modifiedMs: number;
}

const failure = (code: string, path: string) => Object.assign(new Error(`${code}: ${path}`), { code });

/** What it was asked, beside what a file system does. */
export interface MemoryFileSystem extends FileSystem {
  readonly files: ReadonlyMap<string, MemoryFile>;
  readonly calls: string[];
  /** Number of the call that fails, from 0. */
  failAt: number;
}

export function memoryFileSystem(): MemoryFileSystem {
  const files = new Map<string, MemoryFile>();
  const folders = new Set<string>();
  const calls: string[] = [];
  let ticks = 0;
  const isBelow = (path: string, folder: string) => path.startsWith(`${folder}/`);
  const system: MemoryFileSystem = {
    files,
    calls,
    failAt: Number.POSITIVE_INFINITY,
    async create(path) {
      noted(`create ${path}`);
      if (files.has(path)) throw failure('EEXIST', path);
      const file = { bytes: new Uint8Array(0), modifiedMs: ++ticks };
      files.set(path, file);
      return {
        async write(bytes) {
          const all = new Uint8Array(file.bytes.length + bytes.length);
          all.set(file.bytes);
          all.set(bytes, file.bytes.length);
          file.bytes = all;
          file.modifiedMs = ++ticks;
        },
        async sync() {
          noted(`sync ${path}`);
        },
        async close() {},
      };
    },
    async rename(from, to) {
      noted(`rename ${from} ${to}`);
      const moved = [...files].filter(([path]) => path === from || isBelow(path, from));
      if (moved.length === 0 && !folders.has(from)) throw failure('ENOENT', from);
      for (const [path, file] of moved) {
        files.delete(path);
        files.set(`${to}${path.slice(from.length)}`, file);
      }
      if (folders.delete(from)) folders.add(to);
    },
    async remove(path) {
      noted(`remove ${path}`);
      for (const name of [...files.keys()]) if (name === path || isBelow(name, path)) files.delete(name);
      folders.delete(path);
    },
    async makeDirectory(path) {
      noted(`makeDirectory ${path}`);
      folders.add(path);
    },
    async syncDirectory() {},
    async list(path) {
      const below = [...files.keys(), ...folders].filter((name) => isBelow(name, path));
      return [...new Set(below.map((name) => name.slice(path.length + 1).split('/')[0]!))].sort();
    },
    async stat(path) {
      const file = files.get(path);
      if (file !== undefined) {
        return { isDirectory: false, sizeBytes: file.bytes.length, modifiedMs: file.modifiedMs };
      }
      const isDirectory = folders.has(path) || [...files.keys()].some((name) => isBelow(name, path));
      return isDirectory ? { isDirectory, sizeBytes: 0, modifiedMs: 0 } : null;
    },
    async openToRead(path) {
      noted(`read ${path}`);
      const file = files.get(path);
      if (file === undefined) throw failure('ENOENT', path);
      return {
        async read(into, position) {
          const part = file.bytes.subarray(position, position + into.length);
          into.set(part);
          return part.length;
        },
        async close() {},
      };
    },
  };
  const noted = (call: string) => {
    if (calls.push(call) - 1 === system.failAt) throw failure('EIO', call);
  };
  return system;
}
