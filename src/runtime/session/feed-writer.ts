/** @file Puts feed values of a `run` call into shared memory as a batch, in a region that grows to the largest one seen. */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Tensor } from '../../graph/graph.js';
import type { Arena } from '../../memory/arena.js';
import { type BatchSchema, bytesFor, type FeedData, type RaggedData, writeBatch } from '../../memory/batch.js';
import type { Views } from '../../memory/views.js';
import { isDetached, withFixedLength } from '../../memory/whole-array.js';
import { RaggedTensor } from '../../tensor/ragged-tensor.js';
import { Tensor as DenseTensor } from '../../tensor/tensor.js';

/** A float array or tensor for a dense feed, int64 for one of ids, splits and values or a ragged tensor of int64 for a ragged one. */
export type FeedValue =
  | Float32Array
  | BigInt64Array
  | DenseTensor
  | Pick<RaggedData, 'splits' | 'values'>
  | RaggedTensor;
/** Values by feed name. */
export type FeedMap = { readonly [name: string]: FeedValue };

export class FeedWriter {
  readonly #views: Views;
  readonly #arena: Arena;
  readonly #schema: BatchSchema;
  #at = 0;
  #bytes = 0;

  constructor(views: Views, arena: Arena, schema: BatchSchema) {
    this.#views = views;
    this.#arena = arena;
    this.#schema = schema;
  }

  /** The values of `given` in the order of the schema, in place. */
  read(given: FeedMap | ReadonlyMap<Tensor, FeedValue>): readonly FeedData[] {
    if (given === null) throw new MonolithError('ML_FEED', { name: 'batch', reason: 'null is no map of feeds' });
    const feeds = given instanceof Map ? byName(given) : (given as FeedMap);
    // Unknown names first: of a mistyped one both are true, and this says what was meant.
    for (const name of Object.keys(feeds)) {
      if (!this.#schema.some((spec) => spec.name === name)) throw this.#unknown(name);
    }
    return this.#schema.map((spec): FeedData => {
      const value = feeds[spec.name];
      if (value === undefined) throw new MonolithError('ML_FEED', { name: spec.name, reason: 'no value was given' });
      return whole(spec.name, feedData(spec.name, value));
    });
  }

  /** Address of the batch that holds `data`. It is good until the next call. */
  write(data: readonly FeedData[]): number {
    const rows = rowsOf(this.#schema, data);
    if (!Number.isInteger(rows) || rows < 0) {
      const name = this.#schema[0]!.name;
      throw new MonolithError('ML_FEED', { name, reason: 'its values do not fill a whole number of rows' });
    }
    const valueCounts = data.flatMap((feed) => (feed.kind === 'ragged' ? [feed.values.length] : []));
    const bytes = bytesFor(this.#schema, rows, valueCounts);
    if (bytes > this.#bytes) {
      // The old region is lost: growing at least twofold keeps the sum of all below twice the last.
      const grown = Math.max(bytes, 2 * this.#bytes);
      this.#at = this.#arena.alloc(grown, 'feeds');
      this.#bytes = grown;
    }
    writeBatch(this.#views, this.#at, this.#schema, { rows, feeds: data });
    return this.#at;
  }

  #unknown(name: string): MonolithError {
    const names = this.#schema.map((spec) => spec.name);
    const hint = didYouMean(name, names) ?? (names.length === 0 ? 'it has no feeds' : `it has ${names.join(', ')}`);
    return new MonolithError('ML_FEED', { name, reason: 'the input has no feed of this name' }, { hint });
  }
}

/** The same values in memory of their own. */
export function copyOf(feed: FeedData): FeedData {
  switch (feed.kind) {
    case 'dense':
      return { ...feed, values: feed.values.slice() };
    case 'ids':
      return { ...feed, values: feed.values.slice() };
    case 'ragged':
      return { ...feed, splits: feed.splits.slice(), values: feed.values.slice() };
    default:
      return feed satisfies never;
  }
}

function byName(feeds: ReadonlyMap<Tensor, FeedValue>): FeedMap {
  const named = [...feeds].map(([placeholder, value]) => {
    const name = placeholder?.op?.name;
    if (name !== undefined) return [name, value] as const;
    throw new MonolithError('ML_FEED', { name: 'batch', reason: 'a key of the map is no placeholder' });
  });
  return Object.fromEntries(named);
}

/** Programs in JavaScript get no help from the compiler: say what is expected before something else breaks. */
function feedData(name: string, value: FeedValue): FeedData {
  if (value instanceof Float32Array) return { kind: 'dense', values: value };
  if (value instanceof BigInt64Array) return { kind: 'ids', values: value };
  if (value instanceof DenseTensor) {
    if (value.data instanceof Float32Array) return { kind: 'dense', values: value.data };
    if (value.data instanceof BigInt64Array) return { kind: 'ids', values: value.data };
    throw new MonolithError('ML_FEED', { name, reason: `a dense feed is float32, not ${value.dtype}` });
  }
  if (value instanceof RaggedTensor) return raggedData(name, value);
  const { splits, values } = (value ?? {}) as Partial<RaggedData>;
  if (splits instanceof Int32Array && values instanceof BigInt64Array) return { kind: 'ragged', splits, values };
  const reason = 'a Float32Array is needed, a BigInt64Array or { splits: Int32Array, values: BigInt64Array } for ids';
  throw new MonolithError('ML_FEED', { name, reason });
}

/** The arrays as they are now: whoever shares their memory may go on writing to it, but not change what was measured. */
function whole(name: string, feed: FeedData): FeedData {
  const splits = feed.kind === 'ragged' ? feed.splits : undefined;
  if (isDetached(feed.values) || (splits && isDetached(splits))) {
    const hint = 'feed an array before its buffer is transferred, or a copy of it';
    throw new MonolithError(
      'ML_FEED',
      { name, reason: 'its array has no memory any more: it was transferred' },
      { hint },
    );
  }
  if (feed.kind === 'dense') return { kind: 'dense', values: withFixedLength(feed.values) };
  if (feed.kind === 'ids') return { kind: 'ids', values: withFixedLength(feed.values) };
  return { kind: 'ragged', splits: withFixedLength(feed.splits), values: withFixedLength(feed.values) };
}

function raggedData(name: string, { values, rowSplits, rank }: RaggedTensor): FeedData {
  const ids = values instanceof DenseTensor && rank === 2 ? values.data : undefined;
  if (!(ids instanceof BigInt64Array)) {
    throw new MonolithError('ML_FEED', { name, reason: 'a ragged feed has one int64 id per value' });
  }
  return { kind: 'ragged', splits: Int32Array.from(rowSplits.data, Number), values: ids };
}

function rowsOf(schema: BatchSchema, data: readonly FeedData[]): number {
  const first = data[0];
  const spec = schema[0];
  if (first === undefined || spec === undefined) return 0;
  if (first.kind === 'ragged') return first.splits.length - 1;
  return spec.kind === 'ragged' ? first.values.length : first.values.length / spec.width;
}
