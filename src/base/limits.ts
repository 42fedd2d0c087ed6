/**
 * @file What readers of files take at most, all in one place.
 *
 * A file says how large its parts are before they come. Each such number is held to what the file can hold, and to
 * these limits, before memory is taken for it: a damaged or hostile file costs its reader an error and not the machine.
 * They are far beyond what writers make. docs/limits.md tells of each, and a test holds the page to this table.
 */
export const LIMITS = {
  // any name or path in a file
  nameBytes: 4096,
  pathBytes: 4096,
  // JSON and protobuf text
  jsonDepth: 64,
  textDepth: 64,
  stateBytes: 2 ** 22,
  manifestBytes: 2 ** 23,
  manifestValues: 2 ** 18,
  settingsBytes: 2 ** 20,
  inputBytes: 2 ** 22,
  probeBytes: 2 ** 14,
  traceBytes: 500_000_000,
  traceValues: 2 ** 25,
  logBytes: 2 ** 28,
  recipeBytes: 2 ** 24,
  // tensor bundles
  indexBytes: 2 ** 26,
  indexDecodedBytes: 2 ** 27,
  indexEntries: 2 ** 18,
  indexKeyBytes: 8192,
  indexKeysBytes: 2 ** 26,
  rank: 254,
  tensorParts: 2 ** 16,
  tensorBytes: 2 ** 32,
  tensorStrings: 2 ** 20,
  // records and rows of tables
  recordBytes: 2 ** 26,
  snappyBlockBytes: 2 ** 24,
  footerBytes: 2 ** 26,
  pageBytes: 2 ** 27,
  blockIds: 2 ** 22,
  groupRows: 2 ** 24,
  rowFloats: 2 ** 17,
  rowSegments: 2 ** 14,
  tables: 2 ** 16,
  slotCounts: 2 ** 20,
  // rows of data
  rowIds: 2 ** 20,
  // models in files
  graphOps: 2 ** 17,
  modelBytes: 2 ** 26,
  modelValues: 2 ** 22,
  tensorsHeaderBytes: 2 ** 26,
} as const;

export type LimitName = keyof typeof LIMITS;

/** Why `found` is refused, for an error of the reader. */
export function overLimit(name: LimitName, found: number): string {
  return `${found} is over the limit of ${LIMITS[name]} (${name}, see docs/limits.md)`;
}

/** Calls `refuse` with the reason when `found` is over the limit; before memory is taken for it. */
export function checkLimit(name: LimitName, found: number, refuse: (reason: string) => never): void {
  if (!(found <= LIMITS[name])) refuse(overLimit(name, found));
}
