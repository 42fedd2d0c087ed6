/**
 * @file Saves a snapshot as a checkpoint of the model directory.
 *
 * ```
 * model.ckpt-<step>.assets/<table>-00000-of-00001   rows (TFRecord of EntryDump)
 * model.ckpt-<step>.assets/monolith_model.json      layout of the model, size and checksum of every file
 * model.ckpt-<step>.data-00000-of-00001, .index     dense values and global_step (tensor bundle)
 * checkpoint                                        which checkpoint is the latest; written last
 * ```
 *
 * Until `checkpoint` is renamed into place, the previous checkpoint is the latest one and nothing of it was touched.
 * Equal snapshots give equal bytes: no file holds a time or anything random.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { cleanUp, isTemporaryName, writeError } from '../io/atomic-file.js';
import { formatCheckpointState } from '../io/checkpoint-state.js';
import { type FileSystem, nodeFileSystem } from '../io/file-system.js';
import { StagedFiles } from '../io/staged-files.js';
import { checkpointExists, PROBE_FILE, readState } from './model-dir.js';
import {
  ASSETS_SUFFIX,
  checkpointPrefix,
  INDEX_SUFFIX,
  MANIFEST_FILE,
  MANIFEST_SUFFIX,
  MODEL_BASE,
  relativeToDir,
  STATE_FILE,
} from './names.js';
import { publishState } from './publish-state.js';
import { retain } from './retention.js';
import { checkSnapshot, type Snapshot } from './snapshot.js';
import { stageCheckpoint, within } from './stage-checkpoint.js';
import { verifyCheckpoint } from './verify-checkpoint.js';

export interface SaveOptions {
  /** Checkpoints to keep, 5 unless told. 0 keeps all and lists only the newest. */
  readonly keep?: number;
  /** Base names of checkpoints that are never deleted and do not count. */
  readonly exempt?: readonly string[];
  /** Where writes go; tests put failures here. */
  readonly fileSystem?: FileSystem;
}

export interface SavedCheckpoint {
  /** The prefix, for `loadCheckpoint`. */
  readonly path: string;
  readonly bytes: number;
  /** Prefixes of old checkpoints that were deleted. */
  readonly deleted: readonly string[];
  /** What went wrong without harm to this save, for the log: old files that could not be deleted and the like. */
  readonly warnings: readonly string[];
}

const DEFAULT_KEEP = 5;

/**
 * Saves `snapshot` and makes it the latest checkpoint. On any failure: ML_CKPT_WRITE with the cause, the previous
 * checkpoint still latest, no temporary files left.
 *
 * ```ts
 * const { path } = await saveCheckpoint('runs/ffm', { step: 100, modelName: 'ffm', dense, tables });
 * ```
 */
export async function saveCheckpoint(
  modelDir: string,
  snapshot: Snapshot,
  options: SaveOptions = {},
): Promise<SavedCheckpoint> {
  const { keep = DEFAULT_KEEP, exempt = [], fileSystem: fs = nodeFileSystem } = options;
  const prefix = checkpointPrefix(join(modelDir, MODEL_BASE), snapshot.step);
  if (!Number.isSafeInteger(keep) || keep < 0) {
    throw new MonolithError('ML_CKPT_WRITE', { file: prefix, reason: `${keep} checkpoints cannot be kept` });
  }
  checkSnapshot(snapshot, prefix);
  const warnings: string[] = [];
  await within(modelDir, async () => {
    await fs.makeDirectory(modelDir);
    await removeLeftovers(modelDir, fs);
  });

  const staged = new StagedFiles(fs);
  const old = knownCheckpoints(modelDir, warnings);
  const { listed, removed } = retain(old, prefix, keep, exempt);
  let bytes: number;
  let backup: string;
  try {
    const { manifestText, bytes: written } = await stageCheckpoint(prefix, snapshot, staged, fs);
    bytes = written;
    if (await isSaved(prefix, manifestText)) await staged.rollBack();
    else await staged.publish();
    const state = {
      modelCheckpointPath: relativeToDir(modelDir, prefix),
      allModelCheckpointPaths: listed.map((path) => relativeToDir(modelDir, path)),
    };
    backup = await publishState(join(modelDir, STATE_FILE), formatCheckpointState(state), fs);
  } catch (cause) {
    throw await cleanUp(writeError(prefix, cause), () => staged.rollBack());
  }
  await warnOnly(warnings, () => fs.remove(backup));
  await warnOnly(warnings, () => staged.removeAside());
  const deleted: string[] = [];
  for (const path of removed) {
    // A state file may list checkpoints of the directory a run was started from; those are not ours to delete.
    if (dirname(path) !== dirname(prefix)) continue;
    await warnOnly(warnings, async () => {
      await deleteCheckpoint(path, fs);
      deleted.push(path);
    });
  }
  return { path: prefix, bytes, deleted, warnings };
}

