/**
 * @file A run of a model of one's own, opened with its module in hand: nothing in the folder says how to run it, so
 * whoever asks gives the module again. What its schema says stands where a table has a recipe.
 */
import { basename } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { Dataset } from '../data/dataset.js';
import type { FileOptions } from '../data/files/file-rows.js';
import type { DataRow } from '../data/files/place.js';
import type { Features, Schema } from '../data/schema.js';
import { allRows, heldRows, isRowsGiven } from '../recipe/held-rows.js';
import type { ColumnPlan, ColumnRole, Recipe, SidePlan } from '../recipe/recipe.js';
import type { EstimatorModel } from '../train/estimator/estimator-model.js';
import type { JudgedRows } from './judged-rows.js';

/** What a module has to say of a run that it made. */
export interface OwnGiven {
  readonly file: string;
  readonly model: EstimatorModel;
  readonly schema: Schema<Features>;
  /** Tables that stand beside rows of files. */
  readonly beside: readonly SidePlan[];
  /** The rows that reported. */
  readonly held: () => unknown;
  /** All rows that were trained on, and held out of them. */
  readonly past: () => unknown;
}

const ROLES: Readonly<Record<string, ColumnRole>> = { id: 'id', ids: 'ids', number: 'number', time: 'time' };

/** The columns of a schema as a recipe has them. */
export function recipeOfSchema({ schema: { features } }: OwnGiven): Recipe {
  const columns = Object.entries(features).map(([name, { field, kind }]): ColumnPlan => {
    const role = field === undefined ? (kind === 'dense' ? 'number' : 'ids') : (ROLES[field.role] ?? 'none');
    const from = field?.from;
    return { name, type: 'text', role: field?.role === 'label' ? 'label' : role, ...(from !== undefined && { from }) };
  });
  const label = labelOf(features) ?? '';
  return { version: 1, label: { column: label, text: label }, columns, sides: [], model: { name: 'deepfm' } };
}

const labelOf = (features: Features): string | undefined =>
  Object.keys(features).find((name) => features[name]!.field?.role === 'label');

/** Rows of a file as the model takes them. */
export function ownRowsOf({ beside }: OwnGiven, data: string, options: FileOptions): Dataset {
  let rows: Dataset = Dataset.from(data, options);
  for (const { file, key } of beside) rows = rows.with(file, { key });
  return rows;
}

/** Rows with their labels: those of a file, else those that reported. */
export async function ownJudged(
  own: OwnGiven,
  data: string | undefined,
  options: FileOptions,
  signal: AbortSignal | undefined,
): Promise<JudgedRows> {
  const label = labelOf(own.schema.features);
  if (label === undefined) {
    const reason = 'its schema has no f.label(), so nothing says what the rows should come to';
    throw new MonolithError('ML_MODEL', { model: own.file, reason });
  }
  const table = await heldRows(
    own.schema,
    givenRows(own, data === undefined ? own.held() : ownRowsOf(own, data, options)),
    signal,
  );
  if (table === undefined)
    throw new MonolithError('ML_DATASET', { reason: 'the rows take too much memory to judge by' });
  const source = data === undefined ? `rows of ${basename(own.file)} that chose nothing` : basename(data);
  return { table, rows: allRows(table), labels: table.floats(label), source, averages: undefined, idColumns: [] };
}

/** What was to be recommended, and what was seen. */
export const ownPast = (own: OwnGiven): Dataset => {
  const rows = givenRows(own, own.past());
  return rows instanceof Dataset ? rows : Dataset.from(rows);
};

function givenRows({ file }: OwnGiven, rows: unknown): Dataset | readonly DataRow[] {
  if (isRowsGiven(rows)) return rows;
  const reason = 'its data is no Dataset and no list of rows, so it cannot be gone over again';
  throw new MonolithError('ML_MODEL', { model: file, reason }, { hint: '--data FILE gives rows of the same columns' });
}
