/**
 * @file Batches in shared memory: how the feeds of one step lie there, and how to write and read them.
 *
 * Any thread that knows the schema and the address of the header finds every array of the batch; nothing is copied
 * between threads. Addresses are absolute byte positions in the memory, so WASM kernels use them as they are.
 *
 * ```
 *  header, u32 words:  | 0 rows | 1 pointer count | 2 … pointers in feed order |
 *  dense feed:   one pointer   f32[rows * width]
 *  ids feed:     one pointer   i64[rows * width]
 *  ragged feed:  two pointers  splits i32[rows + 1], from 0;  values i64[splits[rows]]
 * ```
 * The header and every array start at a multiple of 64 bytes: threads that work on different arrays share no line.
 *
 * A batch may lack feeds: their pointers are 0, which is no address. Programs that need them refuse it.
 */
import { MonolithError } from '../base/errors.js';
import { CACHE_LINE } from './arena.js';
import { type Views, view } from './views.js';

/** Words of the header. */
export const BATCH = { rows: 0, pointerCount: 1, pointers: 2 } as const;

export type FeedSpec =
  | { readonly name: string; readonly kind: 'dense'; readonly width: number }
  /** The same number of ids in every row; as many features as it has columns can lie in it side by side. */
  | { readonly name: string; readonly kind: 'ids'; readonly width: number }
  | { readonly name: string; readonly kind: 'ragged' };
export type BatchSchema = readonly FeedSpec[];

export interface DenseData {
  readonly kind: 'dense';
  readonly values: Float32Array;
}
export interface IdsData {
  readonly kind: 'ids';
  readonly values: BigInt64Array;
}
/** Row r holds `values[splits[r]]` up to, but not including, `values[splits[r + 1]]`. */
export interface RaggedData {
  readonly kind: 'ragged';
  readonly splits: Int32Array;
  readonly values: BigInt64Array;
}
export type FeedData = DenseData | IdsData | RaggedData;

export interface BatchData {
  readonly rows: number;
  /** In the order of the schema. */
  readonly feeds: readonly FeedData[];
}

/** A batch that may lack feeds, such as one to predict on, which has no label. */
export interface PartialBatchData {
  readonly rows: number;
  /** In the order of the schema; `undefined` for those it has no values of. */
  readonly feeds: readonly (FeedData | undefined)[];
}

/** What is wrong with `schema`, for an error; null when it is one. */
export function schemaProblem(schema: unknown): string | null {
  if (!Array.isArray(schema)) return schema == null ? 'there is none' : 'it is not a list of feeds';
  const names = new Set<unknown>();
  for (const [index, feed] of (schema as unknown[]).entries()) {
    const { name, kind, width } = (feed ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || name === '') return `feed ${index} has no name`;
    if (names.has(name)) return `two feeds are called ${name}`;
    names.add(name);
    if (kind === 'ragged') continue;
    if (kind !== 'dense' && kind !== 'ids') return `feed ${name} is ${String(kind)}, not dense, ids or ragged`;
    if (!(Number.isSafeInteger(width) && Number(width) > 0)) return `feed ${name} has the width ${String(width)}`;
  }
  return null;
}

/** Rows of a batch, counted in the first feed it has. */
export function rowsOf(schema: BatchSchema, feeds: readonly (FeedData | undefined)[]): number {
  const first = feeds.findIndex((feed) => feed !== undefined);
  const [spec, feed] = [schema[first], feeds[first]];
  if (spec === undefined || feed === undefined) return 0;
  const width = spec.kind === 'ragged' ? 1 : spec.width;
  const rows = feed.kind === 'ragged' ? feed.splits.length - 1 : feed.values.length / width;
  if (Number.isInteger(rows) && rows >= 0) return rows;
  const given = feed.kind === 'ragged' ? 'there are no splits' : `${feed.values.length} values, rows have ${width}`;
  throw misfit(spec.name, `its values do not fill a whole number of rows: ${given}`);
}

