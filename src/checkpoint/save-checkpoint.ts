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
 * Until `checkpoint` is renamed into place, the previous checkpoint is the latest one and nothing of it was touched: a
 * step that is saved again gets another name (`model.ckpt-0<step>`). Equal snapshots give equal bytes: no file holds a
 * time or anything random.
 */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { cleanUp, writeError, writingTo } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { PendingFiles } from '../base/files/pending-files.js';
import { isPath } from '../base/files/read-file.js';
import { formatCheckpointState } from '../io/checkpoint-state.js';
import { deleteCheckpoint, exemptCheckpoints, removeLeftovers } from './leftovers.js';
import { checkpointExists, readState } from './model-dir.js';
import { saveInTurn } from './model-dir-turns.js';
import {
  checkpointPrefix,
  checkpointsIn,
  MANIFEST_SUFFIX,
  MODEL_BASE,
  prefixesOfStep,
  relativeToDir,
  STATE_FILE,
  stepOfPrefix,
} from './names.js';
import { PENDING_FILE, writePending } from './pending-save.js';
import { publishState } from './publish-state.js';
import { withModelDir } from './remote-dir.js';
import { type Retention, retain } from './retention.js';
import { checkSnapshot, type Snapshot } from './snapshot.js';
import { hasAnyFile, verifyCheckpoint } from './verify-checkpoint.js';
import { writeCheckpointFiles } from './write-checkpoint-files.js';

