/** @file Opens a plan of files as batches in the memory of a session: a thread reads, decodes and writes them. */
import { statSync } from 'node:fs';
import { crc32c } from '../../base/crc32c.js';
import { fromWireError, type WireError } from '../../base/error-wire.js';
import { MonolithError } from '../../base/errors.js';
import { IDS_PER_ROW } from '../../graph/ops/state.js';
import { bytesFor } from '../../memory/batch.js';
import { compileKernels } from '../../runtime/backends/wasm/load-kernels.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { BatchInput, OpenBatches } from '../batch-source.js';
import type { CacheFound } from '../cache/block-cache.js';
import { DataReader } from '../data-reader.js';
import type { DatasetSource } from '../dataset-source.js';
import type { CsvForm } from '../files/csv-options.js';
import type { Findings } from '../files/file-rows.js';
import { AT_START, beginOf, type InputBegin, placeState } from '../input-place.js';
import { BATCH_OF_FILES, type QuickOptions } from './quick-dataset.js';
import { type QuickPlan, schemaOf } from './quick-plan.js';

/** Limit for one batch: a long line of a slow disk, or many rows that are left out. */
const BATCH_TIMEOUT_MS = 300_000;
/** Bytes of batches that wait, and as many again of those in use. */
const AHEAD_BYTES = 16 << 20;
const [AHEAD_MIN, AHEAD_MAX] = [2, 63];
const REGION_BYTES = 64 << 20;
/** Share of the free memory of a session that batches may take. */
const FREE_SHARE = 2;

/**
 * A training without an end of its own, by steps, goes on with the batch that would have come next had it never
 * stopped: that of the global step.
 */
export async function openQuick(
  session: Session,
  plan: QuickPlan,
  { batchSize, epochs, mode }: OpenBatches,
  findings: Findings,
): Promise<BatchInput<never>> {
  const { arena, trace } = coreOf(session);
  const { specs } = schemaOf(plan);
  const ids = specs.flatMap(({ kind }) => (kind === 'ragged' ? [batchSize * IDS_PER_ROW] : []));
  const batchBytes = bytesFor(specs, batchSize, ids);
  const ahead = Math.min(Math.max(Math.floor(AHEAD_BYTES / batchBytes), AHEAD_MIN), AHEAD_MAX);
  const wanted = Math.max(REGION_BYTES, 2 * (ahead + 1) * batchBytes);
  const module = await compileKernels();
  const startReader = (most: number, from: number): Promise<DataReader> => {
    const bytes = Math.floor(Math.min(most, arena.free / FREE_SHARE) / 64) * 64;
    const options: QuickOptions = { plan, module, batchSize, epochs, bytes, ahead };
    const dataset: DatasetSource<QuickOptions> = {
      module: new URL('./quick-dataset.js', import.meta.url).href,
      options,
      bytes: bytes + 64,
      ahead,
    };
    return DataReader.start({ session, dataset, startBatch: from });
  };
  const startBatch = mode === 'train' && epochs === Number.POSITIVE_INFINITY ? session.globalStep : 0;
  let reader = await startReader(wanted, startBatch);
  const depth = trace.names.id('batches waiting');
  const identity = { data: digestOf(plan, batchSize), epochs };
  let begin: InputBegin = AT_START;
  let next = startBatch;
  let isOver = false;
  /** The batch of `next`, from a reader with more room where that one had too little for it. */
  const failed = async (error: unknown): Promise<number> => {
    isOver ||= error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE';
    const bytes = roomFor(error, ahead);
    if (bytes === undefined || bytes > arena.free / FREE_SHARE) throw error;
    await reader.close();
    // Batches that were handed out stay good: the region they are in is not used again.
    reader = await startReader(bytes, next - 1);
    return reader.next(BATCH_TIMEOUT_MS);
  };
  return {
    batchesAhead: ahead,
    get begin() {
      return begin;
    },
    next: () => {
      trace.main?.counter(depth, reader.depth, trace.main.now());
      next++;
      const found = reader.next(BATCH_TIMEOUT_MS);
      return typeof found === 'number' ? found : found.catch(failed);
    },
    // How many batches a pass has is known at its end alone, so a place is a number over all passes.
    saveState: (unused) => placeState(identity, { pass: isOver ? 1 : 0, batch: reader.saveState(unused).batch }),
    restoreState: async (state) => {
      const found = beginOf(state, identity);
      begin = found.pass > 0 ? AT_START : found;
      if (begin.isOther || begin.batch === next) return;
      await reader.restoreState({ batch: begin.batch });
      next = begin.batch;
    },
    close: async () => {
      try {
        // A file of parsed rows that is not whole is removed.
        if (plan.cache !== undefined) await reader.stop();
        noteFindings(findings, (await reader.report()) as Reported);
      } finally {
        await reader.close();
      }
    },
  };
}

/** Bytes of a region in which there is room for a batch that was too large for the one before. */
function roomFor(error: unknown, ahead: number): number | undefined {
  if (!(error instanceof MonolithError && error.code === 'ML_MEMORY' && error.fields.name === BATCH_OF_FILES)) return;
  // As many as are in use at once, and half as much again, since others will be larger.
  return Math.ceil((Number(error.fields.bytes) + 64) * (ahead + 2) * 1.5);
}

/** Checksum of what decides the batches, the files as they are now among it. */
function digestOf(plan: QuickPlan, batchSize: number): number {
  const files = plan.files.map((file) => {
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
    return [file, size, mtimeMs];
  });
  // Where rows are kept changes none of them.
  const { cache: _, ...rows } = plan;
  return crc32c(Buffer.from(JSON.stringify([rows, files, batchSize])));
}

/** What the thread says of the files. */
interface Reported {
  readonly forms: readonly (readonly [string, CsvForm])[];
  readonly badRows: number;
  readonly badRowErrors: readonly WireError[];
  readonly cache?: CacheFound | undefined;
}

function noteFindings(findings: Findings, { forms, badRows, badRowErrors, cache }: Reported): void {
  findings.cache ??= cache;
  for (const [file, form] of forms) findings.forms.set(file, form);
  findings.badRows += badRows;
  findings.badRowErrors.push(...badRowErrors.map((error) => fromWireError(error) as MonolithError));
}
