/** @file Names of tables are theirs alone within a memory, as upstream's shared names are within a server. */
import { MonolithError } from '../../base/errors.js';

const names = new WeakMap<object, Set<string>>();

/** ML_TABLE_NAME when `owner` has a table of that name. A table without a name may be there any number of times. */
export function claimName(owner: object, name: string): void {
  const taken = names.get(owner) ?? new Set();
  names.set(owner, taken);
  if (name === '') return;
  if (taken.has(name)) throw new MonolithError('ML_TABLE_NAME', { name });
  taken.add(name);
}

export function releaseName(owner: object, name: string): void {
  names.get(owner)?.delete(name);
}
