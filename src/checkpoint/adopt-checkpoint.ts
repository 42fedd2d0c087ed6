/**
 * @file Has a model directory begin with a checkpoint of another one (`restore_dir`, `_copy_ckpt_file` of
 * runner_utils).
 *
 * No values are copied: the state of the new directory names the checkpoint where it is, and it is exempt from
 * rotation.
 */

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { fileSystemOf, isRemote } from '../base/files/file-systems.js';
import { log } from '../base/log.js';
import { getCheckpointState, RESTORE_MARKER, writeState } from './checkpoint-state-reader.js';
import { getMonolithCheckpointState, writeMonolithState } from './monolith-state.js';
import { MONOLITH_STATE_FILE, STATE_FILE } from './names.js';
import { withModelDir } from './remote-dir.js';

export interface AdoptOptions {
  readonly restoreDir: string;
  readonly modelDir: string;
  /** Base name of the checkpoint; the newest one when it is not listed. Default: the newest one. */
  readonly restoreCkpt?: string | null;
}

/** What it chose, or null when there was nothing to adopt or the directory has a state of its own. */
export async function copyCkptFile({ restoreDir, modelDir, restoreCkpt }: AdoptOptions): Promise<string | null> {
  return withModelDir(modelDir, async (local, nameOf) => {
    const path = await adopt(isRemote(restoreDir) ? restoreDir : resolve(restoreDir), local, restoreCkpt);
    return path === null ? null : nameOf(path);
  });
}

async function adopt(from: string, modelDir: string, restoreCkpt: string | null | undefined): Promise<string | null> {
  const state = await getCheckpointState(from);
  if (state === null) {
    log.warn(`no checkpoint in ${from}`);
    return null;
  }
  await fileSystemOf(modelDir).makeDirectory(modelDir);
  let path = state.modelCheckpointPath;
  if (restoreCkpt) {
    const wanted = join(dirname(path), basename(restoreCkpt));
    if (state.allModelCheckpointPaths.includes(wanted)) path = wanted;
    else log.warn(`${wanted} is not in restore all_model_checkpoint_paths`);
  }
  if (existsSync(join(modelDir, STATE_FILE))) return null;
  const own = getMonolithCheckpointState(modelDir, null, true);
  const theirs = await withModelDir(from, async (local) => getMonolithCheckpointState(local, null, true));
  const exempt = own?.exemptModelCheckpointPaths ?? [];
  await writeMonolithState(modelDir, {
    ...theirs,
    ...own,
    exemptModelCheckpointPaths: exempt.includes(path) ? exempt : [...exempt, path],
  });
  await writeFileAtomic(join(modelDir, RESTORE_MARKER), path);
  // Last: a state file says that all of it is done.
  await writeState(modelDir, { modelCheckpointPath: path, allModelCheckpointPaths: [path] });
  return path;
}

const POLL_MS = 30_000;
const WAIT_MS = 30 * 60_000;

/** For those who do not copy: waits until the chief has. ML_DEADLINE after `timeoutMs`. Default: half an hour. */
export async function waitForAdoption(
  modelDir: string,
  options: { readonly clock?: Clock; readonly timeoutMs?: number } = {},
): Promise<void> {
  const { clock = systemClock, timeoutMs = WAIT_MS } = checkOptions('waitForAdoption', options, ['clock', 'timeoutMs']);
  const end = clock.now() + timeoutMs;
  const file = join(modelDir, MONOLITH_STATE_FILE);
  while ((await fileSystemOf(file).stat(file)) === null) {
    if (clock.now() >= end)
      throw new MonolithError('ML_DEADLINE', { what: 'the chief setting up restore_dir', timeoutMs });
    log.info('Waiting for chief setting up restore_dir...', { modelDir });
    await clock.sleep(POLL_MS);
  }
}
