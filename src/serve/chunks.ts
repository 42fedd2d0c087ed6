/** @file Rows to predict on, cut so that each part fits what a session has room for, and encoded. */
import { MonolithError } from '../base/errors.js';
import { encodeRows } from '../data/encode-rows.js';
import type { Row } from '../data/row.js';
import type { Features, Schema } from '../data/schema.js';
import type { FeedMap } from '../runtime/session/feed-writer.js';
import type { Session } from '../runtime/session/session.js';

/** Rows as they are fed. */
export interface EncodedChunk {
  readonly feeds: Partial<FeedMap>;
  readonly count: number;
}

interface Ragged {
  readonly splits: Int32Array;
}

/**
 * Parts of `rows` in order. A batch has room for so many examples, and for so many ids of each feature: rows with many
 * ids are computed with fewer others. ML_FEED for one that is too long by itself, where that is a limit and no guess.
 */
export function* chunksOf<F extends Features>(
  schema: Schema<F>,
  rows: readonly Row<F>[],
  { batchSize }: Pick<Session, 'batchSize'>,
  partial = false,
): Generator<EncodedChunk> {
  const room = raggedRoom(schema, batchSize);
  for (let from = 0; from < rows.length; from += batchSize) {
    const some = rows.slice(from, from + batchSize);
    yield* fitting(schema, some, from, { room, partial });
  }
}

interface Fit {
  readonly room: ReadonlyMap<string, number>;
  /** Whether columns may be absent. */
  readonly partial: boolean;
}

/** Halved until all ids have room. */
function* fitting<F extends Features>(
  schema: Schema<F>,
  rows: readonly Row<F>[],
  firstRow: number,
  fit: Fit,
): Generator<EncodedChunk> {
  const { room, partial } = fit;
  const { feeds } = encodeRows(schema, rows, { labels: false, partial, firstRow });
  const given = feeds as Readonly<Record<string, unknown>>;
  const long = [...room].find(([name, most]) => ((given[name] as Ragged | undefined)?.splits[rows.length] ?? 0) > most);
  const isOpen = ([name]: readonly [string, number]) =>
    (schema.features[name] as { readonly rowMax?: number }).rowMax !== undefined;
  if (long === undefined || (rows.length === 1 && isOpen(long))) {
    yield { feeds: feeds as Partial<FeedMap>, count: rows.length };
    return;
  }
  if (rows.length === 1) {
    const reason = `row ${firstRow} has more than ${long[1]} ids`;
    throw new MonolithError('ML_FEED', { name: long[0], reason }, { hint: 'raise batchSize, or give fewer ids' });
  }
  const half = rows.length >> 1;
  yield* fitting(schema, rows.slice(0, half), firstRow, fit);
  yield* fitting(schema, rows.slice(half), firstRow + half, fit);
}

/** The room of a schema for the rows it was asked about last: a server asks with each request. */
const rooms = new WeakMap<object, readonly [rows: number, room: ReadonlyMap<string, number>]>();

/** Ids that a part of a batch of so many rows has room for, by feature. */
export function raggedRoom(schema: Schema<Features>, rows: number): ReadonlyMap<string, number> {
  const [known, room] = rooms.get(schema) ?? [];
  if (known === rows) return room!;
  const made = new Map(
    Object.entries(schema.features).flatMap(([name, feature]) =>
      feature.kind === 'ragged' ? [[name, Math.floor(rows * feature.valuesPerRow)] as const] : [],
    ),
  );
  rooms.set(schema, [rows, made]);
  return made;
}
