/** @file Rows of tables of the reference put into tables of a model, by name, with a report. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { HashTable } from '../table/hash-table.js';
import { type DumpedTable, dumpFolder, rowsOfDump, tablesOfDump } from './dump-folder.js';
import { restoreMultiTable } from './restore-multi-table.js';
import { restoreTable } from './restore-table.js';

export interface ImportDumpOptions {
  /** Name in the dump by name of a table, for those that it has under another name. */
  readonly rename?: Readonly<Record<string, string>>;
  /**
   * Whether the state of optimizers and the times of rows are taken too, which needs the same segments and optimizers;
   * the rows of a table in files of its own are then the only ones it has. Default: false, weights alone.
   */
  readonly state?: boolean;
}

export interface ImportedTable {
  /** Name of the table. */
  readonly table: string;
  /** Its name in the dump. */
  readonly from: string;
  readonly rows: number;
  /** Rows that were not there before. */
  readonly added: number;
  /** Whether the state of optimizers came too. */
  readonly state: boolean;
}

export interface DumpReport {
  /** Folder that was read. */
  readonly dir: string;
  readonly imported: readonly ImportedTable[];
  /** Tables of the dump that no table has the name of. */
  readonly skipped: readonly string[];
  /** Tables that the dump has not: they are as they were. */
  readonly untouched: readonly string[];
}

/** Rows that are set at a time. */
const ROWS = 4096;
const PREFIX = /^Monolith(?:Multi)?HashTable_/;

/** The body of `importTableDump`. */
export async function importTableDump(
  dir: string,
  tables: ReadonlyMap<string, HashTable>,
  options: ImportDumpOptions = {},
): Promise<DumpReport> {
  const { rename = {}, state = false } = checkOptions('importTableDump', options, ['rename', 'state']);
  const folder = dumpFolder(dir);
  const dumped = tablesOfDump(folder);
  const pairs = pairsOf(tables, dumped, rename);
  for (const { name, table, from } of pairs) checkRows(name, table, from);
  const imported: ImportedTable[] = [];
  for (const { name, table, from } of pairs) {
    const before = table.size;
    const rows = state ? await restoreAll(table, from) : assignRows(table, from);
    imported.push({ table: name, from: from.name, rows, added: Math.max(0, table.size - before), state });
  }
  const used = new Set(pairs.map(({ from }) => from));
  return {
    dir: folder,
    imported,
    skipped: dumped.filter((one) => !used.has(one)).map(({ name }) => name),
    untouched: [...tables.keys()].filter((name) => !pairs.some((pair) => pair.name === name)),
  };
}

interface Pair {
  readonly name: string;
  readonly table: HashTable;
  readonly from: DumpedTable;
}

/** Which table is set from which: by the map, else by equal names. ML_TABLE_UNKNOWN for a name that nobody has. */
function pairsOf(
  tables: ReadonlyMap<string, HashTable>,
  dumped: readonly DumpedTable[],
  rename: Readonly<Record<string, string>>,
): Pair[] {
  const unknown = (table: string, names: readonly string[], reason: string) => {
    const hint = didYouMean(table, names) ?? `there are ${names.slice(0, 10).join(', ')}`;
    return new MonolithError('ML_TABLE_UNKNOWN', { table, reason }, { hint });
  };
  const theirs = dumped.map(({ name }) => name);
  for (const [mine, from] of Object.entries(rename)) {
    if (!tables.has(mine)) throw unknown(mine, [...tables.keys()], 'the model has none of this name');
    if (!theirs.includes(from)) throw unknown(from, theirs, 'the dump has none of this name');
  }
  return [...tables].flatMap(([name, table]) => {
    const wanted = Object.hasOwn(rename, name) ? rename[name]! : name.replace(PREFIX, '');
    const from = dumped.find((one) => one.name === wanted);
    return from === undefined ? [] : [{ name, table, from }];
  });
}

/** Every row is one of the table. */
function checkRows(name: string, table: HashTable, from: DumpedTable): void {
  let record = 0;
  for (const { weights } of rowsOfDump(from)) {
    if (weights.length !== table.dim) {
      const reason = `holds ${weights.length} values, and rows of the table have ${table.dim}`;
      throw new MonolithError('ML_CKPT_TABLE', { table: name, file: from.base, record, field: 'num', reason });
    }
    record++;
  }
}

function assignRows(table: HashTable, from: DumpedTable): number {
  const ids = new BigInt64Array(ROWS);
  const floats = new Float32Array(ROWS * table.dim);
  let [held, rows] = [0, 0];
  const flush = () => {
    if (held > 0) table.assign(ids.subarray(0, held), floats.subarray(0, held * table.dim));
    rows += held;
    held = 0;
  };
  for (const { id, weights } of rowsOfDump(from)) {
    ids[held] = id;
    floats.set(weights, held * table.dim);
    if (++held === ROWS) flush();
  }
  flush();
  return rows;
}

async function restoreAll(table: HashTable, { name, base, together }: DumpedTable): Promise<number> {
  if (!together) return (await restoreTable(table, base)).rows;
  const { featureCounts } = await restoreMultiTable([{ name, table }], base);
  return featureCounts.get(name) ?? 0;
}
