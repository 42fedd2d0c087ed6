/**
 * @file Items for whom it is asked: every item of the data, beside the one who asks, scored by a run. What was seen is
 * left out.
 */
import { BestOf } from '../base/best-of.js';
import { MonolithError } from '../base/errors.js';
import type { Dataset } from '../data/dataset.js';
import type { DataRow } from '../data/files/place.js';
import type { BadRows } from '../recipe/encode-blocks.js';
import { noColumn } from '../recipe/label-plan.js';
import { type ColumnPlan, featureColumns, type Recipe } from '../recipe/recipe.js';
import type { OpenRun } from './open-run.js';
import { pastRows, type RowsAsked } from './run-rows.js';
import { scoreRows } from './score-rows.js';
import type { Scorer } from './scorer.js';

export interface RecommendAsked extends RowsAsked {
  /** Who asks: columns with their values. */
  readonly asking: readonly DataRow[];
  readonly item: string | undefined;
  readonly top: number;
  /** Whether items are left out that the one who asks has seen. */
  readonly leaveSeen: boolean;
  readonly show: readonly string[];
}

export interface RecommendedItem {
  readonly id: unknown;
  readonly score: number;
  /** The columns that were to be shown. */
  readonly shown: Readonly<Record<string, unknown>>;
}

export interface Recommendation {
  readonly for: DataRow;
  readonly item: string;
  readonly items: readonly RecommendedItem[];
  readonly scored: number;
  /** Items that were left out, since they were seen. */
  readonly seen: number;
  /** Columns whose value training never saw. */
  readonly unknown: readonly string[];
  /** Why nothing could be left out; null where it was. */
  readonly note: string | null;
}

/** What the past says: items, and what each of those who ask has seen. */
interface Past {
  readonly items: Map<string, DataRow>;
  readonly seen: readonly Set<string>[];
  /** The newest row of each of those who ask. */
  readonly own: (DataRow | undefined)[];
  readonly note: string | null;
}

export async function recommend(run: OpenRun, scorer: Scorer, asked: RecommendAsked): Promise<Recommendation[]> {
  const { recipe } = run;
  const { asking, show, top } = asked;
  const names = recipe.columns.map(columnOf);
  const keys = recipe.sides.map(({ key }) => key);
  for (const name of [...asking.flatMap((row) => Object.keys(row)), ...show, ...(asked.item ? [asked.item] : [])]) {
    if (!names.includes(name) && !keys.includes(name)) throw noColumn(name, names, run.dir);
  }
  const item = asked.item ?? itemOf(recipe, asking);
  const past = await readPast(run, asked, item);
  const results: Recommendation[] = [];
  for (const [index, row] of asking.entries()) {
    const best = new BestOf<DataRow>(top);
    const seen = asked.leaveSeen ? past.seen[index]! : new Set<string>();
    const candidates = candidatesFor(recipe, row, past.own[index], item, past.items, seen);
    const unknown = new Set<string>();
    let scored = 0;
    for await (const some of scoreRows(run, scorer, candidates, noBadRows())) {
      for (const [at, one] of some.rows.entries()) best.add(one, some.predictions[at]!);
      for (const strangers of some.unknown) for (const name of strangers) if (name in row) unknown.add(name);
      scored += some.rows.length;
    }
    const items = best.all.map(({ item: one, score }) => ({ id: one[item], score, shown: shownOf(run, one, show) }));
    results.push({ for: row, item, items, scored, seen: seen.size, unknown: [...unknown], note: past.note });
  }
  return results;
}

/** What the column is called in rows. */
const columnOf = ({ name, from = name }: ColumnPlan): string => from;

const noBadRows = (): BadRows => ({ policy: 'stop', max: 0, count: 0, examples: [] });

/** The key of a side table, else the column of ids that has the most. */
function itemOf(recipe: Recipe, asking: readonly DataRow[]): string {
  const given = new Set(asking.flatMap((row) => Object.keys(row)));
  const ids = featureColumns(recipe).filter(
    (plan) => plan.role === 'id' && plan.side === undefined && !given.has(columnOf(plan)),
  );
  const key = recipe.sides.map((side) => side.key).find((name) => ids.some((plan) => columnOf(plan) === name));
  const last = ids.toSorted((a, b) => (b.distinct ?? 0) - (a.distinct ?? 0))[0];
  const found = key ?? (last && columnOf(last));
  if (found !== undefined) return found;
  const reason = 'no column of ids is left that could be recommended';
  throw new MonolithError('ML_FLAG', { flag: '--item', reason }, { hint: '--item COLUMN names it' });
}

async function readPast(run: OpenRun, asked: RecommendAsked, item: string): Promise<Past> {
  const { asking } = asked;
  const past: Past = {
    items: new Map(),
    seen: asking.map(() => new Set()),
    own: asking.map(() => undefined),
    note: null,
  };
  const { asking: _asking, item: _item, top: _top, leaveSeen: _leave, show: _show, ...files } = asked;
  let data: Dataset;
  try {
    data = pastRows(run, files);
  } catch (error) {
    const side = run.sides.find(({ plan }) => plan.key === item);
    if (side === undefined) throw error;
    for (const row of side.rows) past.items.set(String(row[item]), { [item]: row[item] });
    return { ...past, note: `${(error as MonolithError).message}; nothing that was seen is left out` };
  }
  const wanted = asking.map((row) => Object.entries(row).map(([name, value]) => [name, String(value)] as const));
  for await (const rows of data.batches(4096)) {
    asked.signal?.throwIfAborted();
    if (!(item in rows[0]!)) throw noColumn(item, Object.keys(rows[0]!), run.dir);
    for (const row of rows) {
      const id = String(row[item]);
      past.items.set(id, row);
      for (const [index, pairs] of wanted.entries()) {
        // A value that the data does not have, such as an hour of now, says nothing of the past.
        if (pairs.length === 0 || !pairs.every(([name, value]) => !(name in row) || String(row[name]) === value))
          continue;
        past.seen[index]!.add(id);
        past.own[index] = row;
      }
    }
  }
  past.items.delete('');
  return past;
}

/** Rows to score: what was asked, the item, other columns of the newest row of who asks, else of the item. */
function* candidatesFor(
  recipe: Recipe,
  row: DataRow,
  own: DataRow | undefined,
  item: string,
  items: ReadonlyMap<string, DataRow>,
  seen: ReadonlySet<string>,
): Generator<DataRow> {
  const keys = recipe.sides.map(({ key }) => key);
  const columns = [
    ...featureColumns(recipe).filter(({ side }) => side === undefined),
    ...recipe.columns.filter(({ role }) => role === 'time'),
  ];
  const names = [...new Set([...columns.map(columnOf), ...keys])];
  for (const [id, past] of items) {
    if (seen.has(id)) continue;
    const made: Record<string, unknown> = {};
    for (const name of names) made[name] = row[name] ?? (name === item ? past[item] : (own ?? past)[name]);
    yield made;
  }
}

function shownOf({ sides }: OpenRun, row: DataRow, show: readonly string[]): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of show) {
    const beside = sides.map((side) => side.beside(row)[name]).find((value) => value !== undefined);
    shown[name] = row[name] ?? beside;
  }
  return shown;
}