/** Number of pointer words a batch of this schema has. */
export function pointerCount(schema: BatchSchema): number {
  return schema.reduce((count, feed) => count + (feed.kind === 'ragged' ? 2 : 1), 0);
}

/** Bytes that a row of the feed has; 0 for a ragged one, whose rows differ. */
export function rowBytes(feed: FeedSpec): number {
  return feed.kind === 'ragged' ? 0 : feed.width * (feed.kind === 'ids' ? 8 : 4);
}

/** Number of values of each ragged feed of a batch; 0 for those it lacks. */
export function valueCountsOf(schema: BatchSchema, feeds: readonly (FeedData | undefined)[]): number[] {
  return schema.flatMap(({ kind }, index) => (kind === 'ragged' ? [feeds[index]?.values.length ?? 0] : []));
}

/** Bytes of a batch of `rows` rows; `valueCounts` has the number of values of each ragged feed, in schema order. */
export function bytesFor(schema: BatchSchema, rows: number, valueCounts: readonly number[]): number {
  let bytes = headerBytes(schema);
  let ragged = 0;
  for (const feed of schema) {
    if (feed.kind !== 'ragged') {
      bytes += padded(rows * rowBytes(feed));
    } else {
      const values = valueCounts[ragged++];
      if (values === undefined) throw misfit(feed.name, 'its number of values is missing');
      bytes += padded((rows + 1) * 4) + padded(values * 8);
    }
  }
  return bytes;
}

/** Writes `data` at `at`, a multiple of 64, and returns the bytes used. The header is written last. */
export function writeBatch(views: Views, at: number, schema: BatchSchema, data: PartialBatchData): number {
  if (data.feeds.length !== schema.length) {
    throw misfit('batch', `it has ${data.feeds.length} feeds and the schema ${schema.length}`);
  }
  if (at % CACHE_LINE !== 0) {
    throw new MonolithError('ML_BOUNDS', { name: 'batch', offset: at, bytes: 0, reason: 'it must start a cache line' });
  }
  const pointers: number[] = [];
  let top = at + headerBytes(schema);
  const take = (bytes: number): number => {
    const start = top;
    pointers.push(start);
    top += padded(bytes);
    return start;
  };
  const first = schema[data.feeds.findIndex((feed) => feed !== undefined)];
  schema.forEach((spec, index) => {
    const feed = data.feeds[index];
    if (feed === undefined) {
      pointers.push(...(spec.kind === 'ragged' ? [0, 0] : [0]));
      return;
    }
    checkFeed(spec, feed, data.rows, first!.name);
    if (feed.kind === 'dense') {
      const { length } = feed.values;
      view(Float32Array, views.buffer, take(length * 4), length, spec.name).set(feed.values);
    } else if (feed.kind === 'ids') {
      const { length } = feed.values;
      view(BigInt64Array, views.buffer, take(length * 8), length, spec.name).set(feed.values);
    } else {
      const { splits, values } = feed;
      const copy = view(Int32Array, views.buffer, take(splits.length * 4), splits.length, spec.name);
      copy.set(splits);
      // Of the copy: another thread may be changing the original, and kernels go where splits lead.
      checkSplits(spec.name, copy, values.length);
      view(BigInt64Array, views.buffer, take(values.length * 8), values.length, spec.name).set(values);
    }
  });
  const header = view(Uint32Array, views.buffer, at, BATCH.pointers + pointers.length, 'batch header');
  header[BATCH.rows] = data.rows;
  header[BATCH.pointerCount] = pointers.length;
  header.set(pointers, BATCH.pointers);
  return top - at;
}

/**
 * Writes the header of a batch of `rows` rows at `at`, whose arrays somebody else fills, and returns their addresses.
 * Not for ragged feeds.
 */
export function layBatchOut(views: Views, at: number, schema: BatchSchema, rows: number): number[] {
  let top = at + headerBytes(schema);
  const pointers = schema.map((feed) => {
    const start = top;
    top += padded(rows * rowBytes(feed));
    return start;
  });
  const header = view(Uint32Array, views.buffer, at, BATCH.pointers + pointers.length, 'batch header');
  header[BATCH.rows] = rows;
  header[BATCH.pointerCount] = pointers.length;
  header.set(pointers, BATCH.pointers);
  return pointers;
}

