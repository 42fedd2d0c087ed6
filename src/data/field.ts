/**
 * @file What a field of a schema means: which column it comes from, and how a cell becomes what is fed. The decoders of
 * files and `encodeRows` go by it, so that a cell means the same wherever it comes from.
 */

/** One value of a row, as files and programs have it. `null`, `undefined` and an empty text are missing. */
export type Cell = unknown;

interface FromColumn {
  /** The column it comes from. Default: that of its own name. */
  readonly from: string | undefined;
}

/** How ids of a feature are admitted and forgotten. */
export interface Lifetime {
  /** Sightings before an id gets a row. */
  readonly minCount: number;
  /** Days without an update after which an id may go; undefined: never. */
  readonly expireDays: number | undefined;
  /** How many ids that have no row yet are remembered, for `minCount`. */
  readonly remembered: number;
}

/** One id. */
export interface IdField extends FromColumn, Lifetime {
  readonly role: 'id';
  /** What the id is made of, in place of the cell. */
  readonly map: ((cell: Cell) => Cell) | undefined;
}

/** Any number of ids. */
export interface IdsField extends FromColumn, Lifetime {
  readonly role: 'ids';
  /** What stands between the ids of a text. */
  readonly split: string;
  /** Ids after so many are left out; undefined: none are. */
  readonly max: number | undefined;
  /** What stands between an id and its weight, or the column of the weights; undefined: there are none. */
  readonly weights: string | { readonly from: string } | undefined;
  readonly map: ((cell: Cell) => Cell) | undefined;
}

/** One float or several, standardised or not. */
export interface NumberField extends FromColumn {
  readonly role: 'number';
  /** Makes a number of a cell that is none, such as a date. */
  readonly parse: ((cell: Cell) => number) | undefined;
  /** Makes another number of a number. */
  readonly map: ((value: number) => number) | undefined;
  /** Whether the model sees it less its running mean, over its running deviation. */
  readonly standardise: boolean;
  /** In place of a missing value; undefined: the mean of those that are there. */
  readonly fallback: number | undefined;
  /** Where the pieces end that the model sees it in, besides the number itself; undefined: it sees that alone. */
  readonly edges: readonly number[] | undefined;
}

/** What is to be predicted. */
export interface LabelField extends FromColumn {
  readonly role: 'label';
  /** Makes the label of a number; of a text or bigint too, by `classes` or `positive`. */
  readonly map: ((value: number) => number) | undefined;
  /** A comparison that is 1 where it holds, else 0. */
  readonly rule: LabelRule | undefined;
  /** Texts that are 1; all others are 0. */
  readonly positive: readonly string[] | undefined;
  /** Texts of the classes, whose index is the label. */
  readonly classes: readonly string[] | undefined;
}

/** `>=3.5` taken apart. */
export interface LabelRule {
  readonly operator: '>=' | '>' | '<=' | '<' | '==' | '!=';
  readonly value: number;
}

/** The time of the example, in Unix seconds: rows of tables are stamped with it. */
export interface TimeField extends FromColumn {
  readonly role: 'time';
  /** What numbers count. */
  readonly unit: 's' | 'ms';
}

/** An int64 as it is, no id. */
export interface IntField extends FromColumn {
  readonly role: 'int';
}

export type Field = IdField | IdsField | NumberField | LabelField | TimeField | IntField;

/** What is fed for a number that is missing and has no default: no number is so low. */
export const MISSING_NUMBER = -3.4028234663852886e38;
