/**
 * @file A session as its users hold it, and how the rooms above get at what it is made of.
 *
 * It is apart from the core, so that a program which imports the package without running a step loads none of that.
 */
import { MonolithError } from '../../base/errors.js';
import type { CompileEnvironment } from '../compile/compile-environment.js';
import type { TableRegion } from '../tables/table-memory.js';
import { CoreOfSession } from './core-of-session.js';
import type { SessionCore } from './session-core.js';

let coreOfHandle: (handle: SessionHandle) => SessionCore;

/** A session as users hold it: its core is for the rooms above only, by `coreOf`. */
export abstract class SessionHandle {
  readonly #core: SessionCore;

  static {
    coreOfHandle = (handle) => handle.#core;
  }

  protected constructor(core: SessionCore) {
    this.#core = core;
  }
}

/** The core of a session, or of the session that a program is compiled for. */
export function coreOf(owner: SessionHandle | CompileEnvironment): SessionCore {
  if (owner instanceof CoreOfSession) return owner as SessionCore;
  if (owner instanceof SessionHandle) return coreOfHandle(owner);
  throw new MonolithError('ML_FLAG', { flag: 'session', reason: 'it is no session' });
}

/**
 * Room in the memory of a session for what its tables use beside rows, with what its users need.
 *
 * ```ts
 * const set = new TouchedPairSet({ ...sessionRegion(session), capacity: 1000 });
 * ```
 */
export function sessionRegion(session: SessionHandle): TableRegion {
  const { memory, views, kernels, arena } = coreOf(session);
  return { memory, views, kernels, arena };
}
