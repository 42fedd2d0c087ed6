/** @file Where the parts of a model lie, given its entry: names of folders are made here, never taken from a file. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { DENSE, ENTRY, serverPart } from '../../train/part-folders.js';
import { WEIGHTS_FILE } from '../native/array-names.js';
import { versionsIn } from '../versions.js';
import { type PartManifest, readPart } from './part-manifest.js';

/** Folders that a model is read from. */
export interface ModelFolders {
  /** Of variables and constants. */
  readonly dense: string;
  /** Of rows: those of a table are in all of them together. */
  readonly rows: readonly string[];
}

/** ML_MODEL for a part that is no entry, and for an entry whose parts are not all there. */
export async function modelFolders(dir: string): Promise<ModelFolders> {
  const part = readPart(dir);
  if (part === null) return { dense: dir, rows: [dir] };
  if (part.part !== ENTRY) {
    const hint = `load the entry: ${join(dirname(dirname(dir)), ENTRY)}`;
    throw new MonolithError('ML_MODEL', { model: dir, reason: `it is ${part.part} of a model in parts` }, { hint });
  }
  const [base, version] = [dirname(dirname(dir)), basename(dir)];
  const dense = part.remoteDense ? join(base, DENSE, version) : dir;
  if (!isThere(dense)) throw missing(dir, dense);
  const ofRows = part.denseOnly ? await newestOfRows(dir, base, part) : version;
  const rows = Array.from({ length: part.servers }, (_, server) => join(base, serverPart(server), ofRows));
  for (const folder of rows) {
    if (!isThere(folder)) throw missing(dir, folder);
    if (readPart(folder)?.servers === part.servers) continue;
    const reason = `${folder} is one of another number of servers than ${part.servers}`;
    throw new MonolithError('ML_MODEL', { model: dir, reason });
  }
  return { dense, rows };
}

/** The newest version that every server has rows of. */
async function newestOfRows(dir: string, base: string, { servers }: PartManifest): Promise<string> {
  const versions = (await versionsIn(join(base, serverPart(0)))).reverse();
  const hasAll = (version: string) =>
    Array.from({ length: servers }, (_, server) => join(base, serverPart(server), version)).every(isThere);
  const found = versions.find(hasAll);
  if (found !== undefined) return found;
  const hint = 'an entry of variables alone goes with an export that has rows';
  throw new MonolithError('ML_MODEL', { model: dir, reason: `${base} has no rows for it` }, { hint });
}

const isThere = (folder: string): boolean => existsSync(join(folder, WEIGHTS_FILE));

const missing = (dir: string, folder: string) =>
  new MonolithError('ML_MODEL', { model: dir, reason: `its part ${folder} is not there` });
