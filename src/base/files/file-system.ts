/**
 * @file The few file operations that writing needs, as an interface.
 *
 * Everything that must survive a full disk, a refused directory or a killed process writes through this, so that tests
 * can make any single operation fail or cut the process off after it.
 */
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { makeDirectory } from './make-directory.js';

export interface WritableFile {
  /** Writes all of `bytes`, which may be reused once the promise resolves. */
  write(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that was opened to read. */
export interface ReadableFile {
  /** Fills `into` from `position` on as far as the file goes; the number of bytes. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface FileStat {
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

export interface FileSystem {
  /** Creates a file that must not exist yet. */
  create(path: string): Promise<WritableFile>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a directory with its content; a missing path is fine. */
  remove(path: string): Promise<void>;
  /** Creates a directory and its parents; an existing directory is fine. */
  makeDirectory(path: string): Promise<void>;
  /** Makes renames inside a directory durable. */
  syncDirectory(path: string): Promise<void>;
  list(path: string): Promise<string[]>;
  /** Null when there is nothing of that name. */
  stat(path: string): Promise<FileStat | null>;
  openToRead(path: string): Promise<ReadableFile>;
}

export const nodeFileSystem: FileSystem = {
  async create(path) {
    const handle = await open(path, 'wx');
    return {
      async write(bytes) {
        // One call may write less than asked for, on a nearly full disk for example.
        for (let at = 0; at < bytes.length; ) {
          const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
          at += bytesWritten;
        }
      },
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true }),
  makeDirectory: (path) => makeDirectory(path),
  async syncDirectory(path) {
    if (process.platform === 'win32') return; // directories cannot be opened there; renames are journalled
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } catch (cause) {
      // Some file systems cannot sync a folder; the files themselves are safe by then.
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
      if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(code)) throw cause;
    } finally {
      await handle.close();
    }
  },
  list: (path) => readdir(path),
  async stat(path) {
    try {
      const found = await stat(path);
      return { isDirectory: found.isDirectory(), sizeBytes: found.size, modifiedMs: found.mtimeMs };
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? cause.code : '';
      if (code === 'ENOENT' || code === 'ENOTDIR') return null;
      throw cause;
    }
  },
  async openToRead(path) {
    const handle = await open(path, 'r');
    return {
      async read(into, position) {
        for (let at = 0; ; ) {
          const { bytesRead } = await handle.read(into, at, into.length - at, position + at);
          at += bytesRead;
          if (bytesRead === 0 || at === into.length) return at;
        }
      },
      close: () => handle.close(),
    };
  },
};
