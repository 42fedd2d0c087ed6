/** @file Types of rows and columns that follow from a schema: what a program may hand to an estimator. */
import type { BatchSource } from './batch-source.js';
import type { DatasetSource } from './dataset-source.js';
import type { ColumnOf, RawOf, Row } from './row.js';
import type { RowsGiven, RowsInLists } from './row-source.js';
import type { Features, Feeds, LabelName } from './schema.js';

/**
 * An example with a column for each feature, so that one that is misspelt is missing. A value that is not there is null
 * or undefined; a label has to be there.
 */
export type LabelledRow<F extends Features> = {
  readonly [Name in keyof F & string as ColumnOf<Name, F[Name]>]: Name extends LabelName<F>
    ? NonNullable<RawOf<F[Name]>>
    : RawOf<F[Name]>;
};

/** An example to predict on: what could be a label may be left out, and so may times. */
export type UnlabelledRow<F extends Features> = {
  readonly [Name in Exclude<keyof F & string, LabelName<F> | TimeName<F>> as ColumnOf<Name, F[Name]>]: RawOf<F[Name]>;
} & {
  readonly [Name in LabelName<F> | TimeName<F> as ColumnOf<Name, F[Name]>]?: RawOf<F[Name]>;
};

type TimeName<F extends Features> = {
  [Name in keyof F & string]: F[Name] extends { readonly field: { readonly role: 'time' } } ? Name : never;
}[keyof F & string];

type UnlabelledFeeds<F extends Features> = Omit<Feeds<F>, LabelName<F>> & Partial<Pick<Feeds<F>, LabelName<F>>>;

/** Data with labels. */
export type LabelledData<F extends Features> =
  | RowsGiven<LabelledRow<F>>
  | RowsInLists<Row<F>>
  | Feeds<F>
  | BatchSource<LabelledRow<F>>
  | BatchSource<never>
  | DatasetSource;

/** Data to predict on; its rows come back with the predictions. */
export type UnlabelledData<F extends Features, Given extends UnlabelledRow<F> = UnlabelledRow<F>> =
  | RowsGiven<Given>
  | RowsInLists<Given>
  | UnlabelledFeeds<F>
  | BatchSource<Given>
  | DatasetSource;
