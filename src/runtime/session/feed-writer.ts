/**
 * @file Puts feed values of a `run` call into shared memory as a batch, in a region that grows to the largest one seen.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Graph, OpDef, Tensor } from '../../graph/graph.js';
import { Placeholder, type PlaceholderAttrs } from '../../graph/ops/state.js';
import type { Arena } from '../../memory/arena.js';
import { type BatchSchema, bytesFor, type FeedData, rowsOf, valueCountsOf, writeBatch } from '../../memory/batch.js';
import type { Views } from '../../memory/views.js';
import { isDetached, withFixedLength } from '../../memory/whole-array.js';
import { type FeedValue, feedOf } from '../../tensor/feed-values.js';

export type { FeedValue } from '../../tensor/feed-values.js';
/** Values by feed name. */
export type FeedMap = { readonly [name: string]: FeedValue };

export class FeedWriter {
  readonly #views: Views;
  readonly #arena: Arena;
  readonly #schema: BatchSchema;
  /** How many ids a row of each feed may have, as the graph says. */
  readonly #valuesPerRow: readonly (() => number | undefined)[];
  #at = 0;
  #bytes = 0;

  constructor(views: Views, arena: Arena, schema: BatchSchema, graph: Graph) {
    this.#views = views;
    this.#arena = arena;
    this.#schema = schema;
    this.#valuesPerRow = schema.map(
      ({ name }) =>
        () =>
          valuesPerRow(graph, name),
    );
  }

  /**
   * The values of `given` in the order of the schema, in place; which of them a run needs is known when it is compiled.
   */
  read(given: Partial<FeedMap> | ReadonlyMap<Tensor, FeedValue>): readonly (FeedData | undefined)[] {
    if (given === null) throw new MonolithError('ML_FEED', { name: 'batch', reason: 'null is no map of feeds' });
    const feeds = isMap(given) ? byName(given) : given;
    // Unknown names first: of a mistyped one both are true, and this says what was meant.
    for (const name of Object.keys(feeds)) {
      if (!this.#schema.some((spec) => spec.name === name)) throw this.#unknown(name);
    }
    return this.#schema.map((spec, index): FeedData | undefined => {
      const value = feeds[spec.name];
      if (value === undefined) return undefined;
      return whole(spec.name, feedOf(spec, value, this.#valuesPerRow[index]!));
    });
  }

  /** Address of the batch that holds `data`. It is good until the next call. */
  write(data: readonly (FeedData | undefined)[]): number {
    const rows = rowsOf(this.#schema, data);
    const bytes = bytesFor(this.#schema, rows, valueCountsOf(this.#schema, data));
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
export function copyOf(feed: FeedData | undefined): FeedData | undefined {
  switch (feed?.kind) {
    case undefined:
      return undefined;
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

/** Also of another realm. */
function isMap(given: Partial<FeedMap> | ReadonlyMap<Tensor, FeedValue>): given is ReadonlyMap<Tensor, FeedValue> {
  return given instanceof Map || (given as Partial<Map<unknown, unknown>>)[Symbol.toStringTag] === 'Map';
}

function byName(feeds: ReadonlyMap<Tensor, FeedValue>): FeedMap {
  const named = [...feeds].map(([placeholder, value]) => {
    const name = placeholder?.op?.name;
    if (name !== undefined) return [name, value] as const;
    throw new MonolithError('ML_FEED', { name: 'batch', reason: 'a key of the map is no placeholder' });
  });
  return Object.fromEntries(named);
}

/**
 * The arrays as they are now: whoever shares their memory may go on writing to it, but not change what was measured.
 */
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

function valuesPerRow(graph: Graph, name: string): number | undefined {
  const input = graph.ops.find((op) => op.name === name && op.def === (Placeholder as OpDef<never>));
  const attrs = input?.attrs as PlaceholderAttrs | undefined;
  return attrs?.rowMax ?? attrs?.valuesPerRow;
}
