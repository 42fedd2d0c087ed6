/**
 * @file The main thread's handle of the data reader thread.
 *
 * A step takes the next batch by popping one word from a ring; only control calls are messages.
 */
import { checkOptions } from '../base/check-options.js';
import { fromWireError } from '../base/error-wire.js';
import { MonolithError } from '../base/errors.js';
import type { InputState } from '../base/input-state.js';
import type { Arena } from '../memory/arena.js';
import { CancelReason, type RingStats, SharedRing } from '../memory/shared-ring.js';
import { ServiceThread } from '../runtime/pool/service-thread.js';
import { threadError } from '../runtime/pool/thread-error.js';
import { coreOf, type SessionHandle } from '../runtime/session/session-handle.js';
import type { DatasetSource } from './dataset-source.js';
import type { LoadReport, ReaderOptions, ReaderService, ReaderStats, StartOptions } from './reader-service.js';

export interface DataReaderOptions extends ReadOptions {
  /** The session that the batches are for: they and the ring are in its memory, and its trace has this thread too. */
  readonly session: SessionHandle;
}

/** Where the batches and the ring are. */
export interface ReaderPlace {
  readonly buffer: SharedArrayBuffer;
  readonly arena: Arena;
  readonly trace?: ReaderOptions['trace'];
}

export interface ReadOptions extends StartOptions {
  readonly dataset: DatasetSource;
  /**
   * Batches that wait in the ring at most, where the data set does not say. Default: 512, since steps are run in
   * groups.
   */
  readonly depthMax?: number;
  /** Limit for making the data set. */
  readonly loadTimeoutMs?: number;
}

const THREAD_NAME = 'data-reader';
const DEPTH_MAX = 512;
/** Limit for a living thread to answer; a dead one is noticed at once. */
const CALL_TIMEOUT_MS = 10_000;
const LOAD_TIMEOUT_MS = 120_000;

/** A thread that reads batches into shared memory ahead of their use. */
export class DataReader {
  /** What the reader loaded. */
  readonly batches: LoadReport;
  readonly #thread: ServiceThread<ReaderService>;
  readonly #ring: SharedRing;
  readonly #start: StartOptions;
  /** Number of the next batch that `next` returns. */
  #batch: number;
  #closed = false;

  /** Batches that `next` returned and that stay good at once. */
  readonly batchesAhead: number;

  private constructor(
    thread: ServiceThread<ReaderService>,
    ring: SharedRing,
    batches: LoadReport,
    { batchesAhead, start }: { readonly batchesAhead: number; readonly start: StartOptions },
  ) {
    this.batchesAhead = batchesAhead;
    this.#start = start;
    this.#batch = start.startBatch ?? 0;
    this.#thread = thread;
    this.#ring = ring;
    this.batches = batches;
  }

  /** Starts the thread, opens the data set, and begins to hand batches out. */
  static async start(options: DataReaderOptions): Promise<DataReader> {
    const { session, ...read } = checkOptions('DataReader.start', options, [
      'session',
      'dataset',
      'depthMax',
      'loadTimeoutMs',
      'maxBatches',
      'startBatch',
    ]);
    const { views, arena, trace } = coreOf(session);
    const ring = trace.addThread('data reader');
    const { names } = trace;
    return DataReader.startIn(
      {
        buffer: views.buffer,
        arena,
        ...(ring && {
          trace: { ring: ring.ptr, fill: names.id('fill the ring'), wait: names.id('wait for space', 'wait') },
        }),
      },
      read,
    );
  }

