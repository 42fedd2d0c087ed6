/**
 * @file Which file system a path belongs to, by its scheme: `hdfs:/…` is no path of this machine.
 *
 * Paths without a scheme are local. Others need a file system that was registered; without one, what is asked for them
 * says so in place of making a folder called `hdfs:`.
 */
import { MonolithError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { type FileSystem, nodeFileSystem } from './file-system.js';

const SCHEME = /^([a-z][a-z0-9+.-]+):\//i;
const registered = new Map<string, FileSystem>();

/**
 * Has paths that begin with `<scheme>:/` read and written through `fileSystem`; returns what takes it back.
 *
 * ```ts
 * const remove = registerFileSystem('hdfs', myHdfs);
 * ```
 */
export function registerFileSystem(scheme: string, fileSystem: FileSystem): () => void {
  registered.set(scheme.toLowerCase(), fileSystem);
  return () => {
    if (registered.get(scheme.toLowerCase()) === fileSystem) registered.delete(scheme.toLowerCase());
  };
}

const schemeOf = (path: string): string | undefined => {
  const scheme = SCHEME.exec(path)?.[1]?.toLowerCase();
  // A drive of Windows has one letter.
  return scheme?.length === 1 ? undefined : scheme;
};

/** Whether a path belongs to another file system than this machine's. */
export function isRemote(path: unknown): path is string {
  return typeof path === 'string' && schemeOf(path) !== undefined;
}

/** Folders of this machine whose files are elsewhere too (mirror.ts). */
const mirrorsByFolder = new Map<string, FileSystem>();

/** Has what is written below a folder go elsewhere too. */
export function setMirrored(folder: string, fileSystem: FileSystem): void {
  mirrorsByFolder.set(folder, fileSystem);
}

/** The file system of a path: this machine's without a scheme. ML_FILE_SYSTEM when nobody registered one. */
export function fileSystemOf(path: string): FileSystem {
  const scheme = schemeOf(path);
  if (scheme === undefined) {
    for (const [folder, fs] of mirrorsByFolder) if (path === folder || path.startsWith(`${folder}/`)) return fs;
    return nodeFileSystem;
  }
  const found = registered.get(scheme);
  if (found !== undefined) return found;
  const near = didYouMean(scheme, [...registered.keys()]);
  const hint = near ?? `call registerFileSystem('${scheme}', …) first, or mount it and give a local path`;
  throw new MonolithError('ML_FILE_SYSTEM', { scheme, path }, { hint });
}
