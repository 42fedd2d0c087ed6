/**
 * @file Rows as arrays by feed, all in memory: what an epoch is drawn from, in any order, without reading a file again.
 */
import type { BatchSchema, FeedData, FeedSpec, PartialBatchData } from '../memory/batch.js';

/** Arrays of one feed that grow by pieces. */
interface Pieces {
  readonly values: (Float32Array | BigInt64Array)[];
  /** Of ragged feeds: where rows end, within the piece. */
  readonly splits: Int32Array[];
}

/** Collects encoded rows; `end` makes one table of them. */
export class TableBuilder {
  readonly #schema: BatchSchema;
  readonly #pieces: readonly Pieces[];
  rows = 0;
  bytes = 0;

  constructor(schema: BatchSchema) {
    this.#schema = schema;
    this.#pieces = schema.map(() => ({ values: [], splits: [] }));
  }

  add({ rows, feeds }: PartialBatchData): void {
    this.rows += rows;
    for (const [index, feed] of feeds.entries()) {
      if (feed === undefined) continue;
      const { values, splits } = this.#pieces[index]!;
      values.push(feed.values as Float32Array | BigInt64Array);
      this.bytes += feed.values.byteLength;
      if (feed.kind === 'ragged') splits.push(feed.splits);
    }
  }

  end(): EncodedTable {
    return new EncodedTable(
      this.#schema,
      this.#schema.map((spec, index) => joined(spec, this.#pieces[index]!)),
      this.rows,
    );
  }
}

function joined(spec: FeedSpec, { values, splits }: Pieces): FeedData {
  const length = values.reduce((sum, piece) => sum + piece.length, 0);
  if (spec.kind === 'dense') return { kind: 'dense', values: copied(new Float32Array(length), values) };
  const ids = copied(new BigInt64Array(length), values);
  if (spec.kind === 'ids') return { kind: 'ids', values: ids };
  const all = new Int32Array(splits.reduce((sum, piece) => sum + piece.length - 1, 1));
  let [row, base] = [0, 0];
  for (const piece of splits) {
    for (let at = 1; at < piece.length; at++) all[++row] = base + piece[at]!;
    base += piece.at(-1)!;
  }
  return { kind: 'ragged', splits: all, values: ids };
}

function copied<A extends Float32Array | BigInt64Array>(to: A, pieces: readonly (Float32Array | BigInt64Array)[]): A {
  let at = 0;
  for (const piece of pieces) {
    (to as Float32Array).set(piece as Float32Array, at);
    at += piece.length;
  }
  return to;
}

export class EncodedTable {
  readonly schema: BatchSchema;
  readonly feeds: readonly FeedData[];
  readonly rows: number;

  constructor(schema: BatchSchema, feeds: readonly FeedData[], rows: number) {
    this.schema = schema;
    this.feeds = feeds;
    this.rows = rows;
  }

  /** The arrays of a feed. */
  feed(name: string): FeedData {
    return this.feeds[this.schema.findIndex((spec) => spec.name === name)]!;
  }

  /** The floats of a feed, such as the label. */
  floats(name: string): Float32Array {
    return this.feed(name).values as Float32Array;
  }

  /** Some of the rows, in the order of `indices`. */
  gather(indices: Uint32Array): PartialBatchData {
    const feeds = this.schema.map((spec, index) => gathered(spec, this.feeds[index]!, indices));
    return { rows: indices.length, feeds };
  }
}

function gathered(spec: FeedSpec, feed: FeedData, indices: Uint32Array): FeedData {
  if (feed.kind === 'ragged') return gatheredRagged(feed, indices);
  const width = spec.kind === 'ragged' ? 1 : spec.width;
  if (feed.kind === 'ids') return { kind: 'ids', values: pickedIds(feed.values as BigInt64Array, indices, width) };
  return { kind: 'dense', values: pickedFloats(feed.values as Float32Array, indices, width) };
}

/** The same as the one for floats below: a loop that sees arrays of one type alone takes a third of the time. */
function pickedIds(from: BigInt64Array, indices: Uint32Array, width: number): BigInt64Array {
  const to = new BigInt64Array(indices.length * width);
  for (let row = 0, at = 0; row < indices.length; row++) {
    const start = indices[row]! * width;
    for (let column = 0; column < width; column++) to[at++] = from[start + column]!;
  }
  return to;
}

function pickedFloats(from: Float32Array, indices: Uint32Array, width: number): Float32Array {
  const to = new Float32Array(indices.length * width);
  for (let row = 0, at = 0; row < indices.length; row++) {
    const start = indices[row]! * width;
    for (let column = 0; column < width; column++) to[at++] = from[start + column]!;
  }
  return to;
}

function gatheredRagged(
  { splits, values }: { readonly splits: ArrayLike<number>; readonly values: ArrayLike<bigint> },
  indices: Uint32Array,
): FeedData {
  const ends = new Int32Array(indices.length + 1);
  for (let row = 0; row < indices.length; row++) {
    const index = indices[row]!;
    ends[row + 1] = ends[row]! + splits[index + 1]! - splits[index]!;
  }
  const ids = new BigInt64Array(ends[indices.length]!);
  for (let row = 0, at = 0; row < indices.length; row++) {
    const index = indices[row]!;
    for (let from = splits[index]!; from < splits[index + 1]!; from++) ids[at++] = values[from]!;
  }
  return { kind: 'ragged', splits: ends, values: ids };
}
