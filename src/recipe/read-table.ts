/**
 * @file Reads a table for training in one pass: the first rows say what its columns are, then all of it is encoded as
 * it comes, and kept in memory as arrays.
 */
import { statSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { type CacheFound, stampsOf } from '../data/cache/block-cache.js';
import { Dataset } from '../data/dataset.js';
import type { CsvForm } from '../data/files/csv-options.js';
import type { FileOptions } from '../data/files/file-rows.js';
import type { DataRow } from '../data/files/place.js';
import type { ColumnSource } from './column-blocks.js';
import { ColumnStats } from './column-stats.js';
import { type BadRows, BlockEncoder } from './encode-blocks.js';
import { type EncodedTable, TableBuilder } from './encoded-table.js';
import { labelColumn, labelPlan, noColumn, noLabel } from './label-plan.js';
import type { ColumnPlan, ModelPlan, Recipe, SidePlan } from './recipe.js';
import { noKey, SideTable } from './side-table.js';
import { type Overrules, sniffColumn, typeOf } from './sniff-column.js';
import { BLOCK_ROWS, nextBlock, TableBlocks, type TableCache } from './table-blocks.js';

/** Cells that are looked at before columns are judged, and rows at the most. */
const LOOK_CELLS = 400_000;
const [LOOK_ROWS_MIN, LOOK_ROWS_MAX] = [10_000, 200_000];
/** Bytes of encoded rows that are kept. */
const BYTES_MAX = 2 ** 31;

export interface TableGiven {
  readonly data: string | readonly string[] | Iterable<DataRow>;
  /** The same rows as columns, where the data has them: they take a fraction of the time. */
  readonly columns?: ColumnSource;
  /** What the data is called in messages. */
  readonly source: string;
  /** Files of rows that report, and nothing else. */
  readonly evalData?: string;
  readonly label: string | undefined;
  readonly sides: readonly SidePlan[];
  readonly over: Overrules;
  readonly model: ModelPlan;
  readonly options: FileOptions;
  readonly badRowsMax: number;
  /** Column whose values are kept together, for a split by it. */
  readonly splitBy?: string;
  /** In place of what would be guessed: that of the run that is gone on with. */
  readonly recipe?: Recipe;
  /** Side tables that were read already: those that a run has kept. */
  readonly kept?: readonly SideTable[];
  /** Where parsed rows are kept, and taken from. Default: nowhere. */
  readonly cache?: TableCache;
  readonly signal?: AbortSignal;
}

export interface TableRead {
  readonly recipe: Recipe;
  readonly encoder: BlockEncoder;
  readonly sides: readonly SideTable[];
  readonly table: EncodedTable;
  /** Rows of the data itself; those behind it are of `evalData`. */
  readonly ownRows: number;
  readonly cached: CacheFound | undefined;
  /** By row, of the column that the split goes by. */
  readonly keys: Uint32Array | undefined;
  readonly stats: ReadonlyMap<string, ColumnStats>;
  /** Rows that were looked at. */
  readonly looked: number;
  readonly files: readonly FileFound[];
  readonly bad: BadRows;
}

export interface FileFound {
  readonly file: string;
  readonly bytes: number | null;
  readonly modified: string | null;
  /** What it was found to be, in words. */
  readonly notes: readonly string[];
}

export async function readTable(given: TableGiven): Promise<TableRead> {
  const { data, source, sides: plans, options, evalData, splitBy, signal } = given;
  const bad: BadRows = { policy: options.badRows ?? 'stop', max: given.badRowsMax, count: 0, examples: [] };
  const dataset = openData(data, options);
  const seen = stampsOf(given.cache === undefined ? [] : [...dataset.files, ...plans.map(({ file }) => file)]);
  const blocks = dataset.batches(BLOCK_ROWS)[Symbol.asyncIterator]();
  const head = await firstBlocks(blocks, source);
  const columns = columnsOf(head);
  const sides: SideTable[] = [...(given.kept ?? [])];
  for (const plan of given.kept === undefined ? plans : []) {
    if (!columns.includes(plan.key)) throw noKey(plan, source, columns);
    sides.push(await SideTable.read(plan, options));
  }
  const stats = statsOf(head, columns, sides);
  if (splitBy !== undefined && !columns.includes(splitBy)) {
    throw noColumn(splitBy, columns, source, (near) => `--split ${near}`);
  }
  checkRows(head, given.label, source);
  const recipe = given.recipe ?? planned(given, columns, stats, sides);
  const encoder = new BlockEncoder(recipe, sides, bad);
  const builder = new TableBuilder(encoder.schemas.all.specs);
  const keys: number[] = [];
  const isLong = head.reduce((sum, { length }) => sum + length, 0) >= LOOK_ROWS_MIN;
  const other = evalData === undefined ? undefined : openData(evalData, options);
  // Tables that a run has kept are no files that could have changed.
  const cache = given.kept === undefined || plans.length === 0 ? given.cache : undefined;
  const own = { dataset, recipe, encoder, bad, splitBy, head, blocks, columns: given.columns };
  const parts = { ...own, other, isLong, cache, seen };
  const parsed = new TableBlocks(parts);
  for await (const block of parsed.all()) {
    if (signal?.aborted === true)
      throw new MonolithError('ML_CANCELLED', { what: 'reading', reason: 'it was stopped' });
    builder.add(block);
    for (const key of block.keys ?? []) keys.push(Number(key));
    if (builder.bytes > BYTES_MAX) throw tooLarge(builder.rows);
  }
  const found = [dataset, ...(other === undefined ? [] : [other])].map(filesOf);
  return {
    recipe,
    encoder,
    sides,
    table: builder.end(),
    ownRows: parsed.ownRows,
    cached: parsed.cached,
    keys: splitBy === undefined ? undefined : Uint32Array.from(keys),
    stats,
    looked: stats.get(columns[0]!)!.rows,
    files: found.flat(),
    bad,
  };
}

function openData(data: TableGiven['data'], options: FileOptions): Dataset {
  return typeof data === 'string' || Array.isArray(data)
    ? Dataset.from(data as string | readonly string[], options)
    : Dataset.from(data as Iterable<DataRow>);
}

/** Blocks until there are enough rows to judge columns by. */
async function firstBlocks(blocks: AsyncIterator<DataRow[]>, source: string): Promise<DataRow[][]> {
  const head: DataRow[][] = [];
  let [rows, wanted] = [0, LOOK_ROWS_MIN];
  while (rows < wanted) {
    const next = await nextBlock(blocks);
    if (next.done === true) break;
    head.push(next.value);
    rows += next.value.length;
    const width = Object.keys(next.value[0]!).length;
    wanted = Math.min(LOOK_ROWS_MAX, Math.max(LOOK_ROWS_MIN, LOOK_CELLS / Math.max(1, width)));
  }
  if (rows === 0) throw new MonolithError('ML_DATASET', { reason: `${source} has no rows` });
  return head;
}

/** ML_DATASET for a file that has a header and nothing else, which then was taken for its only row. */
function checkRows(head: readonly (readonly DataRow[])[], label: string | undefined, source: string): void {
  const [row, more] = head[0] ?? [];
  if (row === undefined || more !== undefined || label === undefined || label in row) return;
  if (!Object.values(row).includes(label)) return;
  throw new MonolithError('ML_DATASET', { reason: `${source} has a header and no rows` });
}

function columnsOf(head: readonly (readonly DataRow[])[]): string[] {
  const names = new Set<string>();
  for (const rows of head) for (const row of rows.slice(0, 200)) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

function statsOf(
  head: readonly (readonly DataRow[])[],
  columns: readonly string[],
  sides: readonly SideTable[],
): Map<string, ColumnStats> {
  const stats = new Map<string, ColumnStats>();
  for (const name of columns) {
    const one = new ColumnStats(name);
    for (const rows of head) for (const row of rows) one.add(row[name]);
    stats.set(name, one);
  }
  for (const side of sides) {
    for (const name of side.columns) {
      if (stats.has(name)) continue;
      const one = new ColumnStats(name);
      for (const row of side.rows) one.add(row[name]);
      stats.set(name, one);
    }
  }
  return stats;
}

/** What the columns are for. */
function planned(
  { label: asked, source, over, model, sides: plans, options }: TableGiven,
  columns: readonly string[],
  stats: ReadonlyMap<string, ColumnStats>,
  sides: readonly SideTable[],
): Recipe {
  if (asked === undefined) throw noLabel(columns, source);
  const column = labelColumn(asked, columns, source);
  checkNamed(over, [...columns, ...sides.flatMap((side) => side.columns)], source);
  const label = labelPlan(asked, stats.get(column)!, columns);
  const own = columns.map((name): ColumnPlan => {
    if (name !== column) return sniffColumn(stats.get(name)!, { over });
    return { name, type: typeOf(stats.get(name)!), role: 'label' };
  });
  const beside = sides.flatMap(({ plan, columns: names }) =>
    names.map((name): ColumnPlan => {
      const why = columns.includes(name) ? 'the data has a column of this name' : undefined;
      const sniffed = sniffColumn(stats.get(name)!, { over, side: plan });
      return why === undefined ? sniffed : { ...sniffed, role: 'none', why };
    }),
  );
  const { badRows: _policy, badRowsMax: _most, ...reading } = options;
  const said = Object.keys(reading).length === 0 ? {} : { reading };
  return { version: 1, ...said, label, columns: oneTime([...own, ...beside]), sides: plans, model };
}

/** One column is the time; others are left out. */
function oneTime(plans: readonly ColumnPlan[]): ColumnPlan[] {
  let first: string | undefined;
  return plans.map((plan) => {
    if (plan.role !== 'time') return plan;
    first ??= plan.side === undefined ? plan.name : undefined;
    return first === plan.name
      ? plan
      : { ...plan, role: 'none', why: `a time; ${first ?? 'none'} is the one that counts` };
  });
}

/** ML_COLUMN for a name in a flag that no column has. */
function checkNamed({ id, number, time, ignore, words, list }: Overrules, columns: readonly string[], source: string) {
  for (const name of [id, number, time, ignore, words, [...(list?.keys() ?? [])]].flatMap((names) => names ?? [])) {
    if (!columns.includes(name)) throw noColumn(name, columns, source);
  }
}

function filesOf(dataset: Dataset): FileFound[] {
  return dataset.files.map((file) => ({
    file,
    ...sizeOf(file),
    notes: notesOf(dataset.findings.forms.get(file)),
  }));
}

function sizeOf(file: string): Pick<FileFound, 'bytes' | 'modified'> {
  const found = statSync(file, { throwIfNoEntry: false });
  return { bytes: found?.size ?? null, modified: found?.mtime.toISOString() ?? null };
}

const DELIMITERS: Readonly<Record<string, string>> = { ',': 'comma', '\t': 'tab', ';': 'semicolon', '|': 'bar' };

/** What a file was found to be, with how to overrule what may be wrong. */
function notesOf(form: CsvForm | undefined): string[] {
  if (form === undefined) return [];
  const { delimiter, header, decimalComma, columns } = form;
  const named = columns.some((name) => !/^column_\d+$/.test(name));
  const first = header
    ? 'header'
    : named
      ? 'no header'
      : `no header: columns are called ${columns[0]} to ${columns.at(-1)} (--columns A,B,… names them)`;
  return ['csv', DELIMITERS[delimiter] ?? delimiter, first, ...(decimalComma ? ['decimal comma'] : [])];
}

function tooLarge(rows: number): MonolithError {
  const reason = `the rows take more than ${BYTES_MAX / 2 ** 30} GiB of memory, ${rows} of them were read`;
  const hint = 'take fewer files, or --ignore columns; Dataset and Estimator read data of any size from a program';
  return new MonolithError('ML_DATASET', { reason }, { hint });
}
