/** @file Names that tables are known by outside of the model: in files, on servers, in traces. */

const PREFIX = { hashTable: 'MonolithHashTable', multiHashTable: 'MonolithMultiHashTable' } as const;

/** `MonolithHashTable_<suffix>`, or `MonolithMultiHashTable_<suffix>` for a native multi table. */
export function sharedName(kind: keyof typeof PREFIX, suffix: string): string {
  return `${PREFIX[kind]}_${suffix}`;
}
