/** @file Data sets of the reader thread as a source of batches. */
import { crc32c } from '../base/crc32c.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import type { BatchInput, BatchSource, OpenBatches } from './batch-source.js';
import { DataReader } from './data-reader.js';
import type { DatasetSource } from './dataset-source.js';
import { AT_START, beginOf, type InputBegin, placeState } from './input-place.js';
import { endOfData } from './placed-batches.js';

/** Limit for one batch. */
const BATCH_TIMEOUT_MS = 60_000;

/**
 * A source whose batches a thread of its own reads into shared memory. A training without an end of its own, by steps,
 * goes on with the batch that would have come next had it never stopped: that of the global step.
 *
 * ```ts
 * await estimator.train(readerSource(dataset), { steps: 1000 });
 * ```
 */
export function readerSource(dataset: DatasetSource): BatchSource<never> {
  return { counted: true, open: (session, options) => openReader(session, dataset, options) };
}

async function openReader(
  session: Session,
  dataset: DatasetSource,
  { epochs, mode }: OpenBatches,
): Promise<BatchInput<never>> {
  const startBatch = mode === 'train' && epochs === Number.POSITIVE_INFINITY ? session.globalStep : 0;
  const reader = await DataReader.start({ session, dataset, startBatch });
  const { main, names } = coreOf(session).trace;
  const depth = names.id('batches waiting');
  const { batchCount } = reader.batches;
  const identity = { data: crc32c(Buffer.from(JSON.stringify(dataset.options ?? null, asText))), epochs };
  let next = startBatch;
  let begin: InputBegin = AT_START;
  return {
    batchCount,
    batchesAhead: reader.batchesAhead,
    get begin() {
      return begin;
    },
    next: () => {
      if (next >= epochs * batchCount) throw endOfData();
      next++;
      main?.counter(depth, reader.depth, main.now());
      return reader.next(BATCH_TIMEOUT_MS);
    },
    saveState: (unused) => {
      const { batch: at } = reader.saveState(unused);
      return placeState(identity, { pass: Math.floor(at / batchCount), batch: at % batchCount });
    },
    restoreState: async (state) => {
      const found = beginOf(state, identity);
      const batch = found.pass * batchCount + found.batch;
      begin = batch >= epochs * batchCount ? AT_START : found;
      if (batch === next || begin === AT_START || begin.isOther) return;
      await reader.restoreState({ batch });
      next = batch;
    },
    close: () => reader.close(),
  };
}

const asText = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
