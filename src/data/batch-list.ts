/** @file Batches that are made already as a source, which is loaded when it is opened. */
import type { PartialBatchData } from '../memory/batch.js';
import type { BatchSource } from './batch-source.js';

/**
 * A source over batches that are made already: each is one step, in this order.
 *
 * ```ts
 * await estimator.train(batchList([schema.batch({ label: [1, 0], user: [[7n], [8n]] })]), { epochs: 2 });
 * ```
 */
export function batchList(batches: readonly PartialBatchData[]): BatchSource<never> {
  return {
    counted: true,
    open: async (session, options) => {
      const { madeBatches } = await import('./feed-source.js');
      return madeBatches(batches).open(session, options);
    },
  };
}
