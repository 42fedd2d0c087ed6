/** @file Model directories and checkpoints of other file systems, such as `hdfs:/…`, brought to this machine. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileSystemOf, isRemote } from '../base/files/file-systems.js';
import { directoryOf, type Mirror, mirrored } from '../base/files/mirror.js';
import { ASSETS_SUFFIX, INDEX_SUFFIX, isFileOf, MANIFEST_FILE, MONOLITH_STATE_FILE, STATE_FILE } from './names.js';

/** Small files that say what counts. */
const STATE_FILES = [STATE_FILE, MONOLITH_STATE_FILE, `${STATE_FILE}.pending`, 'restore_ckpt', 'clear_nn'];

/** What tells which checkpoints there are: the state files, indexes and manifests. */
async function bringState(mirror: Mirror): Promise<void> {
  for (const name of STATE_FILES) await mirror.bring(name);
  const names = await mirror.names();
  const here = readdirSync(mirror.local);
  for (const old of here) if (!names.includes(old)) await mirror.bring(old);
  for (const name of names) {
    if (name.endsWith(INDEX_SUFFIX)) await mirror.bring(name);
    else if (name.endsWith(ASSETS_SUFFIX)) await mirror.bring(`${name}/${MANIFEST_FILE}`);
  }
}

/** Runs `action` with a model directory on this machine; paths it returns are for `nameOf`. */
export function withModelDir<T>(
  dir: string,
  action: (local: string, nameOf: (local: string) => string) => Promise<T>,
): Promise<T> {
  return mirrored(dir, bringState, action);
}

/** The same with the checkpoint of a prefix, all of it. */
export function withCheckpoint<T>(
  prefix: string,
  action: (local: string, nameOf: (local: string) => string) => Promise<T>,
): Promise<T> {
  if (!isRemote(prefix)) return action(prefix, (path) => path);
  const base = basename(prefix);
  const bringAll = async (mirror: Mirror) => {
    for (const name of await mirror.names()) if (isFileOf(base, name)) await mirror.bring(name);
  };
  return mirrored(directoryOf(prefix), bringAll, (local, nameOf) => action(`${local}/${base}`, nameOf));
}

/** Bytes of the checkpoints in a directory by prefix; of one on this machine nothing, since its files are at hand. */
export async function bytesThere(dir: string, prefixes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  if (!isRemote(dir)) return found;
  const fs = fileSystemOf(dir);
  const bytesOf = async (path: string): Promise<number> => {
    const stat = await fs.stat(path);
    if (!stat?.isDirectory) return stat?.sizeBytes ?? 0;
    let sum = 0;
    for (const name of await fs.list(path)) sum += await bytesOf(`${path}/${name}`);
    return sum;
  };
  const names = await fs.list(dir);
  for (const prefix of prefixes) {
    let sum = 0;
    for (const name of names) if (isFileOf(basename(prefix), name)) sum += await bytesOf(`${dir}/${name}`);
    found.set(prefix, sum);
  }
  return found;
}
