/** @file Puts batches into the memory of a session once, so that steps take them by address. */
import type { Arena } from '../memory/arena.js';
import {
  type BatchSchema,
  bytesFor,
  type FeedData,
  type FeedSpec,
  type PartialBatchData,
  valueCountsOf,
  writeBatch,
} from '../memory/batch.js';
import type { Views } from '../memory/views.js';
import { coreOf, type SessionHandle } from '../runtime/session/session-handle.js';
import { feedOf } from '../tensor/feed-values.js';

/** Where batches go. */
export interface BatchHome {
  readonly views: Views;
  readonly arena: Arena;
  readonly schema: BatchSchema;
}

/**
 * Writes `batches` into the memory of a session, which keeps them to its end, and returns the addresses of their
 * headers. A feed that is `undefined` has no values: runs that need it refuse the batch.
 *
 * ```ts
 * const [first] = loadBatches(session, [{ rows: 1, feeds: [{ kind: 'dense', values: Float32Array.of(1) }] }]);
 * await session.run([loss], first);
 * ```
 */
export function loadBatches(session: SessionHandle, batches: Iterable<PartialBatchData>): number[] {
  return writeBatches(coreOf(session), batches);
}

/** The same in any memory. */
export function writeBatches({ views, arena, schema }: BatchHome, batches: Iterable<PartialBatchData>): number[] {
  const addresses: number[] = [];
  for (const { rows, feeds: given } of batches) {
    const feeds = given.map((feed, index) => inArrays(schema[index], feed));
    const at = arena.alloc(bytesFor(schema, rows, valueCountsOf(schema, feeds)), `batch ${addresses.length}`);
    writeBatch(views, at, schema, { rows, feeds });
    addresses.push(at);
  }
  return addresses;
}

/**
 * Programs in JavaScript may have lists in place of arrays. What is of another kind is left to whoever writes the
 * batch.
 */
function inArrays(spec: FeedSpec | undefined, feed: FeedData | undefined): FeedData | undefined {
  if (feed === undefined || spec?.kind !== feed.kind) return feed;
  return feedOf(spec, feed.kind === 'ragged' ? feed : feed.values, () => undefined);
}
