/**
 * @file A data set as plain data: files, what their cells are made into, what is done to the rows. A thread that reads
 * them is told this. What has functions of a program in it has no such form, and its rows are made the slow way.
 */
import type { MonolithError } from '../../base/errors.js';
import type { Field } from '../field.js';
import { type FileOptions, type Format, formatOf } from '../files/file-rows.js';
import { STDIN } from '../files/read-bytes.js';
import { functionOf, type KnownFunction, nameOfFunction } from '../known-functions.js';
import type { RowStep } from '../row-step.js';
import { type Feature, type Features, Schema } from '../schema.js';
import { stepsInOrder } from './row-stream.js';

/** A feature whose functions are names. */
interface PlainFeature {
  readonly feature: Feature;
  readonly map: KnownFunction | undefined;
}

export interface QuickPlan {
  readonly files: readonly string[];
  readonly options: FileOptions;
  readonly features: readonly (readonly [name: string, feature: PlainFeature])[];
  readonly steps: readonly RowStep[];
  /** Texts that are missing values, by column. */
  readonly nulls: Readonly<Record<string, readonly string[]>>;
  /** Where parsed rows are kept; undefined: nowhere. */
  readonly cache?: { readonly dir?: string | undefined } | undefined;
}

/** What reading in another thread found out, for the data set it belongs to. */
export interface QuickFindings {
  readonly badRows: number;
  readonly badRowErrors: readonly MonolithError[];
}

/** Formats that are decoded from bytes. */
const QUICK_FORMATS = ['csv', 'jsonl', 'parquet', 'tfrecord'] as const satisfies readonly Format[];
type QuickFormat = (typeof QUICK_FORMATS)[number];

/** The format of a file; undefined of one whose rows are made the slow way. */
export function quickFormat(file: string, options: FileOptions): QuickFormat | undefined {
  const format = formatOf(file, options);
  return QUICK_FORMATS.find((known) => known === format);
}

/** Marks between ids that are one byte, and no quote nor white space but a space. */
const MARK = /^[\x20!#-~]$/;

export interface QuickGiven {
  readonly files: readonly string[];
  readonly options: FileOptions;
  readonly schema: Schema<Features>;
  readonly steps: readonly RowStep[];
  readonly nulls?: QuickPlan['nulls'];
  readonly cache?: QuickPlan['cache'];
}

/** The plan; undefined where something of it is known to the slow way alone. */
export function quickPlan({ files, options, schema, steps, nulls = {}, cache }: QuickGiven): QuickPlan | undefined {
  if (files.length === 0 || files.includes(STDIN)) return undefined;
  if (files.some((file) => quickFormat(file, options) === undefined)) return undefined;
  const order = stepsInOrder(steps);
  if (order === undefined) return undefined;
  const hasNames = files.every((file) => quickFormat(file, options) !== 'csv');
  const features: [string, PlainFeature][] = [];
  for (const [name, feature] of Object.entries(schema.features)) {
    // A cell of CSV is one value.
    const isWide = feature.kind !== 'ragged' && feature.width !== 1;
    const plain = isWide && !hasNames ? undefined : plainFeature(feature);
    if (plain === undefined) return undefined;
    features.push([name, plain]);
  }
  // What is said of missing texts in CSV is not said of other files.
  if (options.nulls !== undefined && files.some((file) => quickFormat(file, options) !== 'csv')) return undefined;
  // Texts that mean nothing is there would have to be compared with both spellings of a number.
  const texts = [...(options.nulls ?? []), ...Object.values(nulls).flat()];
  if (options.decimalComma !== false && texts.some((text) => /[.,]/.test(text))) return undefined;
  return { files, options, features, steps, nulls, cache };
}

function plainFeature(feature: Feature): PlainFeature | undefined {
  const { field } = feature;
  if (field === undefined) return { feature, map: undefined };
  const { map, parse, ...rest } = field as Field & { readonly map?: unknown; readonly parse?: unknown };
  if (parse !== undefined) return undefined;
  const name = nameOfFunction(map);
  if (map !== undefined && name === undefined) return undefined;
  if (field.role === 'ids') {
    const { split, weights } = field;
    if (!MARK.test(split) || (weights !== undefined && !(typeof weights === 'string' && MARK.test(weights)))) {
      return undefined;
    }
  }
  if (name !== undefined && (name === 'signedLog') !== (field.role === 'number')) return undefined;
  if (name !== undefined && field.role === 'label') return undefined;
  return { feature: { ...feature, field: rest } as Feature, map: name };
}

/** The schema of a plan, with its functions. */
export function schemaOf({ features }: Pick<QuickPlan, 'features'>): Schema<Features> {
  return new Schema(Object.fromEntries(features.map(([name, plain]) => [name, withFunctions(plain)])));
}

function withFunctions({ feature, map }: PlainFeature): Feature {
  if (feature.field === undefined) return feature;
  const made = map === undefined ? undefined : functionOf(map);
  const { parse, ...field } = { parse: undefined, ...feature.field };
  return { ...feature, field: { parse, ...field, map: made } as Field } as Feature;
}
