/** @file Puts feed values of a `run` call into shared memory as a batch, in a region that grows to the largest one seen. */
import { MonolithError } from '../base/errors.js';
import type { Arena } from '../memory/arena.js';
import { type BatchSchema, bytesFor, type FeedData, type RaggedData, writeBatch } from '../memory/batch.js';
import type { Views } from '../memory/views.js';

/** Values by feed name: a float array for a dense feed, splits and values for a ragged one. */
export type FeedMap = { readonly [name: string]: Float32Array | Pick<RaggedData, 'splits' | 'values'> };

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

  /** Address of the batch that holds `feeds`. It is good until the next call. */
  write(feeds: FeedMap): number {
    const data = this.#schema.map((spec): FeedData => {
      const value = feeds[spec.name];
      if (value === undefined) throw new MonolithError('ML_FEED', { name: spec.name, reason: 'no value was given' });
      return feedData(spec.name, value);
    });
    for (const name of Object.keys(feeds)) {
      if (!this.#schema.some((spec) => spec.name === name)) {
        throw new MonolithError('ML_FEED', { name, reason: 'the input has no feed of this name' });
      }
    }
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
}

/** Programs in JavaScript get no help from the compiler: say what is expected before something else breaks. */
function feedData(name: string, value: FeedMap[string]): FeedData {
  if (value instanceof Float32Array) return { kind: 'dense', values: value };
  const { splits, values } = value;
  if (splits instanceof Int32Array && values instanceof BigInt64Array) return { kind: 'ragged', splits, values };
  const reason = 'a Float32Array is needed, or { splits: Int32Array, values: BigInt64Array } for ids';
  throw new MonolithError('ML_FEED', { name, reason });
}

function rowsOf(schema: BatchSchema, data: readonly FeedData[]): number {
  const first = data[0];
  const spec = schema[0];
  if (first === undefined || spec === undefined) return 0;
  if (first.kind === 'ragged') return first.splits.length - 1;
  return spec.kind === 'dense' ? first.values.length / spec.width : first.values.length;
}
