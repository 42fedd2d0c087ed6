/**
 * @file The model directory: making sure it can be used, and its `checkpoint` state file.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { writeWhole } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { isPath, readWhole } from '../base/files/read-file.js';
import { temporaryName } from '../base/files/temporary-names.js';
import { type CheckpointState, parseCheckpointState } from '../io/checkpoint-state.js';
import { INDEX_SUFFIX, resolveInDir, STATE_FILE } from './names.js';

/** Name of the file `prepareModelDir` creates and removes; with a temporary ending, so that a leftover is cleaned. */
export const PROBE_FILE = 'write-check';

/**
 * Creates `dir` when needed and proves that files can be created in it. ML_DIR when they cannot: better before the
 * first step than at the first save.
 */
export async function prepareModelDir(dir: string, fileSystem?: FileSystem): Promise<void> {
  if (!isPath(dir)) throw dirError(String(dir), 'the name is no path');
  const fs = fileSystem ?? fileSystemOf(dir);
  if (dir === '') throw dirError(dir, 'the name is empty');
  const probe = temporaryName(join(dir, PROBE_FILE));
  try {
    const found = statSync(dir, { throwIfNoEntry: false });
    if (found !== undefined && !found.isDirectory()) throw dirError(dir, 'it is a file');
    await fs.makeDirectory(dir);
    // A byte, not an empty file: a full disk still has room for a name.
    await writeWhole(probe, 'x', fs);
    await fs.remove(probe);
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    try {
      await fs.remove(probe);
    } catch (second) {
      throw dirError(dir, messageOf(cause), new AggregateError([cause, second]));
    }
    throw dirError(dir, messageOf(cause), cause);
  }
}

function dirError(dir: string, reason: string, cause?: unknown): MonolithError {
  const hint = 'name a directory this user can create and write, on a disk with free space';
  return new MonolithError('ML_DIR', { dir, reason }, { hint, cause });
}

/** True when a checkpoint can be found under `prefix`. */
export function checkpointExists(prefix: string): boolean {
  return statSync(`${prefix}${INDEX_SUFFIX}`, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The state with its paths made absolute, or null without a state file. Damaged: ML_CKPT_CORRUPT. */
export function readState(dir: string, filename: string = STATE_FILE): CheckpointState | null {
  const file = join(dir, filename);
  let text: string;
  try {
    text = readWhole(file, 'stateBytes').toString('utf8');
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
  }
  try {
    const state = parseCheckpointState(text, file);
    return {
      ...state,
      modelCheckpointPath: resolveInDir(dir, state.modelCheckpointPath),
      allModelCheckpointPaths: state.allModelCheckpointPaths.map((path) => resolveInDir(dir, path)),
    };
  } catch (cause) {
    const fields = cause instanceof MonolithError ? cause.fields : {};
    const reason = `read ckpt error! ${String(fields.reason ?? messageOf(cause))}`;
    throw new MonolithError('ML_CKPT_CORRUPT', { file, field: `line ${fields.line ?? 1}`, reason }, { cause });
  }
}

export function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
