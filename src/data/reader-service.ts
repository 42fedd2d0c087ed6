/**
 * @file What the data reader thread does: it opens a data set and hands addresses of its batches in shared memory out
 * through a ring, round and round.
 *
 * Batches never travel; a consumer gets the address of a header (see `batch.ts`). The order of an epoch is fixed. When
 * the ring is full the service waits on the event loop, so that calls are answered meanwhile.
 */
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toWireError, type WireError } from '../base/error-wire.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { loadModule } from '../base/load-module.js';
import { Arena } from '../memory/arena.js';
import { CancelReason, SharedRing } from '../memory/shared-ring.js';
import { Views } from '../memory/views.js';
import { TraceRing } from '../trace/trace-ring.js';
import type { DatasetModule, DatasetSize, DatasetSource, Opened, OpenStream } from './dataset-source.js';

export interface ReaderOptions {
  readonly buffer: SharedArrayBuffer;
  /** Where batches may be written. */
  readonly region: { readonly offset: number; readonly bytes: number };
  /** A ring of one word per slot. */
  readonly ringOffset: number;
  readonly dataset: DatasetSource;
  /** Ring of this thread's events and the names it uses; nothing is traced without it. */
  readonly trace?: { readonly ring: number; readonly fill: number; readonly wait: number };
}

export interface LoadReport extends DatasetSize {
  readonly bytes: number;
}

export interface StartOptions {
  /** Batches to hand out before the ring is closed. Default: without end. */
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
  #dataset: Opened | null = null;
  #run: Promise<void> | null = null;
  #stop = new AbortController();
  #pushed = 0;
  #waits = 0;
  #failure: WireError | null = null;
  /** When the span of filling the ring began. */
  #began: number | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#ring = SharedRing.attach(options.buffer, options.ringOffset);
    this.#trace = options.trace === undefined ? null : TraceRing.attach(new Views(options.buffer), options.trace.ring);
    this.#trace?.bindClock();
  }

  /** Loads the module of the data set and opens it in the region. */
  async load(): Promise<LoadReport> {
    const { buffer, region, dataset } = this.#options;
    const arena = new Arena('batches', region.offset, region.offset + region.bytes);
    const { openDataset } = await datasetModule(dataset.module);
    this.#dataset = await openDataset(new Views(buffer), arena, dataset.options);
    const { batchCount, exampleCount } = this.#dataset;
    return { batchCount, exampleCount, bytes: arena.used };
  }

  /** Begins to hand batches out; returns at once. */
  start({ maxBatches = Number.POSITIVE_INFINITY, startBatch = 0 }: StartOptions = {}): void {
    const dataset = this.#dataset;
    if (dataset === null) throw new MonolithError('ML_DATASET', { reason: 'it was not loaded' });
    if (this.#run !== null) throw new MonolithError('ML_DATASET', { reason: 'its reader is already running' });
    this.#stop = new AbortController();
    this.#run = this.#pump(dataset, maxBatches, startBatch, this.#stop.signal)
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

  /** What the data set found out so far. */
  report(): unknown {
    return this.#dataset !== null && 'stream' in this.#dataset ? this.#dataset.report() : undefined;
  }

  stats(): ReaderStats {
    return { running: this.#run !== null, pushed: this.#pushed, waits: this.#waits, failure: this.#failure };
  }

  /** Stops and tells consumers that nothing more will come. */
  async close(): Promise<void> {
    await this.stop();
    this.#ring.close();
  }

  async #pump(dataset: Opened, count: number, first: number, signal: AbortSignal): Promise<void> {
    if ('stream' in dataset) await this.#pumpStream(dataset, count, first, signal);
    else {
      for (let sent = 0; sent < count && !signal.aborted; sent++) {
        // No promise while the consumer keeps up.
        const later = this.#push(dataset.batchAt(first + sent), signal);
        if (later !== undefined) await later;
      }
    }
    if (!signal.aborted) this.#ring.close();
  }

  async #pumpStream(dataset: OpenStream, count: number, first: number, signal: AbortSignal): Promise<void> {
    if (count <= 0) return;
    let sent = 0;
    try {
      for await (const pointer of dataset.stream(first, () => sent - this.#ring.size, signal)) {
        await this.#push(pointer, signal);
        if (++sent >= count || signal.aborted) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Puts a batch into the ring; a promise where there is no space, and after some for a turn of the event loop. */
  #push(pointer: number, signal: AbortSignal): Promise<void> | undefined {
    this.#began ??= this.#trace?.now() ?? 0;
    if (!this.#ring.tryPushU32(pointer)) return this.#pushLater(pointer, signal);
    this.#pushed++;
    return this.#pushed % PUSHES_PER_TURN === 0 ? setImmediate() : undefined;
  }

  async #pushLater(pointer: number, signal: AbortSignal): Promise<void> {
    const trace = this.#trace;
    do {
      this.#waits++;
      const full = trace?.now() ?? 0;
      trace?.span(this.#options.trace!.fill, this.#began!, full);
      await this.#ring.waitForSpace(WAIT_SLICE_MS, signal);
      this.#began = trace?.now() ?? 0;
      trace?.span(this.#options.trace!.wait, full, this.#began);
      if (signal.aborted) return;
    } while (!this.#ring.tryPushU32(pointer));
    this.#pushed++;
  }

  /** Keeps the error for whoever asks, and ends the consumer's wait. */
  #fail(error: unknown): void {
    // A ring that the consumer ended is how a run ends, not a failure of the reader.
    if (this.#ring.closed) return;
    this.#failure = toWireError(error);
    this.#ring.cancel(CancelReason.failed);
  }
}

/** ML_DATASET when there is no such module, or it opens no data set. */
async function datasetModule(address: string): Promise<DatasetModule<unknown>> {
  let found: Partial<DatasetModule<unknown>>;
  try {
    found = /^file:.*\.[cm]?ts$/.test(address) ? await loadModule(fileURLToPath(address)) : await import(address);
  } catch (cause) {
    throw new MonolithError('ML_DATASET', { reason: `its module: ${messageOf(cause)}` }, { cause });
  }
  if (typeof found.openDataset === 'function') return found as DatasetModule<unknown>;
  throw new MonolithError('ML_DATASET', { reason: `${address} exports no function openDataset` });
}
