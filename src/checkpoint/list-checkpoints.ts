/**
 * @file What a model directory has: its checkpoints with what the state files say of each. Reads manifests, never rows.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { isTemporaryName } from '../base/files/temporary-names.js';
import { exemptCheckpoints, unfinishedCheckpoints } from './leftovers.js';
import { checkpointExists, readState } from './model-dir.js';
import { checkpointsIn, isFileOf, MANIFEST_SUFFIX, STATE_FILE, stepOfPrefix } from './names.js';
import { readManifest } from './verify-checkpoint.js';

/**
 * `latest`: training goes on from it. `listed`: kept until newer ones take its place. `exempt`: kept for good, by
 * `monolith_checkpoint`. `unlisted`: no state file knows it, so nothing deletes it. `unfinished`: of a save that was
 * killed; the next save deletes it. `missing`: listed, but not there.
 */
export type CheckpointStatus = 'latest' | 'listed' | 'exempt' | 'unlisted' | 'unfinished' | 'missing';

export interface ListedCheckpoint {
  /** The prefix, for `loadCheckpoint`. */
  readonly path: string;
  readonly status: CheckpointStatus;
  readonly step: number;
  /** Of all its files. */
  readonly bytes: number;
  /** When its index was written, in milliseconds since 1970; null when it is missing. */
  readonly savedMs: number | null;
  /** Name of the model and rows of all tables; null without a manifest that can be read. */
  readonly model: string | null;
  readonly rows: number | null;
  /** What is wrong with its manifest, or null; whether its files are whole is for `verify` to say. */
  readonly trouble: string | null;
}

export interface ModelDirContents {
  readonly dir: string;
  /** Oldest step first. */
  readonly checkpoints: readonly ListedCheckpoint[];
  /** What is wrong with the state files, or null. */
  readonly trouble: string | null;
  /** Names of temporary files that a killed save left, or that one under way writes. */
  readonly temporaries: readonly string[];
}

/**
 * The checkpoints of a model directory. ML_CKPT_NONE when it is no directory.
 *
 * ```ts
 * for (const { path, status, bytes } of listCheckpoints('runs/ffm').checkpoints) console.log(path, status, bytes);
 * ```
 */
export function listCheckpoints(dir: string): ModelDirContents {
  const names = namesIn(dir);
  const states = readStates(dir);
  const paths = new Set([...checkpointsIn(dir), ...states.listed]);
  const checkpoints = [...paths].map((path) => describe(path, statusOf(path, states), names));
  checkpoints.sort((a, b) => a.step - b.step || (a.path < b.path ? -1 : 1));
  return { dir, checkpoints, trouble: states.trouble, temporaries: names.filter((name) => isTemporaryName(name)) };
}

interface States {
  readonly latest: string | null;
  readonly listed: readonly string[];
  /** Base names. */
  readonly exempt: readonly string[];
  readonly unfinished: readonly string[];
  readonly trouble: string | null;
}

function readStates(dir: string): States {
  try {
    const state = readState(dir);
    return {
      latest: state?.modelCheckpointPath ?? null,
      listed: state === null ? [] : [...state.allModelCheckpointPaths, state.modelCheckpointPath],
      exempt: exemptCheckpoints(dir).map((path) => basename(path)),
      unfinished: unfinishedCheckpoints(dir),
      trouble: state === null && checkpointsIn(dir).length > 0 ? `the file ${STATE_FILE} is missing` : null,
    };
  } catch (cause) {
    if (!(cause instanceof MonolithError)) throw cause;
    return { latest: null, listed: [], exempt: [], unfinished: [], trouble: cause.message };
  }
}

function statusOf(path: string, { latest, listed, exempt, unfinished }: States): CheckpointStatus {
  if (!checkpointExists(path)) return 'missing';
  if (path === latest) return 'latest';
  if (exempt.includes(basename(path))) return 'exempt';
  if (listed.includes(path)) return 'listed';
  return unfinished.includes(path) ? 'unfinished' : 'unlisted';
}

function describe(path: string, status: CheckpointStatus, names: readonly string[]): ListedCheckpoint {
  const common = { path, status, step: stepOfPrefix(path) };
  if (status === 'missing') return { ...common, bytes: 0, savedMs: null, model: null, rows: null, trouble: null };
  const bytes = filesOf(path, names).reduce((sum, file) => sum + (sizeOf(file) ?? 0), 0);
  const savedMs = statSync(`${path}.index`, { throwIfNoEntry: false })?.mtimeMs ?? null;
  if (sizeOf(`${path}${MANIFEST_SUFFIX}`) === undefined) {
    return { ...common, bytes, savedMs, model: null, rows: null, trouble: null };
  }
  try {
    const { model, step, tables } = readManifest(path);
    const rows = tables.reduce((sum, { rowCount }) => sum + rowCount, 0);
    return { ...common, step, bytes, savedMs, model, rows, trouble: null };
  } catch (cause) {
    if (!(cause instanceof MonolithError)) throw cause;
    return { ...common, bytes, savedMs, model: null, rows: null, trouble: cause.message };
  }
}

/** All files of a checkpoint, those of its assets included; `names` are those in its directory where that is known. */
export function filesOf(prefix: string, names: readonly string[] = readdirSync(dirname(prefix))): string[] {
  const [dir, base] = [dirname(prefix), basename(prefix)];
  const files: string[] = [];
  const visit = (path: string): void => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (found !== undefined) files.push(path);
  };
  for (const name of names) if (isFileOf(base, name)) visit(join(dir, name));
  return files;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw new MonolithError('ML_CKPT_READ', { file: dir, reason: messageOf(cause) }, { cause });
    }
    const reason = code === 'ENOENT' ? 'there is no such directory' : 'it is a file';
    throw new MonolithError(
      'ML_CKPT_NONE',
      { path: dir, reason },
      { hint: 'give a model directory, such as runs/ffm' },
    );
  }
}
