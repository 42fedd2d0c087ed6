/** @file The columns that a model takes rows by, and rows held to them. */
import { didYouMean } from '../../base/suggest.js';
import { columnOf } from '../../data/encode-rows.js';
import type { Feature, Features } from '../../data/schema.js';
import { isObject } from './read-body.js';
import { refusal } from './refusal.js';

export type GivenRow = Readonly<Record<string, unknown>>;

/** A column of the rows, and the feature it is of. */
export interface ColumnInfo {
  readonly column: string;
  readonly name: string;
  readonly feature: Feature;
}

/** Columns of a schema without labels, in its order; a column of weights is one too. */
export function columnsOf(features: Features): ColumnInfo[] {
  return Object.entries(features).flatMap(([name, feature]): ColumnInfo[] => {
    const { field } = feature;
    if (field?.role === 'label') return [];
    const own = { column: columnOf(name, feature), name, feature };
    const from = field?.role === 'ids' && typeof field.weights === 'object' ? field.weights.from : undefined;
    return from === undefined ? [own] : [own, { column: from, name, feature }];
  });
}

/** What holds rows to the columns of a model. */
export class RowCheck {
  readonly columns: readonly string[];
  /** Those whose cells are lists of ids. */
  readonly lists: ReadonlySet<string>;
  readonly #known: ReadonlySet<string>;
  readonly #needed: readonly string[];

  /** `strict`: a row must have every column but times. */
  constructor(features: Features, strict: boolean) {
    const infos = columnsOf(features);
    this.columns = infos.map(({ column }) => column);
    this.lists = new Set(infos.flatMap(({ column, feature }) => (feature.kind === 'ragged' ? [column] : [])));
    this.#known = new Set(this.columns);
    const needed = infos.flatMap(({ column, feature }) => (feature.field?.role === 'time' ? [] : [column]));
    this.#needed = strict ? needed : [];
  }

  /** The row, if it is one; 400 with its place and the nearest column for one that is not. */
  row(value: unknown, place: string): GivenRow {
    const row = this.known(value, place);
    const missing = this.#needed.find((name) => !Object.hasOwn(row, name));
    if (missing !== undefined) throw refusal(400, `${place}.${missing}: the feature is missing`);
    return row;
  }

  /** A row of columns that the model has, all of them or some. */
  known(value: unknown, place: string): GivenRow {
    if (!isObject(value)) {
      throw refusal(400, `${place}: a row is an object of features`, { hint: `it has ${this.columns.join(', ')}` });
    }
    for (const name of Object.keys(value)) {
      if (this.#known.has(name)) continue;
      const hint = didYouMean(name, this.columns) ?? `the features are ${this.columns.join(', ')}`;
      throw refusal(400, `${place}.${name}: unknown feature`, { hint });
    }
    return value;
  }
}
