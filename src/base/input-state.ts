/** @file Where an input of a training stands. */
import { MonolithError } from './errors.js';

/**
 * A position, as JSON: what `saveState` of an input gave and its `restoreState` takes. Nobody else knows what is in it.
 */
export type InputState =
  | null
  | boolean
  | number
  | string
  | readonly InputState[]
  | { readonly [key: string]: InputState };

/** What can tell where it stands, and go on from there later: it has both methods or neither. */
export interface Positioned {
  /**
   * Where to go on from later, as JSON, once the last `unused` of what it gave are left out: they were not trained on
   * yet. Kept with each checkpoint; asked for at no other time. Goes with `restoreState`.
   */
  saveState?(unused: number): InputState | Promise<InputState>;
  /**
   * Goes on from what `saveState` gave, in another process perhaps: what it gives next is the first that was left out.
   * Called before anything is taken from it in a run that was restored.
   */
  restoreState?(state: InputState): void | Promise<void>;
}

/**
 * The place of an input that takes from another one and `held` of it: that of the other one, if it has one.
 *
 * What `inner` gives counts as given when its promise is fulfilled, so `held` has what came and was not handed on.
 */
export function positionThrough(inner: Positioned, held: () => number): Positioned {
  if (!checkPositioned('input', inner)) return {};
  return {
    saveState: (unused) => inner.saveState(unused + held()),
    restoreState: (state) => inner.restoreState(state),
  };
}

/** Whether it has both methods of a position; ML_FEED for one of the two. */
export function checkPositioned<P extends Positioned>(name: string, input: P): input is P & Required<Positioned> {
  const { saveState, restoreState } = input;
  if (typeof saveState === typeof restoreState) return saveState !== undefined;
  const [has, lacks] = saveState === undefined ? ['restoreState', 'saveState'] : ['saveState', 'restoreState'];
  throw new MonolithError('ML_FEED', { name, reason: `it has ${has} and no ${lacks}` });
}
