/** @file A table that was read, made ready to train on: parts that are held out, averages to beat, warnings. */
import { MonolithError } from '../base/errors.js';
import { auc } from '../metrics/auc.js';
import { type Averages, averagesOf } from './averages.js';
import { type DenseIndex, denseIndex } from './dense-index.js';
import { driftOf } from './drift.js';
import { checkParts, type Parts, partsByFiles, partsByKey, partsByRow, partsByTime } from './hold-out.js';
import { PIECES, withEdges } from './number-edges.js';
import type { TableRead } from './read-table.js';
import { type ColumnPlan, featureColumns } from './recipe.js';
import { labelName } from './recipe-schema.js';
import type { ColumnFound, DataEvent, RunEvent, SplitEvent } from './run-event.js';

/** A column that predicts the label so well alone gives it away, mostly. */
const LEAK_AUC = 0.985;
/** Rows that a leak is looked for in. */
const LEAK_ROWS = 20_000;
const TOP = 3;

export interface PreparedTable extends TableRead {
  readonly parts: Parts;
  readonly label: Float32Array;
  readonly averages: Averages;
  /** Columns of ids, which have averages. */
  readonly idColumns: readonly string[];
  /** Different ids of all columns that have one each. */
  readonly ids: number;
  readonly splitBy: string;
}

export interface PrepareOptions {
  readonly source: string;
  readonly split: string | undefined;
  readonly seed: number;
  /** Whether the recipe is that of a model that is there already: nothing of it may change. Default: false. */
  readonly isKnown?: boolean;
}

/** Holds rows out and counts averages; what there is to say of the data goes to `tell`. */
export function prepareTable(
  read: TableRead,
  { source, split, seed, isKnown = false }: PrepareOptions,
  tell: (event: RunEvent) => void,
): PreparedTable {
  const label = read.table.floats(labelName(read.recipe));
  tell(dataEvent(read, source, label));
  const [parts, splitBy] = partsOf(read, split, seed);
  checkParts(parts, label, read.recipe.label.column);
  const indexes = new Map<string, DenseIndex>();
  for (const { name, role } of featureColumns(read.recipe)) {
    const feed = read.table.feed(name);
    if (role === 'id' && feed.kind === 'ids') indexes.set(name, denseIndex(feed.values as BigInt64Array));
  }
  const { columns, model } = read.recipe;
  const pieces = isKnown ? 0 : (model.pieces ?? PIECES);
  const recipe = { ...read.recipe, columns: withEdges(columns, read.table, parts.train, pieces) };
  const averages = averagesOf(indexes, label, parts.train);
  const idColumns = [...indexes.keys()];
  const unseen = idColumns.map((name) => [name, averages.unseen(name, parts.test)] as const);
  const prepared = {
    ...read,
    ...{ recipe, parts, label, averages, idColumns, splitBy },
    ids: [...indexes.values()].reduce((sum, { count }) => sum + count, 0),
  };
  const once = Object.fromEntries(idColumns.map((name) => [name, averages.once(name)]));
  tell({ ...splitEvent(parts, splitBy, Object.fromEntries(unseen)), once, drift: driftOf(prepared) });
  for (const event of leaks(prepared)) tell(event);
  return prepared;
}

function partsOf(read: TableRead, asked: string | undefined, seed: number): [Parts, string] {
  const { table, ownRows, keys, recipe } = read;
  if (table.rows > ownRows) return [partsByFiles(ownRows, table.rows, seed), 'files'];
  const time = recipe.columns.find(({ role }) => role === 'time')?.name;
  const by = asked ?? (time === undefined ? 'row' : 'time');
  if (by === 'row') return [partsByRow(table.rows, seed), by];
  if (by !== 'time') return [partsByKey(keys!, seed), by];
  if (time !== undefined) return [partsByTime(table.feed(time).values as BigInt64Array), by];
  const reason = 'no column is a time';
  throw new MonolithError('ML_FLAG', { flag: '--split time', reason }, { hint: '--time COLUMN says which one is' });
}

function splitEvent({ train, validation, test, cut }: Parts, by: string, unseen: SplitEvent['unseen']): SplitEvent {
  const sizes = { train: train.length, validation: validation.length, test: test.length };
  return { event: 'split', by, ...sizes, unseen, cut: cut === undefined ? null : Number(cut) };
}

function dataEvent(read: TableRead, source: string, label: Float32Array): DataEvent {
  const { recipe, table, looked, stats, files, bad } = read;
  const positives = label.reduce((sum, value) => sum + value, 0);
  return {
    event: 'data',
    source,
    files,
    rows: table.rows,
    looked,
    sides: recipe.sides,
    columns: recipe.columns.map((plan) => columnFound(plan, stats)),
    label: recipe.label.text,
    labelColumn: recipe.label.column,
    positive: positives / Math.max(1, label.length),
    badRows: bad.count,
    badRowExamples: bad.examples,
  };
}

/** What is known of a column besides what it is for. */
export function columnFound(plan: ColumnPlan, stats: TableRead['stats']): ColumnFound {
  const found = stats.get(plan.name);
  const isNumber = found !== undefined && found.numbers > 0;
  return {
    ...plan,
    distinct: found?.distinct ?? 0,
    more: found?.overflowed ?? false,
    missing: found === undefined ? 0 : found.missing / Math.max(1, found.rows),
    least: isNumber ? found.min : null,
    most: isNumber ? found.max : null,
    mean: isNumber ? found.mean : null,
    top: found?.top(TOP) ?? [],
  };
}

/** Columns that alone say what the label is: what is known only afterwards, mostly. */
function* leaks({ recipe, table, parts, label, averages }: PreparedTable): Generator<RunEvent> {
  const rows = parts.validation.subarray(0, LEAK_ROWS);
  const labels = Float32Array.from(rows, (row) => label[row]!);
  for (const { name, role } of featureColumns(recipe)) {
    const feed = table.feed(name);
    let scores: Float32Array | undefined;
    if (role === 'id') scores = averages.scores(name, rows);
    else if (feed.kind === 'dense') scores = Float32Array.from(rows, (row) => feed.values[row]!);
    if (scores === undefined) continue;
    const found = auc(labels, scores) ?? 0.5;
    const alone = Math.max(found, 1 - found);
    if (alone < LEAK_AUC) continue;
    const message =
      `column "${name}" alone predicts the label with AUC ${alone.toFixed(3)}: it may be known only afterwards; ` +
      `--ignore ${name} leaves it out`;
    yield { event: 'warning', code: 'ML_LABEL', message };
  }
}