/** A copy of the batch at `at`. For tests and tools: a step reads the arrays in place. */
export function readBatch(views: Views, at: number, schema: BatchSchema): BatchData {
  const { rows, feeds } = readPartialBatch(views, at, schema);
  const all = feeds.map((feed, index) => {
    if (feed === undefined) throw misfit(schema[index]!.name, 'the batch has no values of it');
    return feed;
  });
  return { rows, feeds: all };
}

/** A copy of a batch that may lack feeds, such as one to predict on. */
export function readPartialBatch(views: Views, at: number, schema: BatchSchema): PartialBatchData {
  const header = view(Uint32Array, views.buffer, at, BATCH.pointers + pointerCount(schema), 'batch header');
  const rows = header[BATCH.rows]!;
  if (header[BATCH.pointerCount] !== pointerCount(schema)) {
    throw misfit('batch', `it has ${header[BATCH.pointerCount]} pointers and the schema ${pointerCount(schema)}`);
  }
  let next = BATCH.pointers;
  const feeds = schema.map((spec): FeedData | undefined => {
    const first = header[next++]!;
    const second = spec.kind === 'ragged' ? header[next++]! : 0;
    if (first === 0) return undefined;
    if (spec.kind === 'dense') {
      return { kind: 'dense', values: view(Float32Array, views.buffer, first, rows * spec.width, spec.name).slice() };
    }
    if (spec.kind === 'ids') {
      return { kind: 'ids', values: view(BigInt64Array, views.buffer, first, rows * spec.width, spec.name).slice() };
    }
    const splits = view(Int32Array, views.buffer, first, rows + 1, spec.name).slice();
    const values = view(BigInt64Array, views.buffer, second, splits[rows]!, spec.name).slice();
    return { kind: 'ragged', splits, values };
  });
  return { rows, feeds };
}

function checkFeed(spec: FeedSpec, feed: FeedData, rows: number, first: string): void {
  if (feed.kind !== spec.kind) throw misfit(spec.name, `it is ${feed.kind} and the schema says ${spec.kind}`);
  if (spec.kind !== 'ragged') {
    if (feed.values.length !== rows * spec.width) throw misfit(spec.name, otherRows(spec, feed, rows, first));
  } else if (feed.kind === 'ragged' && feed.splits.length !== rows + 1) {
    throw misfit(spec.name, otherRows(spec, feed, rows, first));
  }
}

/** The number of rows is that of the batch, which who feeds values knows as that of the first feed. */
function otherRows(spec: FeedSpec, feed: FeedData, rows: number, first: string): string {
  const wanted = `${rows} rows${spec.name === first ? '' : `, as ${first} has`}`;
  if (spec.kind === 'ragged') {
    const { length } = (feed as RaggedData).splits;
    return `ids for ${wanted}, are needed: ${length} splits were given, for ${length - 1} rows`;
  }
  const shape = `${spec.kind === 'ids' ? 'int64' : 'float32'} [${rows}${spec.width === 1 ? '' : `, ${spec.width}`}]`;
  return `${shape} is needed for ${wanted}: ${feed.values.length} values were given`;
}

function checkSplits(name: string, splits: Int32Array, values: number): void {
  const rows = splits.length - 1;
  if (splits[0] !== 0 || splits[rows] !== values) {
    throw misfit(name, `its splits run from ${splits[0]} to ${splits[rows]} over ${values} values`);
  }
  for (let row = 0; row < rows; row++) {
    if (splits[row]! > splits[row + 1]!) throw misfit(name, `its splits fall after row ${row}`);
  }
}

function headerBytes(schema: BatchSchema): number {
  return padded((BATCH.pointers + pointerCount(schema)) * 4);
}

function padded(bytes: number): number {
  return Math.ceil(bytes / CACHE_LINE) * CACHE_LINE;
}

function misfit(name: string, reason: string): MonolithError {
  return new MonolithError('ML_FEED', { name, reason });
}
