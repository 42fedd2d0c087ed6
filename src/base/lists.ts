/** @file Small helpers for arguments that are a list or one value (utils). */
import { MonolithError } from './errors.js';

/**
 * A list of at least `n`: a list is filled up with null, and one value repeated, as copies where it can be copied. A
 * list that is long enough is returned as it is.
 */
export function extendAsList<T>(x: T | readonly T[], n: number): readonly (T | null)[] {
  if (isList(x)) return x.length < n ? [...x, ...Array<null>(n - x.length).fill(null)] : x;
  return Array.from({ length: n }, (_, i) => (i === 0 ? x : copyOf(x)));
}

/** Array.isArray loses the type of lists that cannot be written. */
function isList<T>(x: T | readonly T[]): x is readonly T[] {
  return Array.isArray(x);
}

function copyOf<T>(x: T): T {
  if (typeof x !== 'object' || x === null) return x;
  // A copy of another class than its own would be no copy.
  const prototype: unknown = Object.getPrototypeOf(x);
  const plain = [Object.prototype, Map.prototype, Set.prototype, Date.prototype, null].includes(prototype as never);
  return plain || ArrayBuffer.isView(x) ? structuredClone(x) : x;
}

/** `candidate` as it is, when it is a list of a length that `lengthChecker` likes, or null when that is allowed. */
export function checkList<L>(candidate: L, lengthChecker: (length: number) => boolean, couldBeNone = false): L {
  if (candidate === null || candidate === undefined) {
    if (couldBeNone) return candidate;
    throw new MonolithError('ML_LIST_NONE');
  }
  if (!Array.isArray(candidate)) throw new MonolithError('ML_LIST_TYPE', { type: typeof candidate });
  if (!lengthChecker(candidate.length)) throw new MonolithError('ML_LIST_RANGE', { length: candidate.length });
  return candidate;
}

/** A list as it is, anything else as a list of one. */
export function toList<T>(x: T | readonly T[]): readonly T[] {
  return isList(x) ? x : [x];
}
