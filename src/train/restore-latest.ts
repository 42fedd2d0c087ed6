/** @file Where a run of LocalTrainer begins: its newest checkpoint, or another one that its options name. */

import { systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import type { InputState } from '../base/input-state.js';
import { latestCheckpoint, loadCheckpoint } from '../checkpoint/on-demand.js';
import type { RestoreOptions } from '../checkpoint/restore-options.js';
import type { RestoreReport } from '../checkpoint/restore-report.js';
import { restoreSession } from '../checkpoint/restore-session.js';
import { denseVariables, snapshotSession } from '../checkpoint/session-snapshot.js';
import type { Settings } from '../checkpoint/snapshot.js';
import type { Session } from '../runtime/session/session.js';
import type { LocalRestoreOptions, LocalTrainOptions } from './local-train-options.js';
import type { ModelSpec } from './model-spec.js';

/** What a session was restored from, and what became of each part. */
export interface Restored {
  readonly report: RestoreReport;
  readonly settings?: Settings | undefined;
  /** Where the input of the run stood that is gone on with. */
  readonly input?: InputState | undefined;
}

/** Gives an empty model directory the checkpoint of `restore.dir`. */
export async function adoptCheckpoint(modelDir: string, { dir, ckpt }: LocalRestoreOptions = {}): Promise<void> {
  if (!dir) return;
  const { copyCkptFile } = await import('../checkpoint/adopt-checkpoint.js');
  await copyCkptFile({ restoreDir: dir, modelDir, restoreCkpt: ckpt ?? null });
}

/**
 * Restores the newest checkpoint, or what the options name for a run without one; null when there is nothing to
 * restore.
 */
export async function restoreLatest(
  session: Session,
  model: ModelSpec,
  { modelDir, clock = systemClock, restore = {} }: LocalTrainOptions,
): Promise<Restored | null> {
  const { from, ckpt, dir: _dir, clearNN, continueTraining = false, aliasMap, ...plain } = restore;
  if (clearNN && aliasMap !== undefined) throw noTwo();
  const path = modelDir === null ? null : await latestCheckpoint(modelDir, { restoreCkpt: ckpt ?? null, clock });
  const source = path ?? from;
  if (source === undefined) return null;
  const clears = clearNN === true && (await isToClear(modelDir));
  let options: RestoreOptions = plain;
  if (clears) options = clearing(session, plain, continueTraining);
  else if (aliasMap !== undefined) options = await aliased(session, source, plain, aliasMap);
  const restored = await restoreFrom(session, model, source, options);
  if (clears && modelDir !== null) await (await import('../checkpoint/custom-restore.js')).noteCleared(modelDir);
  const goesOn = path !== null && (!clears || continueTraining);
  return goesOn ? restored : { report: restored.report };
}

async function isToClear(modelDir: string | null): Promise<boolean> {
  const { clearsNow } = await import('../checkpoint/custom-restore.js');
  return modelDir === null || clearsNow(modelDir);
}

async function restoreFrom(
  session: Session,
  model: ModelSpec,
  source: string,
  options: RestoreOptions,
): Promise<Restored> {
  const { mode = 'exact' } = options;
  const path = mode === 'foreign' ? null : await prefixOf(source);
  if (path === null) return { report: await restoreSession(session, source, options) };
  const loaded = await loadCheckpoint(path, mode === 'exact' ? { expect: snapshotSession(session, model.name) } : {});
  const { settings, input } = loaded;
  return { report: await restoreSession(session, loaded, options), settings, input };
}

/** Variables begin anew, whatever the checkpoint has; tables are restored. */
function clearing(session: Session, options: RestoreOptions, continueTraining: boolean): RestoreOptions {
  const initial = denseVariables(session).map(({ op }) => op.name);
  return { ...options, mode: looseMode(options), initial, extra: ['*'], globalStep: continueTraining };
}

async function aliased(
  session: Session,
  source: string,
  options: RestoreOptions,
  aliasMap: Readonly<Record<string, string>> | true,
): Promise<RestoreOptions> {
  const names = denseVariables(session).map(({ op }) => op.name);
  const { aliasesOf } = await import('./savers/custom-restore-listener.js');
  const rename = aliasMap === true ? aliasesOf(names, await namesAt(source)) : aliasMap;
  if (rename === null) return options;
  return { ...options, mode: looseMode(options), rename: { ...options.rename, ...rename } };
}

/** The names of the variables in a checkpoint. */
async function namesAt(source: string): Promise<readonly string[]> {
  const prefix = await prefixOf(source);
  const { BundleReader } = await import('../io/bundle-reader.js');
  return prefix === null ? [] : new BundleReader(prefix).names();
}

async function prefixOf(source: string): Promise<string | null> {
  const { prefixAt } = await import('../checkpoint/restore-source.js');
  return prefixAt(source);
}

const looseMode = ({ mode }: RestoreOptions) => (mode === 'foreign' ? mode : 'warm-start');

function noTwo(): MonolithError {
  const reason = 'clearNN takes no alias map: nothing is restored by name then';
  return new MonolithError('ML_OPTION', { where: 'LocalTrainer.create', option: 'aliasMap', reason });
}

/** Settings of a checkpoint that are others now, as text. */
export function changedSettings(before: Settings, now: Settings): string[] {
  return Object.entries(before).flatMap(([name, value]) => {
    return now[name] === undefined || now[name] === value ? [] : [`${name} ${value}, now ${now[name]}`];
  });
}
