/** @file Rows of a schema as types: which columns there are, and what may stand in them. */
import type { Field } from './field.js';
import type { IdFeature, IdsFeature, LabelFeature, NumberFeature, TimeFeature, With } from './fields.js';
import type { Feature, Features } from './schema.js';

type None = null | undefined;
/** What an id may be: a number below 2^53, a bigint, or a text. */
export type RawId = number | bigint | string | boolean;

/** The column a feature comes from. */
export type ColumnOf<Name, F> = F extends With<Field, infer From> ? (From extends string ? From : Name) : Name;

/** What may stand in it. */
export type RawOf<F extends Feature> = F extends IdFeature
  ? RawId | None
  : F extends IdsFeature
    ? readonly (RawId | readonly [id: RawId, weight: number] | None)[] | BigInt64Array | BigUint64Array | RawId | None
    : F extends TimeFeature
      ? number | bigint | string | Date | None
      : F extends LabelFeature
        ? number | bigint | string | boolean | None
        : F extends NumberFeature<string | undefined, 1>
          ? number | bigint | string | boolean | Date | None
          : F extends { readonly kind: 'dense' }
            ? number | string | ArrayLike<number> | None
            : RawId | ArrayLike<RawId> | None;

/**
 * A row of raw values by column. More columns than the schema has are fine; a literal with a name that the schema does
 * not have does not compile.
 */
export type Row<F extends Features> = {
  readonly [Name in keyof F & string as ColumnOf<Name, F[Name]>]?: RawOf<F[Name]>;
};
