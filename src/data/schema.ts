/**
 * @file A feature schema as a type: what a batch holds, said once, known to the compiler.
 *
 * From one declaration come the layout of batches, the placeholders of a graph and the types of what is fed. A misspelt
 * name, ids where floats belong or a feature that is left out do not compile.
 */
import { checkKeys, checkNumber, checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { idsPlaceholder, placeholder, raggedPlaceholder } from '../graph/ops/state.js';
import type { DenseInput, Int64Input, RaggedInput } from '../graph/typed-inputs.js';
import { type BatchData, type BatchSchema, type FeedSpec, type PartialBatchData, rowsOf } from '../memory/batch.js';
import { type DenseFeed, feedOf, type IdsFeed, type RaggedFeed, type SingleIds } from '../tensor/feed-values.js';
import type { Field } from './field.js';

/** Floats, `width` of them for each example. */
export interface DenseFeature<Width extends number = number> {
  readonly kind: 'dense';
  readonly width: Width;
  /** What its cells mean, where `f` made it. */
  readonly field?: Field;
}

/** 64-bit integers, `width` of them for each example: times, counts, or ids of features that have one each. */
export interface Int64Feature<Width extends number = number> {
  readonly kind: 'ids';
  readonly width: Width;
  readonly field?: Field;
}

/** 64-bit ids, as many for each example as there are. */
export interface RaggedFeature<ValuesPerRow extends number = number> {
  readonly kind: 'ragged';
  readonly valuesPerRow: ValuesPerRow;
  /** `valuesPerRow` is no limit but what to begin with: an example may have up to so many. */
  readonly rowMax?: number;
  /** Whether ids have weights: a feed of their own, `name/weights`, of `valuesPerRow` floats for each example. */
  readonly weighted?: boolean;
  readonly field?: Field;
}

export type Feature = DenseFeature | Int64Feature | RaggedFeature;
export type Features = { readonly [name: string]: Feature };

/** Overloads, because without an argument the width would be taken from the place the call stands in: any number. */
function denseF32(): DenseFeature<1>;
function denseF32<const Width extends number>(options: { readonly width: Width }): DenseFeature<Width>;
function denseF32(options: { readonly width?: number } = {}): DenseFeature {
  const { width = 1 } = checkOptions('dense.f32', options, ['width']);
  return { kind: 'dense', width: checkNumber('dense.f32', 'width', width) };
}

function denseI64(): Int64Feature<1>;
function denseI64<const Width extends number>(options: { readonly width: Width }): Int64Feature<Width>;
function denseI64(options: { readonly width?: number } = {}): Int64Feature {
  const { width = 1 } = checkOptions('dense.i64', options, ['width']);
  return { kind: 'ids', width: checkNumber('dense.i64', 'width', width) };
}

/**
 * Dense features: `dense.f32()` is one float for each example, `dense.f32({ width: 3 })` three, and `dense.i64()` an
 * int64, such as the time of a request.
 */
export const dense = { f32: denseF32, i64: denseI64 } as const;

/** Features of any number of values per example. */
export const ragged = {
  /** Int64 ids; `valuesPerRow` bounds how many an example has, on average over the batch. */
  i64<const ValuesPerRow extends number>(options: {
    readonly valuesPerRow: ValuesPerRow;
  }): RaggedFeature<ValuesPerRow> {
    const { valuesPerRow } = checkOptions('ragged.i64', options, ['valuesPerRow']);
    return { kind: 'ragged', valuesPerRow: checkNumber('ragged.i64', 'valuesPerRow', valuesPerRow) };
  },
} as const;

/** The placeholder of a feature. */
export type InputOf<F extends Feature> =
  F extends DenseFeature<infer Width>
    ? DenseInput<Width>
    : F extends Int64Feature<infer Width>
      ? Int64Input<Width>
      : RaggedInput;
/** What is fed to it. */
export type ValuesOf<F extends Feature> = F extends DenseFeature
  ? DenseFeed
  : F extends Int64Feature
    ? IdsFeed
    : F extends RaggedFeature<infer ValuesPerRow>
      ? 1 extends ValuesPerRow
        ? RaggedFeed | SingleIds
        : RaggedFeed
      : never;

/** Names of features whose ids have weights. */
type WeightedName<F extends Features> = {
  [Name in keyof F & string]: F[Name] extends { readonly weighted: true } ? Name : never;
}[keyof F & string];

export type Inputs<F extends Features> = { readonly [Name in keyof F]: InputOf<F[Name]> } & {
  readonly [Name in WeightedName<F> as `${Name}/weights`]: DenseInput;
};
export type Feeds<F extends Features> = { readonly [Name in keyof F]: ValuesOf<F[Name]> } & {
  readonly [Name in WeightedName<F> as `${Name}/weights`]: DenseFeed;
};
/** Names of the labels that a schema says it has. */
export type MarkedLabel<F extends Features> = {
  [Name in keyof F & string]: F[Name] extends { readonly field: { readonly role: 'label' } } ? Name : never;
}[keyof F & string];
/** Names of what a label can be: features of `f.label()`, and `dense.f32()` of one float for each example. */
export type LabelName<F extends Features> =
  | MarkedLabel<F>
  | {
      [Name in keyof F & string]: F[Name] extends { readonly field: Field }
        ? never
        : F[Name] extends DenseFeature<1>
          ? Name
          : never;
    }[keyof F & string];

/** How placeholders are made that a feature does not say all of. */
export interface InputOptions {
  /** In place of what ragged features say: ids per example at the most, on average over the batch. */
  readonly valuesPerRow?: Readonly<Record<string, number>> | undefined;
}

export class Schema<F extends Features> {
  readonly features: F;
  /** The layout of batches, for `Session.create`. */
  readonly specs: BatchSchema;

  constructor(features: F) {
    this.features = features;
    this.specs = Object.entries(features).flatMap(([name, feature]) => specsOf(name, feature));
  }

  /** A placeholder for each feature, by name. */
  inputs(graph: Graph, options: InputOptions = {}): Inputs<F> {
    const { valuesPerRow = {} } = checkOptions('schema.inputs', options, ['valuesPerRow']);
    checkKeys('valuesPerRow', valuesPerRow, this.#raggedNames());
    const made = Object.entries(this.features).flatMap(([name, feature]) =>
      inputsOf(graph, name, feature, valuesPerRow[name]),
    );
    return Object.fromEntries(made) as Inputs<F>;
  }

  /**
   * Values for `Session.run`, as they are: names and types are checked where this is written, values when they are fed.
   */
  feeds(values: Feeds<F>): Feeds<F> {
    return values;
  }

  /** Values for runs that do not need all features: `schema.feedsWithout('label', { user, item })` predicts. */
  feedsWithout<const Name extends keyof F & string>(
    _names: Name | readonly Name[],
    values: Omit<Feeds<F>, Name>,
  ): Omit<Feeds<F>, Name> {
    return values;
  }

  /** Values as a batch for `loadBatches`, in the order of the schema. */
  batch(values: Feeds<F>): BatchData {
    return this.#batch([], values) as BatchData;
  }

  /** The same without some features; runs that need them refuse the batch. */
  batchWithout<const Name extends keyof F & string>(
    names: Name | readonly Name[],
    values: Omit<Feeds<F>, Name>,
  ): PartialBatchData {
    return this.#batch(typeof names === 'string' ? [names] : names, values as Partial<Feeds<F>>);
  }

  #raggedNames(): string[] {
    return Object.entries(this.features).flatMap(([name, { kind }]) => (kind === 'ragged' ? [name] : []));
  }

  #batch(without: readonly string[], values: Partial<Feeds<F>>): PartialBatchData {
    const feeds = this.specs.map((spec) => {
      if (without.includes(spec.name)) return undefined;
      const value: unknown = values[spec.name];
      if (value === undefined) throw new MonolithError('ML_FEED', { name: spec.name, reason: 'no value was given' });
      const feature = this.features[spec.name];
      return feedOf(spec, value, () =>
        feature?.kind === 'ragged' ? (feature.rowMax ?? feature.valuesPerRow) : undefined,
      );
    });
    return { rows: rowsOf(this.specs, feeds), feeds };
  }
}

