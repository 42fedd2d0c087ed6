/** @file Columns, an array for each feed over all examples, and batches that are made already, as sources. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { BatchSchema, FeedData, FeedSpec, PartialBatchData } from '../memory/batch.js';
import { rowsOf } from '../memory/batch.js';
import { feedOf } from '../tensor/feed-values.js';
import type { BatchMaker } from './batch-pass.js';
import type { BatchSource } from './batch-source.js';
import { MadeSource } from './made-source.js';

/** Values of all examples by the name of their feed, in the forms that `Session.run` takes. */
export type Columns = { readonly [name: string]: unknown };

/**
 * A source over columns: batches are runs of neighbouring examples. Feeds that are left out have no values, as labels
 * of what is predicted on.
 */
export function columnSource(
  schema: BatchSchema,
  columns: Columns,
  valuesPerRow: (name: string) => number | undefined,
): BatchSource<never> {
  for (const name of Object.keys(columns)) {
    if (schema.some((spec) => spec.name === name)) continue;
    const names = schema.map((spec) => spec.name);
    const hint = didYouMean(name, names) ?? `its features are ${names.join(', ')}`;
    throw new MonolithError('ML_FEED', { name, reason: 'the model has no feature of this name' }, { hint });
  }
  const feeds = schema.map((spec) => {
    const value = columns[spec.name];
    return value === undefined ? undefined : feedOf(spec, value, () => valuesPerRow(spec.name));
  });
  const rows = rowsOf(schema, feeds);
  for (const [index, feed] of feeds.entries()) checkRows(schema[index]!, feed, rows);
  const make = (batchSize: number): BatchMaker<never> => ({
    once: false,
    batchCount: Math.ceil(rows / batchSize),
    pass: () => {
      let at = 0;
      return {
        next: () => {
          if (at >= rows) return undefined;
          const from = at;
          at = Math.min(rows, at + batchSize);
          return { data: slice(schema, feeds, from, at) };
        },
        skip: (batches) => {
          at += batches * batchSize;
        },
      };
    },
  });
  return new MadeSource(({ batchSize }) => make(batchSize), { counted: true });
}

/** A source over batches that are made already: each is one step, in this order. */
export function madeBatches(batches: readonly PartialBatchData[]): BatchSource<never> {
  const maker: BatchMaker<never> = {
    once: false,
    batchCount: batches.length,
    pass: () => {
      let at = 0;
      return {
        next: () => (at < batches.length ? { data: batches[at++]! } : undefined),
        skip: (count) => {
          at += count;
        },
      };
    },
  };
  return new MadeSource(() => maker, { counted: true });
}

function slice(
  schema: BatchSchema,
  feeds: readonly (FeedData | undefined)[],
  from: number,
  to: number,
): PartialBatchData {
  return { rows: to - from, feeds: feeds.map((feed, index) => feed && rowsFrom(schema[index]!, feed, from, to)) };
}

/** Columns are of one length: an array that is longer would lose examples in silence. */
function checkRows(spec: FeedSpec, feed: FeedData | undefined, rows: number): void {
  if (feed === undefined || rowsOf([spec], [feed]) === rows) return;
  const reason = `it has ${rowsOf([spec], [feed])} rows, and the first column has ${rows}`;
  throw new MonolithError('ML_FEED', { name: spec.name, reason });
}

function rowsFrom(spec: FeedSpec, feed: FeedData, from: number, to: number): FeedData {
  if (feed.kind === 'ragged') {
    const splits = feed.splits.slice(from, to + 1);
    const [first = 0, last = 0] = [splits[0], splits.at(-1)];
    for (let row = 0; row < splits.length; row++) splits[row]! -= first;
    return { kind: 'ragged', splits, values: feed.values.subarray(first, last) };
  }
  const width = spec.kind === 'ragged' ? 1 : spec.width;
  const [begin, end] = [from * width, to * width];
  if (feed.kind === 'ids') return { kind: 'ids', values: feed.values.subarray(begin, end) };
  return { kind: 'dense', values: feed.values.subarray(begin, end) };
}