  /** The same in any memory. */
  static async startIn({ buffer, arena, trace }: ReaderPlace, options: ReadOptions): Promise<DataReader> {
    const { dataset } = options;
    const { bytes, ahead } = dataset;
    const depthMax = ahead ?? options.depthMax ?? DEPTH_MAX;
    const region = { offset: arena.alloc(bytes, 'batches of the data set'), bytes };
    const ringOffset = arena.alloc(SharedRing.bytesFor(depthMax, 4), 'ring of batches');
    // Woken at half, the reader refills many slots at a time and leaves the cores to the pool in between.
    const lowWater = depthMax >> 1;
    const ring = SharedRing.create(buffer, ringOffset, { capacity: depthMax, slotBytes: 4, name: 'batches', lowWater });
    const workerData: ReaderOptions = { buffer, region, ringOffset, dataset, ...(trace && { trace }) };
    const thread = new ServiceThread<ReaderService>({
      name: THREAD_NAME,
      entry: new URL('../../workers/data-reader.js', import.meta.url),
      workerData,
      onDeath: () => ring.cancel(CancelReason.died),
    });
    try {
      const batches = await thread.call((service) => service.load(), options.loadTimeoutMs ?? LOAD_TIMEOUT_MS);
      const { maxBatches, startBatch } = options;
      const start: StartOptions = {
        ...(maxBatches !== undefined && { maxBatches }),
        ...(startBatch !== undefined && { startBatch }),
      };
      await thread.call((service) => service.start(start), CALL_TIMEOUT_MS);
      return new DataReader(thread, ring, batches, { batchesAhead: ahead ?? Number.POSITIVE_INFINITY, start });
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** Batches that wait in the ring. */
  get depth(): number {
    return this.#ring.size;
  }

  /**
   * Address of the next batch: a number when one is waiting, which is the usual case and costs no promise, else a
   * promise of it. Fails with ML_OUT_OF_RANGE at the end of input, with the reader's own error when it failed, and with
   * ML_WORKER when its thread died.
   */
  next(timeoutMs: number): number | Promise<number> {
    try {
      const pointer = this.#ring.tryPopU32();
      if (pointer < 0) return this.#wait(timeoutMs);
      this.#batch++;
      return pointer;
    } catch (error) {
      return this.#explain(error);
    }
  }

  /** For a TrainInput: the number of the batch to go on with when the last `unused` are to come again. */
  saveState(unused: number): { readonly batch: number } {
    return { batch: this.#batch - unused };
  }

  /** Has `next` go on from what `saveState` gave; `maxBatches` counts from there. What waits is given up. */
  async restoreState(state: InputState): Promise<void> {
    const startBatch = batchIn(state);
    await this.#thread.call((service) => service.stop(), CALL_TIMEOUT_MS);
    while (this.#ring.size > 0) this.#ring.tryPopU32();
    this.#ring.reopen();
    await this.#thread.call((service) => service.start({ ...this.#start, startBatch }), CALL_TIMEOUT_MS);
    this.#batch = startBatch;
  }

  ringStats(): RingStats {
    return this.#ring.stats();
  }

  stats(): Promise<ReaderStats> {
    return this.#thread.call((service) => service.stats(), CALL_TIMEOUT_MS);
  }

  /** What a data set of files found out so far. */
  report(): Promise<unknown> {
    return this.#thread.call((service) => service.report(), CALL_TIMEOUT_MS);
  }

  /** Has the reader leave off, and put away what it has open. */
  stop(): Promise<void> {
    return this.#thread.call((service) => service.stop(), CALL_TIMEOUT_MS);
  }

  /** Ends the thread. Whoever waits for a batch gets ML_CLOSED. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ring.cancel(CancelReason.stopped);
    await this.#thread.close();
  }

  async #wait(timeoutMs: number): Promise<number> {
    try {
      const pointer = await this.#ring.popU32Async(timeoutMs);
      this.#batch++;
      return pointer;
    } catch (error) {
      return this.#explain(error);
    }
  }

  /** Turns the end of the ring into the reason for it. */
  async #explain(error: unknown): Promise<never> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'data reader' });
    if (this.#thread.death !== null) throw this.#thread.death;
    if (this.#ring.cancelled === CancelReason.failed) throw await this.#failure();
    if (this.#ring.cancelled === 0 && this.#ring.closed) {
      throw new MonolithError('ML_OUT_OF_RANGE', { source: 'data reader' });
    }
    throw error;
  }

  async #failure(): Promise<Error> {
    const { failure } = await this.stats();
    if (failure === null) return new MonolithError('ML_WORKER', { thread: THREAD_NAME, reason: 'it gave no reason' });
    return threadError(THREAD_NAME, fromWireError(failure));
  }
}

function batchIn(state: InputState): number {
  const batch = typeof state === 'object' && state !== null && 'batch' in state ? state.batch : undefined;
  if (Number.isSafeInteger(batch) && (batch as number) >= 0) return batch as number;
  const reason = `it cannot go on from ${JSON.stringify(state)}, it takes a position like { "batch": 100 }`;
  throw new MonolithError('ML_DATASET', { reason });
}
