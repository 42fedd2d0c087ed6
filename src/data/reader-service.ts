/**
 * @file What the data reader thread does: it hands addresses of batches in shared memory out through a ring, round and
 * round. A data set that is made up is made resident once; a file of arrays is read batch by batch.
 *
 * Batches never travel; a consumer gets the address of a header (see `batch.ts`). The order of an epoch is fixed. When
 * the ring is full the service waits on the event loop, so that calls are answered meanwhile.
 */
import { setImmediate } from 'node:timers/promises';
import { toWireError, type WireError } from '../base/error-wire.js';
import { MonolithError } from '../base/errors.js';
import { Arena } from '../memory/arena.js';
import { CancelReason, SharedRing } from '../memory/shared-ring.js';
import { Views } from '../memory/views.js';
import { TraceRing } from '../trace/trace-ring.js';
import { ArrayFile, type ArrayFileOptions } from './array-file.js';
import { type DatasetSize, datasetSize, type FfmDatasetOptions, loadFfmBatches } from './ffm-dataset.js';

export type DatasetOptions = FfmDatasetOptions | ArrayFileOptions;

export interface ReaderOptions {
  readonly buffer: SharedArrayBuffer;
  /** Where batches may be written. */
  readonly region: { readonly offset: number; readonly bytes: number };
  /** A ring of one word per slot. */
  readonly ringOffset: number;
  readonly dataset: DatasetOptions;
  /** Ring of this thread's events and the names it uses; nothing is traced without it. */
  readonly trace?: { readonly ring: number; readonly fill: number; readonly wait: number };
}

export interface LoadReport extends DatasetSize {
  readonly bytes: number;
}

export interface StartOptions {
  /** Batches to hand out before the ring is closed; without end unless told. */
  readonly maxBatches?: number;
  /** Number of the first batch, counted over epochs: a run resumed at step n starts with batch n. */
  readonly startBatch?: number;
}

export interface ReaderStats {
  readonly running: boolean;
  readonly pushed: number;
  /** Times the ring was found full. */
  readonly waits: number;
  readonly failure: WireError | null;
}

/** A look at the state even if nobody wakes the reader; not an error, a consumer may be busy saving for minutes. */
const WAIT_SLICE_MS = 1000;
/** Pushes between two turns of the event loop while the consumer keeps up. */
const PUSHES_PER_TURN = 256;

export class ReaderService {
  readonly #options: ReaderOptions;
  readonly #ring: SharedRing;
  readonly #trace: TraceRing | null;
  /** Address of the batch with a number, counted over epochs; it is good until the places of batches came round. */
  #batchAt: ((number: number) => number) | null = null;
  #run: Promise<void> | null = null;
  #stop = new AbortController();
  #pushed = 0;
  #waits = 0;
  #failure: WireError | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#ring = SharedRing.attach(options.buffer, options.ringOffset);
    this.#trace = options.trace === undefined ? null : TraceRing.attach(new Views(options.buffer), options.trace.ring);
    this.#trace?.bindClock();
  }

  /** Opens the data set: generates it and writes all batches into the region, or makes places there for those of a file. */
  load(): LoadReport {
    const { buffer, region, dataset } = this.#options;
    const arena = new Arena('batches', region.offset, region.offset + region.bytes);
    if (dataset.kind === 'arrays') {
      const file = new ArrayFile(new Views(buffer), arena, dataset);
      const { batchCount, exampleCount } = file.plan;
      this.#batchAt = (number) => file.batchAt(number);
      return { batchCount, exampleCount, bytes: arena.used };
    }
    const pointers = loadFfmBatches(new Views(buffer), arena, dataset);
    this.#batchAt = (number) => pointers[number % pointers.length]!;
    return { ...datasetSize(dataset), bytes: arena.used };
  }

  /** Begins to hand batches out; returns at once. */
  start({ maxBatches = Number.POSITIVE_INFINITY, startBatch = 0 }: StartOptions = {}): void {
    if (this.#batchAt === null) throw new MonolithError('ML_DATASET', { reason: 'it was not loaded' });
    if (this.#run !== null) throw new MonolithError('ML_DATASET', { reason: 'its reader is already running' });
    this.#stop = new AbortController();
    this.#run = this.#pump(maxBatches, startBatch, this.#stop.signal)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#run = null;
      });
  }

  /** Stops handing out; what is in the ring stays there. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }

  stats(): ReaderStats {
    return { running: this.#run !== null, pushed: this.#pushed, waits: this.#waits, failure: this.#failure };
  }

  /** Stops and tells consumers that nothing more will come. */
  async close(): Promise<void> {
    await this.stop();
    this.#ring.close();
  }

  /** Address of the batch with this number, counted over epochs. */
  protected batchAt(number: number): number {
    return this.#batchAt!(number);
  }

  async #pump(count: number, first: number, signal: AbortSignal): Promise<void> {
    const trace = this.#trace;
    let began = trace?.now() ?? 0;
    for (let sent = 0; sent < count; sent++) {
      const pointer = this.batchAt(first + sent);
      while (!this.#ring.tryPushU32(pointer)) {
        this.#waits++;
        const full = trace?.now() ?? 0;
        trace?.span(this.#options.trace!.fill, began, full);
        await this.#ring.waitForSpace(WAIT_SLICE_MS, signal);
        began = trace?.now() ?? 0;
        trace?.span(this.#options.trace!.wait, full, began);
        if (signal.aborted) return;
      }
      this.#pushed++;
      if (this.#pushed % PUSHES_PER_TURN === 0) await setImmediate();
      if (signal.aborted) return;
    }
    this.#ring.close();
  }

  /** Keeps the error for whoever asks, and ends the consumer's wait. */
  #fail(error: unknown): void {
    // A ring that the consumer ended is how a run ends, not a failure of the reader.
    if (this.#ring.closed) return;
    this.#failure = toWireError(error);
    this.#ring.cancel(CancelReason.failed);
  }
}