/** Checkpoints of the state file that exist, oldest first. A damaged state file lists nothing: nothing is deleted then. */
function knownCheckpoints(modelDir: string, warnings: string[]): string[] {
  try {
    return (readState(modelDir)?.allModelCheckpointPaths ?? []).filter(checkpointExists);
  } catch (cause) {
    warnings.push(`${messageOf(cause)}; Checkpoint ignored`);
    return [];
  }
}

/** True when the same bytes are there already, intact: a run that saves at its last step saves that step twice. */
async function isSaved(prefix: string, manifestText: string): Promise<boolean> {
  const file = `${prefix}${MANIFEST_SUFFIX}`;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== manifestText) return false;
  try {
    await verifyCheckpoint(prefix);
    return true;
  } catch (cause) {
    if (cause instanceof MonolithError) return false; // damaged: this save replaces it
    throw cause;
  }
}

/** Removes every path `<prefix>.*`; the index first, so that no half of it counts as a checkpoint. */
async function deleteCheckpoint(prefix: string, fs: FileSystem): Promise<void> {
  const dir = dirname(prefix);
  const start = `${basename(prefix)}.`;
  await fs.remove(`${prefix}${INDEX_SUFFIX}`);
  for (const name of await fs.list(dir)) if (name.startsWith(start)) await fs.remove(join(dir, name));
}

/** Removes what a killed save left: temporary names, and a checkpoint that got its assets but never its index. */
async function removeLeftovers(modelDir: string, fs: FileSystem): Promise<void> {
  const names = await fs.list(modelDir);
  const ours = new RegExp(`^(?:${STATE_FILE}|${PROBE_FILE}|model\\.ckpt-\\d+\\..+)\\.tmp`);
  for (const name of names) {
    if (isTemporaryName(name) && ours.test(name)) await fs.remove(join(modelDir, name));
  }
  for (const name of names) {
    if (!/^model\.ckpt-\d+\.assets$/.test(name)) continue;
    const prefix = join(modelDir, name.slice(0, -ASSETS_SUFFIX.length));
    if (names.includes(`${basename(prefix)}${INDEX_SUFFIX}`) || isListed(modelDir, prefix)) continue;
    // Only what this package began: assets alone may also be a sparse-only checkpoint of another tool.
    if (existsSync(join(modelDir, name, MANIFEST_FILE))) await deleteCheckpoint(prefix, fs);
  }
}

/** Whether a state file names `prefix`; a damaged one may, so the answer is yes. */
function isListed(modelDir: string, prefix: string): boolean {
  try {
    const state = readState(modelDir);
    return state !== null && [state.modelCheckpointPath, ...state.allModelCheckpointPaths].includes(prefix);
  } catch (cause) {
    if (cause instanceof MonolithError) return true;
    throw cause;
  }
}

async function warnOnly(warnings: string[], action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    warnings.push(messageOf(cause));
  }
}