/**
 * A schema of features, in the order batches have them.
 *
 * ```ts
 * const schema = defineSchema({ label: dense.f32(), user: ragged.i64({ valuesPerRow: 1 }) });
 * const { label, user } = schema.inputs(graph);
 * ```
 */
export function defineSchema<const F extends Features>(features: F): Schema<F> {
  if (Object.keys(features).length === 0) throw new MonolithError('ML_FEED', { name: 'schema', reason: 'it is empty' });
  return new Schema(features);
}

/** ML_OPTION for what `defineSchema` did not make, with `where` it was given. */
export function checkSchema(where: string, schema: unknown): void {
  const { features, specs } = (schema ?? {}) as Partial<Schema<Features>>;
  if (typeof features === 'object' && Array.isArray(specs)) return;
  const hint = 'defineSchema({ … }) makes one';
  throw new MonolithError('ML_OPTION', { where, option: 'schema', reason: 'a schema is needed first' }, { hint });
}

/** The placeholders of a feature by name: one, and one more for the weights of ids. */
function inputsOf(graph: Graph, name: string, feature: Feature, perRow?: number): (readonly [string, Tensor])[] {
  switch (feature.kind) {
    case 'dense':
      return [[name, placeholder(graph, { name, width: feature.width })]];
    case 'ids':
      return [[name, idsPlaceholder(graph, { name, width: feature.width })]];
    case 'ragged': {
      const most = perRow ?? (feature.rowMax === undefined ? feature.valuesPerRow : undefined);
      const room = most === undefined ? { rowMax: feature.rowMax! } : { valuesPerRow: most };
      const ids = raggedPlaceholder(graph, { name, ...room });
      if (feature.weighted !== true) return [[name, ids]];
      const weights = { name: weightsOf(name), width: feature.valuesPerRow };
      return [
        [name, ids],
        [weights.name, placeholder(graph, weights)],
      ];
    }
    default:
      return feature satisfies never;
  }
}

/** The feed of the weights of a feature's ids. */
export const weightsOf = (name: string): string => `${name}/weights`;

function specsOf(name: string, feature: Feature): FeedSpec[] {
  switch (feature.kind) {
    case 'dense':
    case 'ids':
      if (!Number.isInteger(feature.width) || feature.width < 1) {
        const values = feature.kind === 'dense' ? 'floats' : 'integers';
        throw new MonolithError('ML_FEED', { name, reason: `${feature.width} is no number of ${values}` });
      }
      return [{ name, kind: feature.kind, width: feature.width }];
    case 'ragged': {
      if (!(feature.valuesPerRow > 0 && Number.isFinite(feature.valuesPerRow))) {
        throw new MonolithError('ML_FEED', { name, reason: `${feature.valuesPerRow} is no number of ids per example` });
      }
      if (feature.weighted !== true) return [{ name, kind: 'ragged' }];
      return [
        { name, kind: 'ragged' },
        { name: weightsOf(name), kind: 'dense', width: feature.valuesPerRow },
      ];
    }
    default:
      feature satisfies never;
      throw new MonolithError('ML_FEED', { name, reason: 'it is neither dense nor ragged' });
  }
}
