/** @file The session that a training runs in, for code that hooks and functions of a task call (session_hooks). */
import { MonolithError } from '../../base/errors.js';
import type { Session } from '../../runtime/session/session.js';
import type { TrainHook } from '../hooks/hook.js';
import { Scope } from './scope.js';

/** A box, since the session comes into being inside of the scope. */
interface SessionBox {
  session: Session | null;
}

const scope = new Scope<SessionBox>();
/** Of hooks that run outside of any scope: the default session. */
const outside: SessionBox = { session: null };

/** Runs `body`, a training, with a place for its session. */
export function withSessionScope<R>(body: () => R): R {
  return scope.with({ session: null }, body);
}

/** The session of the training around the call, else the one that was set last outside of any; ML_TASK without one. */
export function getCurrentSession(): Session {
  const session = scope.get()?.session ?? outside.session;
  if (session !== null) return session;
  const hint = 'SetCurrentSessionHook sets it while a training runs';
  throw new MonolithError('ML_TASK', { reason: 'there is no current session' }, { hint });
}

/** Sets the current session while a training runs; the first of its hooks. */
export class SetCurrentSessionHook implements TrainHook {
  readonly #box = scope.get() ?? outside;

  afterCreateSession(session: Session): void {
    this.#box.session = session;
  }

  close(): void {
    this.#box.session = null;
  }
}
