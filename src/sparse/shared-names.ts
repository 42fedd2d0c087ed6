/**
 * @file Names that tables are known by outside of the model: in files, on servers, in traces. Each is given once.
 */
import { MonolithError } from '../base/errors.js';

const PREFIX = { hashTable: 'MonolithHashTable', multiHashTable: 'MonolithMultiHashTable' } as const;

/** `MonolithHashTable_<suffix>`, or `MonolithMultiHashTable_<suffix>` for a native multi table. */
export function sharedName(kind: keyof typeof PREFIX, suffix: string): string {
  return `${PREFIX[kind]}_${suffix}`;
}

export class SharedNames {
  readonly #used = new Set<string>();
  static readonly #byOwner = new WeakMap<object, SharedNames>();

  /** The names used in `owner`, a graph for instance. */
  static of(owner: object): SharedNames {
    const known = SharedNames.#byOwner.get(owner);
    if (known !== undefined) return known;
    const names = new SharedNames();
    SharedNames.#byOwner.set(owner, names);
    return names;
  }

  /** The shared name of `suffix`; ML_TABLE_NAME when it was given before. */
  claim(kind: keyof typeof PREFIX, suffix: string): string {
    const name = sharedName(kind, suffix);
    if (this.#used.has(name)) throw new MonolithError('ML_TABLE_NAME', { name });
    this.#used.add(name);
    return name;
  }
}
