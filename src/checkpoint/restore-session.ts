/** @file Restores a session: the turn is taken at the call, and the first call loads the code. */
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import type { LoadedCheckpoint } from './load-checkpoint.js';
import type { RestoreOptions } from './restore-options.js';
import type { RestoreReport } from './restore-report.js';

/**
 * Puts a checkpoint into a session: one that was loaded, the one with this prefix, or the newest one of a model
 * directory. What may differ is up to the options; ML_CKPT_MODEL tells what else does, and then, as after any other
 * error, nothing has changed. Runs that were asked for before take their turn first. A model without a global step goes
 * on without one.
 *
 * ```ts
 * await restoreSession(session, 'runs/ffm');
 * const { tables } = await restoreSession(session, 'runs/old', { mode: 'warm-start', missing: ['new_feature*'] });
 * ```
 */
export async function restoreSession(
  session: Session,
  from: LoadedCheckpoint | string,
  options: RestoreOptions = {},
): Promise<RestoreReport> {
  coreOf(session);
  return session.hold(async () => {
    const { restoreHeld } = await import('./restore-held.js');
    return restoreHeld(session, from, options);
  });
}
