/** @file Blocks of rows as feeds in the order of a recipe's schema, and rows that cannot be read. */
import { MonolithError } from '../base/errors.js';
import { encodeRows } from '../data/encode-rows.js';
import type { DataRow } from '../data/files/place.js';
import type { Row } from '../data/row.js';
import type { Features, Schema } from '../data/schema.js';
import type { PartialBatchData } from '../memory/batch.js';
import { feedOf } from '../tensor/feed-values.js';
import type { Recipe } from './recipe.js';
import { type RecipeSchemas, schemasOf } from './recipe-schema.js';
import type { SideTable } from './side-table.js';

export interface BadRows {
  readonly policy: 'stop' | 'skip';
  /** How many may be left out before it is an error after all. */
  readonly max: number;
  count: number;
  /** The first few, in words. */
  readonly examples: string[];
}

export interface EncodedBlock {
  readonly data: PartialBatchData;
  /** The rows that were encoded: those that could be. */
  readonly rows: readonly DataRow[];
}

export class BlockEncoder {
  readonly schemas: RecipeSchemas;
  readonly #sides: readonly SideTable[];
  readonly #bad: BadRows;
  readonly #nulls: readonly (readonly [column: string, texts: readonly string[]])[];
  #rows = 0;

  constructor(recipe: Recipe, sides: readonly SideTable[], bad: BadRows, schemas: RecipeSchemas = schemasOf(recipe)) {
    this.schemas = schemas;
    this.#sides = sides.filter(({ plan }) => this.schemas.sides.has(plan.file));
    this.#bad = bad;
    this.#nulls = recipe.columns.flatMap(({ name, side, nulls }) =>
      nulls === undefined || side !== undefined ? [] : [[name, nulls] as const],
    );
  }

  /** The feeds of `rows`. Without `labels`, those of rows to predict on. */
  encode(rows: readonly DataRow[], labels = true): EncodedBlock {
    let left = this.#cleaned(rows);
    for (;;) {
      try {
        const data = this.#encoded(left, labels);
        this.#rows += left.length;
        return { data, rows: left };
      } catch (error) {
        left = this.#without(error, left);
      }
    }
  }

  /** The rows without the one that `error` is about, where such rows are to be left out. */
  #without(error: unknown, rows: readonly DataRow[]): readonly DataRow[] {
    if (!(error instanceof MonolithError) || error.code !== 'ML_DATA') throw error;
    const index = Number(error.fields.row) - this.#rows;
    if (this.#bad.policy === 'stop' || !(index >= 0 && index < rows.length)) throw withFlags(error);
    noteBadRow(this.#bad, error);
    return rows.filter((_, at) => at !== index);
  }

  #cleaned(rows: readonly DataRow[]): readonly DataRow[] {
    for (const [column, texts] of this.#nulls) {
      for (const row of rows as Record<string, unknown>[]) {
        if (texts.includes(row[column] as string)) row[column] = '';
      }
    }
    return rows;
  }

  #encoded(rows: readonly DataRow[], labels: boolean): PartialBatchData {
    const { own, sides, all } = this.schemas;
    const firstRow = this.#rows;
    const feeds: Record<string, unknown> = encodedOf(own, rows, { labels, firstRow });
    for (const side of this.#sides) {
      const beside = rows.map((row) => side.beside(row));
      Object.assign(feeds, encodedOf(sides.get(side.plan.file)!, beside, { partial: true, firstRow }));
    }
    const given = all.specs.map((spec) => {
      const value = feeds[spec.name];
      return value === undefined ? undefined : feedOf(spec, value, () => undefined);
    });
    return { rows: rows.length, feeds: given };
  }
}

function encodedOf(
  schema: Schema<Features>,
  rows: readonly DataRow[],
  options: { readonly labels?: boolean; readonly partial?: boolean; readonly firstRow: number },
): Record<string, unknown> {
  return { ...encodeRows(schema, rows as readonly Row<Features>[], options).feeds };
}

/** Counts a row that is left out; one too many is an error. */
export function noteBadRow(bad: BadRows, error: MonolithError): void {
  if (bad.count >= bad.max) {
    const reason = `${bad.max} rows could not be read and were left out; the next one: ${error.message}`;
    throw new MonolithError('ML_DATASET', { reason }, { hint: '--bad-rows-max COUNT allows more', cause: error });
  }
  bad.count++;
  if (bad.examples.length < 5) bad.examples.push(error.message);
}

/** The error with what the command line can do about it. */
export function withFlags(error: MonolithError): MonolithError {
  if (error.code !== 'ML_DATA') return error;
  const text = /^"([^"\s]{1,20})" is not a number/.exec(String(error.fields.reason))?.[1];
  const skip = '--bad-rows skip leaves such rows out and counts them';
  const hint = text === undefined ? skip : `${skip}; --null ${text} reads it as missing`;
  return new MonolithError('ML_DATA', error.fields, { hint, cause: error });
}