export interface SaveOptions {
  /** Checkpoints to keep. Default: 5. 0 keeps all and lists only the newest. */
  readonly keep?: number;
  /** Base names of checkpoints that are never deleted and do not count. */
  readonly exempt?: readonly string[];
  /** Asked of each checkpoint that is about to be deleted; true keeps its files, unlisted. */
  readonly keepEvery?: { spares(prefix: string): boolean };
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

type Rotation = Required<Omit<SaveOptions, 'fileSystem' | 'keepEvery'>> & Pick<SaveOptions, 'keepEvery'>;

/**
 * Saves `snapshot` and makes it the latest checkpoint. On any failure: ML_CKPT_WRITE with the cause, the previous
 * checkpoint still latest, no temporary files left. ML_DIR when another process trains or saves in the directory.
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
  checkArguments(modelDir, snapshot);
  checkOptions('saveCheckpoint', options, ['keep', 'exempt', 'keepEvery', 'fileSystem']);
  return withModelDir(modelDir, async (dir, nameOf) => {
    const saved = await saveTo(dir, snapshot, options);
    return { ...saved, path: nameOf(saved.path), deleted: saved.deleted.map(nameOf) };
  });
}

async function saveTo(modelDir: string, snapshot: Snapshot, options: SaveOptions): Promise<SavedCheckpoint> {
  const { live, step } = snapshot;
  if (live === undefined) return saveHeld(modelDir, snapshot, options);
  // Steps that were asked for before the save have run by then; a step that the caller chose stays.
  return live.hold(() => {
    return saveHeld(modelDir, { ...snapshot, step: step === live.takenAtStep ? live.step() : step }, options);
  });
}

function checkArguments(modelDir: unknown, snapshot: unknown): void {
  const refuse = (reason: string, hint: string): never => {
    throw new MonolithError('ML_CKPT_WRITE', { file: String(modelDir), reason }, { hint });
  };
  if (!isPath(modelDir)) refuse('the name of the directory is no path', 'give the model directory first');
  if (typeof snapshot !== 'object' || snapshot === null) {
    refuse('there is nothing to save', 'give a snapshot, such as that of snapshotSession(session, name)');
  }
}

async function saveHeld(modelDir: string, snapshot: Snapshot, options: SaveOptions): Promise<SavedCheckpoint> {
  const { keep = DEFAULT_KEEP, exempt = [], keepEvery, fileSystem: fs = fileSystemOf(modelDir) } = options;
  const name = checkpointPrefix(join(modelDir, MODEL_BASE), snapshot.step);
  if (!Number.isSafeInteger(keep) || keep < 0) {
    throw new MonolithError('ML_CKPT_WRITE', { file: name, reason: `${keep} checkpoints cannot be kept` });
  }
  checkSnapshot(snapshot, name);
  await writingTo(modelDir, () => fs.makeDirectory(modelDir));
  return saveInTurn(modelDir, () => save(modelDir, snapshot, { keep, exempt, ...(keepEvery && { keepEvery }) }, fs));
}

async function save(modelDir: string, snapshot: Snapshot, kept: Rotation, fs: FileSystem): Promise<SavedCheckpoint> {
  await writingTo(modelDir, () => removeLeftovers(modelDir, fs));
  const warnings: string[] = [];
  const known = knownCheckpoints(modelDir, warnings);
  const { free, taken } = prefixesOf(modelDir, snapshot.step);
  const pending = new PendingFiles(fs);
  let prefix = free;
  let bytes: number;
  let backup: string;
  let removed: readonly string[];
  try {
    const { manifestText, bytes: written } = await writeCheckpointFiles(free, snapshot, pending, fs);
    bytes = written;
    prefix = (await savedAlready(taken, manifestText)) ?? free;
    const rotation = rotate(modelDir, known, prefix, kept, warnings);
    removed = rotation.removed;
    await writePending(modelDir, [...(prefix === free ? [free] : []), ...removed], fs);
    if (prefix === free) await pending.publish();
    else await pending.rollBack();
    const state = {
      modelCheckpointPath: relativeToDir(modelDir, prefix),
      allModelCheckpointPaths: rotation.listed.map((path) => relativeToDir(modelDir, path)),
    };
    backup = await publishState(join(modelDir, STATE_FILE), formatCheckpointState(state), fs);
  } catch (cause) {
    throw await cleanUp(writeError(prefix, cause), async () => {
      await pending.rollBack();
      await fs.remove(join(modelDir, PENDING_FILE));
    });
  }
  await warnOnly(warnings, () => fs.remove(backup));
  const deleted: string[] = [];
  for (const path of removed) {
    await warnOnly(warnings, async () => {
      await deleteCheckpoint(path, fs);
      deleted.push(path);
    });
  }
  // What could not be deleted stays named, for the next save to try again.
  if (deleted.length === removed.length) await warnOnly(warnings, () => fs.remove(join(modelDir, PENDING_FILE)));
  return { path: prefix, bytes, deleted, warnings };
}

/**
 * Names of the step that something in the directory has, and the first that nothing has: what is there may be listed,
 * or somebody else's.
 */
function prefixesOf(modelDir: string, step: number): { readonly free: string; readonly taken: readonly string[] } {
  const taken: string[] = [];
  for (const prefix of prefixesOfStep(modelDir, step)) {
    if (!hasAnyFile(prefix)) return { free: prefix, taken };
    taken.push(prefix);
  }
  throw new Error('a directory is full of names of one step');
}

/**
 * What the state lists with `prefix` added, which replaces others of its step, and which files that leaves to delete.
 */
function rotate(
  modelDir: string,
  known: readonly string[],
  prefix: string,
  { keep, exempt, keepEvery }: Rotation,
  warnings: string[],
): Retention {
  const spared = sparedByFile(modelDir, warnings);
  // What a damaged file spares is not known: then nothing is deleted.
  if (spared === undefined) return retain(known, prefix, Number.POSITIVE_INFINITY);
  const all = [...exempt, ...spared].map((path) => basename(path));
  const replaced = known.filter((path) => {
    return path !== prefix && stepOfPrefix(path) === stepOfPrefix(prefix) && !all.includes(basename(path));
  });
  const others = known.filter((path) => !replaced.includes(path));
  const { listed, removed } = retain(others, prefix, keep, all);
  // A state file may list checkpoints of the directory a run was started from; those are not ours to delete.
  const ours = [...(keep === 0 ? [] : replaced), ...removed].filter((path) => dirname(path) === dirname(prefix));
  return { listed, removed: ours.filter((path) => !keepEvery?.spares(path)) };
}

/**
 * Checkpoints of the state file that exist, oldest first. A damaged state file lists nothing: nothing is deleted then.
 */
function knownCheckpoints(modelDir: string, warnings: string[]): string[] {
  try {
    const state = readState(modelDir);
    const unlisted = state === null ? checkpointsIn(modelDir).map((path) => basename(path)) : [];
    if (unlisted.length > 0) warnings.push(`${join(modelDir, STATE_FILE)} is missing; left as they are: ${unlisted}`);
    return (state?.allModelCheckpointPaths ?? []).filter(checkpointExists);
  } catch (cause) {
    warnings.push(`${messageOf(cause)}; Checkpoint ignored`);
    return [];
  }
}

/** Checkpoints that `monolith_checkpoint` spares; undefined when it cannot be read. */
function sparedByFile(modelDir: string, warnings: string[]): readonly string[] | undefined {
  try {
    return exemptCheckpoints(modelDir);
  } catch (cause) {
    warnings.push(messageOf(cause));
    return undefined;
  }
}

/** Which of `prefixes` holds the same bytes, intact: a run that saves at its last step saves that step twice. */
async function savedAlready(prefixes: readonly string[], manifestText: string): Promise<string | undefined> {
  for (const prefix of prefixes) {
    const file = `${prefix}${MANIFEST_SUFFIX}`;
    if (!existsSync(file) || readFileSync(file, 'utf8') !== manifestText) continue;
    try {
      await verifyCheckpoint(prefix);
      return prefix;
    } catch (cause) {
      if (!(cause instanceof MonolithError)) throw cause; // a coded error means: damaged, this save replaces it
    }
  }
  return undefined;
}

async function warnOnly(warnings: string[], action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    warnings.push(messageOf(cause));
  }
}
