/**
 * @file Names of the files of a checkpoint, and which of them are in a directory (save_utils.SaveHelper).
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { shardFileName } from '../io/shard-files.js';

export const MODEL_BASE = 'model.ckpt';
export const STATE_FILE = 'checkpoint';
/** State file of the reference that names checkpoints which rotation spares. */
export const MONOLITH_STATE_FILE = 'monolith_checkpoint';
/** Inside the assets: the model's layout and the size and checksum of every other file. */
export const MANIFEST_FILE = 'monolith_model.json';

/** `<base>-<step>`, or with the step padded to eight digits. */
export function checkpointPrefix(base: string, step: number, padded = false): string {
  return `${base}-${padded ? String(step).padStart(8, '0') : step}`;
}

/** The integer after the last dash, 0 when there is none. */
export function stepOfPrefix(prefix: string): number {
  const name = basename(prefix);
  const dash = name.lastIndexOf('-');
  const step = Number.parseInt(name.slice(dash + 1), 10);
  return dash < 0 || Number.isNaN(step) ? 0 : step;
}

/** Base name of a checkpoint of this package. */
export const CHECKPOINT_NAME = /^model\.ckpt-\d+$/;

/** `model.ckpt-<step>`, then with a zero before the step, then with two, and so on: all are names of the same step. */
export function* prefixesOfStep(dir: string, step: number): Generator<string> {
  for (let digits = String(step); ; digits = `0${digits}`) yield join(dir, `${MODEL_BASE}-${digits}`);
}

/** Directory of tables and filters, with its trailing slash. */
export function assetDir(prefix: string): string {
  return `${prefix}.assets/`;
}

/** Ends of the file names of a checkpoint, each follows the prefix. */
export const INDEX_SUFFIX = '.index';
export const DATA_SUFFIX = shardFileName('.data', 0, 1);
export const ASSETS_SUFFIX = '.assets';
export const MANIFEST_SUFFIX = `${ASSETS_SUFFIX}/${MANIFEST_FILE}`;

/** Whether a path of a state file is absolute; those of `hdfs:/...` are. */
export function isabs(path: string): boolean {
  return isAbsolute(path) || path.startsWith('hdfs:/');
}

/** Absolute form of a path of a state file. */
export function resolveInDir(dir: string, path: string): string {
  return isabs(path) ? path : join(dir, path);
}

/** The form in which a state file stores a path: relative when it is inside `dir`, so that a directory can move. */
export function relativeToDir(dir: string, path: string): string {
  return dirname(path) === dirname(join(dir, STATE_FILE)) ? basename(path) : path;
}

/** Whether `name` is one of the files of the checkpoint with the base name `base`; other files may begin like it. */
export function isFileOf(base: string, name: string): boolean {
  return name.startsWith(`${base}.`) && /^(?:index|meta|assets|data-\d{5}-of-\d{5})$/.test(name.slice(base.length + 1));
}

/** Prefixes of all checkpoints in `dir` that have an index, newest step first. */
export function checkpointsIn(dir: string): string[] {
  const prefixes = readdirSync(dir)
    .filter((name) => name.endsWith(INDEX_SUFFIX))
    .map((name) => name.slice(0, -INDEX_SUFFIX.length))
    .filter((name) => CHECKPOINT_NAME.test(name))
    .map((name) => join(dir, name));
  return prefixes.sort((a, b) => stepOfPrefix(b) - stepOfPrefix(a));
}

/** The same for hints: a directory that cannot be listed must not hide the error that the hint is for. */
export function checkpointsOrNone(dir: string): string[] {
  try {
    return checkpointsIn(dir);
  } catch {
    return [];
  }
}
