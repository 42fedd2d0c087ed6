/** @file Which input a session trains on, so that whoever saves the session can keep the input's position with it. */
import type { InputState } from '../../base/input-state.js';
import type { Session } from '../../runtime/session/session.js';

type State = InputState | undefined;
const states = new WeakMap<Session, () => State | Promise<State>>();

/** Has `inputStateOf` answer with `state` from now on. */
export function setInputState(session: Session, state: () => State | Promise<State>): void {
  states.set(session, state);
}

/**
 * Position of the input that a LocalTrainer trains this session on, without the batches that were taken from it and not
 * trained on; undefined when there is none, or one without `saveState`.
 *
 * ```ts
 * const snapshot = checkpoints.snapshotSession(session, 'ffm');
 * await checkpoints.saveCheckpoint(dir, { ...snapshot, input: await hooks.inputStateOf(session) });
 * ```
 */
export async function inputStateOf(session: Session): Promise<State> {
  return states.get(session)?.();
}

const restored = new WeakMap<Session, InputState>();

/** Has the input that is trained on next in this session go on from here, whatever its checkpoint says. */
export function restoreInputState(session: Session, state: InputState): void {
  restored.set(session, state);
  setInputState(session, () => state);
}

/** What the last call of `restoreInputState` said, once. */
export function takeRestoredInputState(session: Session): InputState | undefined {
  const state = restored.get(session);
  restored.delete(session);
  return state;
}
