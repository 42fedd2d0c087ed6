/**
 * @file A recipe: all that follows from a table of data and the name of its label, as plain data. It is what `monolith
 * train --data` guesses, prints, keeps beside the checkpoints as `schema.json`, and reads again to evaluate, predict
 * and recommend.
 */

import type { FileOptions } from '../data/files/file-rows.js';

/** What stands in a column. */
export type ColumnType = 'int' | 'num' | 'text' | 'bool' | 'time' | 'list' | 'empty';

/** What a column is for. `words` are ids too: those of the words of a text. */
export type ColumnRole = 'id' | 'ids' | 'words' | 'number' | 'label' | 'time' | 'none';

export interface ColumnPlan {
  readonly name: string;
  /** The file of a side table; absent of a column of the data itself. */
  readonly side?: string;
  readonly type: ColumnType;
  readonly role: ColumnRole;
  /** What stands between the ids of a list. */
  readonly split?: string;
  /** Ids of a cell that are looked at. */
  readonly max?: number;
  /** Whether the model sees the logarithm of 1 and the number: most are small, and a few are large. */
  readonly log?: boolean;
  /** Of a number: the ends of the pieces that the model sees it in, besides the number itself. */
  readonly edges?: readonly number[];
  /** What a time counts. */
  readonly unit?: 's' | 'ms';
  /** Texts that stand for a missing number. */
  readonly nulls?: readonly string[];
  /** How many values it had in the rows that were looked at. */
  readonly distinct?: number;
  /** The column it comes from, of a schema of one's own where that has another name. */
  readonly from?: string;
  /** Why it is no feature, or what it is good for. */
  readonly why?: string;
}

/** How a label of 0 or 1 is made of its column. */
export interface LabelPlan {
  readonly column: string;
  /** A comparison with a number: `>=3.5`. */
  readonly rule?: string;
  /** Texts that are 1. */
  readonly positive?: readonly string[];
  /** As it was told, or as it was found out. */
  readonly text: string;
}

/** A smaller table whose columns stand beside the rows that have the same key. */
export interface SidePlan {
  readonly file: string;
  readonly key: string;
}

export const ZOO_MODELS = ['deepfm', 'lr', 'fm', 'ffm', 'dcn', 'wideAndDeep'] as const;
export type ZooName = (typeof ZOO_MODELS)[number];

export interface ModelPlan {
  readonly name: ZooName;
  /** Floats of an embedding; those of the model where it is absent. */
  readonly dim?: number;
  /** Pieces that it sees a number in at the most; those of the data's size where it is absent, 0 for none. */
  readonly pieces?: number;
}

/** How files of the data are read where that was said: a CSV without a header has its names from here. */
export type Reading = Pick<FileOptions, 'format' | 'columns' | 'delimiter' | 'nulls'>;

export interface Recipe {
  readonly version: 1;
  readonly reading?: Reading;
  readonly label: LabelPlan;
  readonly columns: readonly ColumnPlan[];
  readonly sides: readonly SidePlan[];
  readonly model: ModelPlan;
}

/** Columns that the model sees. */
export const featureColumns = ({ columns }: Pick<Recipe, 'columns'>): ColumnPlan[] =>
  columns.filter(({ role }) => role === 'id' || role === 'ids' || role === 'words' || role === 'number');
