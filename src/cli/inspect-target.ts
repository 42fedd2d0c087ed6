/**
 * @file Finds what `monolith inspect` was pointed at: a model directory, a checkpoint, the files of a table, or one
 * file.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import { latestCheckpoint } from '../checkpoint/load-checkpoint.js';
import { readState } from '../checkpoint/model-dir.js';
import {
  ASSETS_SUFFIX,
  assetDir,
  checkpointsIn,
  INDEX_SUFFIX,
  MANIFEST_FILE,
  STATE_FILE,
} from '../checkpoint/names.js';
import { hasAnyFile } from '../checkpoint/verify-checkpoint.js';

export interface InspectTarget {
  /** What is shown as the name. */
  readonly path: string;
  /** The checkpoint, when it is one. */
  readonly prefix: string | null;
  /** Directory of tables and filters; null when the checkpoint has none. */
  readonly dir: string | null;
  /** Only this base in `dir`; null for all of them. */
  readonly base: string | null;
  /** Only this file of that base. */
  readonly file: string | null;
  /** Something to tell about how it was found. */
  readonly note: string | null;
}

const WHAT_TO_GIVE =
  'give a model directory, a checkpoint like runs/ffm/model.ckpt-100, or a table file like NAME-00000-of-00001';
const SHARD_NAME = /^(.+)-(\d{5})-of-(\d{5})$/;

/** Base of a shard's name: `x` for `x-00000-of-00002`; null when it is not one. */
export function shardBase(name: string): string | null {
  return SHARD_NAME.exec(name)?.[1] ?? null;
}

/** ML_CKPT_NONE with a hint when there is nothing to inspect at `path`. */
export async function findTarget(path: string): Promise<InspectTarget> {
  if (path === '') throw none("''", 'the path is empty', WHAT_TO_GIVE);
  const clean = path.length > 1 ? path.replace(/\/+$/, '') : path;
  const found = readable(clean, () => statSync(clean, { throwIfNoEntry: false }));
  if (found === undefined) return findByName(clean);
  return found.isDirectory() ? findInDir(clean) : findFile(clean);
}

async function findInDir(dir: string): Promise<InspectTarget> {
  if (dir.endsWith(ASSETS_SUFFIX)) return ofPrefix(dir.slice(0, -ASSETS_SUFFIX.length));
  // A directory without a state file is worth a look all the same.
  const latest = readState(dir) === null ? null : await latestCheckpoint(dir);
  if (latest !== null) return ofPrefix(latest);
  const names = list(dir);
  const newest = checkpointsIn(dir)[0];
  if (newest !== undefined) {
    return {
      ...ofPrefix(newest),
      note: `${dir} has no file "${STATE_FILE}"; this is the checkpoint of the highest step`,
    };
  }
  const assets = names.filter((name) => name.endsWith(ASSETS_SUFFIX));
  if (assets.length === 1) return ofPrefix(join(dir, assets[0]!.slice(0, -ASSETS_SUFFIX.length)));
  if (names.some((name) => shardBase(name) !== null)) return ofFiles(dir, dir, null, null);
  const below = names.filter((name) => looksLikeModelDir(join(dir, name)));
  const hint = below.length > 0 ? `try ${join(dir, below[0]!)}` : 'monolith train --model-dir DIR makes checkpoints';
  throw none(dir, names.length === 0 ? 'the directory is empty' : 'no file in this directory is part of one', hint);
}

function findFile(file: string): Promise<InspectTarget> | InspectTarget {
  const [dir, name] = [dirname(file), basename(file)];
  if (name === STATE_FILE) return findInDir(dir);
  if (name === MANIFEST_FILE && dir.endsWith(ASSETS_SUFFIX)) return ofPrefix(dir.slice(0, -ASSETS_SUFFIX.length));
  const base = shardBase(name);
  if (base?.endsWith('.data')) return ofPrefix(join(dir, base.slice(0, -'.data'.length)));
  if (base?.endsWith('.meta')) return ofFiles(file, dir, base.slice(0, -'.meta'.length), null);
  if (base !== null) return ofFiles(file, dir, base, name);
  for (const suffix of [INDEX_SUFFIX, '.meta']) {
    if (name.endsWith(suffix) && hasAnyFile(file.slice(0, -suffix.length)))
      return ofPrefix(file.slice(0, -suffix.length));
  }
  throw none(file, 'the file is not part of one', WHAT_TO_GIVE);
}

/** A checkpoint or a table is named by what its files' names begin with; nothing has that name itself. */
function findByName(path: string): InspectTarget {
  if (hasAnyFile(path)) return ofPrefix(path);
  const [dir, name] = [dirname(path), basename(path)];
  const names = statSync(dir, { throwIfNoEntry: false })?.isDirectory() ? list(dir) : [];
  if (names.some((file) => shardBase(file) === name)) return ofFiles(path, dir, name, null);
  const candidates = names.map((file) =>
    file.endsWith(INDEX_SUFFIX) ? file.slice(0, -INDEX_SUFFIX.length) : (shardBase(file) ?? file),
  );
  const near = suggest(name, [...new Set(candidates)]);
  const hint = near === undefined ? WHAT_TO_GIVE : `did you mean ${join(dir, near)}?`;
  throw none(path, 'there is no such file or directory', hint);
}

function ofPrefix(prefix: string): InspectTarget {
  const dir = assetDir(prefix);
  const hasDir = statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return { path: prefix, prefix, dir: hasDir ? dir : null, base: null, file: null, note: null };
}

function ofFiles(path: string, dir: string, base: string | null, file: string | null): InspectTarget {
  return { path, prefix: null, dir, base, file, note: null };
}

/** For a hint only, so what cannot be looked into is none. */
function looksLikeModelDir(path: string): boolean {
  try {
    return readdirSync(path).some((name) => name === STATE_FILE || /^model\.ckpt-\d+\.index$/.test(name));
  } catch {
    return false;
  }
}

/** Names in a directory, sorted. */
export function list(dir: string): string[] {
  return readable(dir, () => readdirSync(dir).sort());
}

/** Runs `action`; what the file system refuses becomes ML_CKPT_READ naming `file`. */
function readable<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOTDIR') {
      throw none(file, 'there is no such file or directory: part of the path is a file', WHAT_TO_GIVE);
    }
    throw new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
  }
}

function none(path: string, reason: string, hint: string): MonolithError {
  return new MonolithError('ML_CKPT_NONE', { path, reason }, { hint });
}
