/**
 * @file The few file operations that writing needs, as an interface.
 *
 * Everything that must survive a full disk, a refused directory or a killed process writes through this, so that tests
 * can make any single operation fail or cut the process off after it.
 */
import { open, readdir, rename, rm } from 'node:fs/promises';
import { makeDirectory } from './make-directory.js';

export interface WritableFile {
  /** Writes all of `bytes`, which may be reused once the promise resolves. */
  write(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
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
};
