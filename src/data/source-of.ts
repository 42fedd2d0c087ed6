/** @file What programs have at hand, rows, columns, data sets, as a source of batches for a schema. */
import { MonolithError } from '../base/errors.js';
import type { Mode } from '../graph/mode.js';
import type { BatchSchema } from '../memory/batch.js';
import { feedOf } from '../tensor/feed-values.js';
import { type BatchInput, type BatchSource, isBatchSource } from './batch-source.js';
import { Dataset } from './dataset.js';
import type { DatasetSource } from './dataset-source.js';
import { encodeRows } from './encode-rows.js';
import { type Columns, columnSource } from './feed-source.js';
import { type DataRow, hasColumn } from './files/place.js';
import { encodePlainRows } from './plain-rows.js';
import { quickPlan } from './quick/quick-plan.js';
import { readerSource } from './reader-source.js';
import type { Row } from './row.js';
import { type EncodeRows, type RowsGiven, rowSource } from './row-source.js';
import { type Features, type RaggedFeature, Schema } from './schema.js';

/** What an estimator takes for data. */
export type DataGiven<Row, Values extends Columns = Columns> =
  | RowsGiven<Row>
  | Values
  | BatchSource<Row>
  | DatasetSource;

/** A schema as far as data is concerned. */
export interface DataSchema {
  readonly specs: BatchSchema;
  readonly features?: { readonly [name: string]: object };
}

/** ML_DATASET for what is no data, with `where` it was given. */
export function sourceOf<Given>(where: string, schema: DataSchema, data: DataGiven<Given>): BatchSource<Given> {
  if (isBatchSource(data)) return data as BatchSource<Given>;
  if (data instanceof Dataset && schema instanceof Schema)
    return datasetSource<Given>(data as Dataset & RowsGiven<Given>, schema);
  if (isRows(data)) return rowSource(data as RowsGiven<Given>, (mode) => encoderOf(schema, mode));
  if (isDataset(data)) return readerSource(data) as BatchSource<never> as BatchSource<Given>;
  if (isColumns(data)) {
    const perRow = (name: string) => {
      const { valuesPerRow, rowMax } = (schema.features?.[name] ?? {}) as Partial<RaggedFeature>;
      return rowMax ?? valuesPerRow;
    };
    return columnSource(schema.specs, data, perRow) as BatchSource<never> as BatchSource<Given>;
  }
  const reason = `${where} was given ${described(data)}`;
  const hint = 'give rows as objects in a list, an iterable or a function that returns one, columns, or a data set';
  throw new MonolithError('ML_DATASET', { reason }, { hint });
}

/** Files are read by a thread of their own where that thread can do all there is to do; else rows are made here. */
function datasetSource<Given>(dataset: Dataset & RowsGiven<Given>, schema: Schema<Features>): BatchSource<Given> {
  const slow = rowSource<Given>(dataset, (mode) => encoderOf(schema, mode));
  const described = dataset.describe();
  const plan = described && quickPlan({ ...described, schema });
  if (plan === undefined) {
    if (dataset.isCached) warnUncached();
    return slow;
  }
  return {
    open: async (session, options) => {
      // Who predicts wants the rows back.
      if (options.mode === 'predict') return slow.open(session, options);
      const { openQuick } = await import('./quick/quick-source.js');
      return openQuick(session, plan, options, described!.findings) as Promise<BatchInput<Given>>;
    },
  };
}

function warnUncached(): void {
  const what = 'its rows go through functions of the program, or its files are none that a thread reads';
  process.emitWarning(`cache of parsed rows: nothing is kept: ${what}`, { code: 'ML_CACHE', type: 'MonolithWarning' });
}

/** Rows of a schema are raw values; those of a task, which has specs of feeds alone, are what is fed. */
export function encoderOf(schema: DataSchema, mode: Mode): EncodeRows<unknown> {
  if (!(schema instanceof Schema)) return (rows, firstRow) => encodePlainRows(schema.specs, rows, firstRow);
  const labels = mode !== 'predict';
  // The first rows tell which columns there are; later ones may lack any, since records have names of their own.
  let partial = false;
  return (rows, firstRow) => {
    const given = rows as readonly Row<Features>[];
    const wanted = labels ? schema : withoutAbsent(schema, given);
    const encoded = encodeRows(wanted, given, { labels, firstRow, partial });
    partial ||= encoded.rows > 0;
    const values = encoded.feeds as Readonly<Record<string, unknown>>;
    const feeds = schema.specs.map((spec) => {
      const value = values[spec.name];
      return value === undefined ? undefined : feedOf(spec, value, () => undefined);
    });
    return { rows: encoded.rows, feeds };
  };
}

/** Without plain floats that no row has: one of them may be the label, which the model alone knows. */
function withoutAbsent(schema: Schema<Features>, rows: readonly Row<Features>[]): Schema<Features> {
  const isThere = ([name, { kind, field }]: readonly [string, Features[string]]) =>
    kind !== 'dense' ||
    field !== undefined ||
    rows.some((row) => typeof row === 'object' && row !== null && hasColumn(row as DataRow, name));
  const features = Object.entries(schema.features);
  const there = features.filter(isThere);
  return there.length === features.length ? schema : new Schema(Object.fromEntries(there));
}

function isRows(data: unknown): boolean {
  if (typeof data === 'function' || Array.isArray(data)) return true;
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return false;
  const found = data as Partial<Iterable<unknown> & AsyncIterable<unknown>>;
  return typeof found[Symbol.iterator] === 'function' || typeof found[Symbol.asyncIterator] === 'function';
}

function isDataset(data: unknown): data is DatasetSource {
  const { module, bytes } = (data ?? {}) as { readonly module?: unknown; readonly bytes?: unknown };
  return typeof module === 'string' && typeof bytes === 'number';
}

function isColumns(data: unknown): data is Columns {
  return typeof data === 'object' && data !== null && !ArrayBuffer.isView(data);
}

function described(data: unknown): string {
  if (typeof data === 'string') return `'${data}', a text`;
  if (ArrayBuffer.isView(data)) return 'one array, of which feature is not said';
  return data === null || data === undefined ? `no data: ${String(data)}` : `${typeof data} ${String(data)}`;
}
