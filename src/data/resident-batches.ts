/** @file Puts batches into the memory of a session once, so that steps take them by address. */
import type { Arena } from '../memory/arena.js';
import { type BatchData, type BatchSchema, bytesFor, writeBatch } from '../memory/batch.js';
import type { Views } from '../memory/views.js';

/** Where batches go; a session is one. */
export interface BatchHome {
  readonly views: Views;
  readonly arena: Arena;
  readonly schema: BatchSchema;
}

/**
 * Writes `batches` into the arena, which keeps them to its end, and returns the addresses of their headers.
 *
 * ```ts
 * const [first] = loadBatches(session, [{ rows: 1, feeds: [{ kind: 'dense', values: Float32Array.of(1) }] }]);
 * await session.run([loss], first);
 * ```
 */
export function loadBatches({ views, arena, schema }: BatchHome, batches: Iterable<BatchData>): number[] {
  const addresses: number[] = [];
  for (const batch of batches) {
    const valueCounts = batch.feeds.flatMap((feed) => (feed.kind === 'ragged' ? [feed.values.length] : []));
    const at = arena.alloc(bytesFor(schema, batch.rows, valueCounts), `batch ${addresses.length}`);
    writeBatch(views, at, schema, batch);
    addresses.push(at);
  }
  return addresses;
}
