/** @file A smaller table held in memory, whose rows stand beside those of the data that have the same key. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { Dataset } from '../data/dataset.js';
import type { FileOptions } from '../data/files/file-rows.js';
import type { DataRow } from '../data/files/place.js';
import type { SidePlan } from './recipe.js';

/** What stands beside a row without a match: nothing. */
const NOTHING: DataRow = {};

export class SideTable {
  readonly plan: SidePlan;
  readonly columns: readonly string[];
  readonly rows: readonly DataRow[];
  readonly #byKey: ReadonlyMap<string, DataRow>;

  private constructor(plan: SidePlan, columns: readonly string[], rows: readonly DataRow[]) {
    this.plan = plan;
    this.columns = columns;
    this.rows = rows;
    this.#byKey = new Map(rows.map((row) => [String(row[plan.key]), row]));
  }

  static async read(plan: SidePlan, options: FileOptions): Promise<SideTable> {
    const rows: DataRow[] = [];
    const columns = new Set<string>();
    for await (const some of Dataset.from(plan.file, options).batches(4096)) {
      for (const name of Object.keys(some[0]!)) columns.add(name);
      for (const row of some) rows.push(row);
    }
    if (rows.length === 0) throw new MonolithError('ML_DATASET', { reason: `${plan.file} has no rows` });
    const names = [...columns];
    if (!columns.has(plan.key)) throw noKey(plan, plan.file, names);
    return new SideTable(
      plan,
      names.filter((name) => name !== plan.key),
      rows,
    );
  }

  /** The same rows, kept under another name. */
  called(plan: SidePlan): SideTable {
    return new SideTable(plan, this.columns, this.rows);
  }

  /** The row beside one of the data; an empty one where there is none. */
  beside(row: DataRow): DataRow {
    return this.#byKey.get(String(row[this.plan.key])) ?? NOTHING;
  }
}

/** The error of a key that a table does not have. */
export function noKey({ file, key }: SidePlan, source: string, columns: readonly string[]): MonolithError {
  const near = didYouMean(key, columns);
  const hint = `--with ${file}:COLUMN names a column that both have${near === undefined ? '' : `; ${near}`}`;
  return new MonolithError('ML_COLUMN', { source, column: key, columns: columns.join(', ') }, { hint });
}
