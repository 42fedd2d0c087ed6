/**
 * @file Batches of a plan for the reader thread: files are read and decoded there, and batches are written into the
 * memory of the session, in a region that is used round and round.
 */
import { setTimeout } from 'node:timers/promises';
import { toWireError } from '../../base/error-wire.js';
import { MonolithError } from '../../base/errors.js';
import type { WasmModule } from '../../base/wasm-types.js';
import type { Arena } from '../../memory/arena.js';
import { type BatchSchema, bytesFor, type FeedData, valueCountsOf, writeBatch } from '../../memory/batch.js';
import type { Views } from '../../memory/views.js';
import type { OpenStream } from '../dataset-source.js';
import { BatchRows } from './batch-rows.js';
import { CachedBlocks } from './cached-blocks.js';
import type { QuickPlan } from './quick-plan.js';
import { Region } from './region.js';
import { RowPool } from './row-pool.js';
import { type StepsInOrder, shuffledSlots, stepsInOrder, wantedRows } from './row-stream.js';

export interface QuickOptions {
  readonly plan: QuickPlan;
  readonly module: WasmModule;
  readonly batchSize: number;
  readonly epochs: number;
  readonly bytes: number;
  /** Batches that may be in use, and as many that may wait. */
  readonly ahead: number;
}

/** What there is no memory for in the error of a batch that is too large for the region. */
export const BATCH_OF_FILES = 'a batch of files';

/** What the reader thread calls. */
export function openDataset(views: Views, arena: Arena, options: QuickOptions): OpenStream {
  return new QuickDataset(views, arena, options);
}

class QuickDataset implements OpenStream {
  readonly batchCount = Number.POSITIVE_INFINITY;
  readonly exampleCount = Number.POSITIVE_INFINITY;
  readonly #views: Views;
  readonly #options: QuickOptions;
  readonly #at: number;
  readonly #steps: StepsInOrder;
  readonly #files: CachedBlocks;

  constructor(views: Views, arena: Arena, options: QuickOptions) {
    this.#views = views;
    this.#options = options;
    this.#at = arena.alloc(options.bytes, 'batches of files');
    this.#steps = stepsInOrder(options.plan.steps)!;
    this.#files = new CachedBlocks(options.plan, options.module);
  }

  async *stream(first: number, taken: () => number, signal: AbortSignal): AsyncGenerator<number> {
    const region = new Region(this.#at, this.#options.bytes, this.#options.ahead);
    const { specs } = this.#files.schema;
    let number = 0;
    const passes = this.#options.epochs * this.#steps.times;
    for (let pass = 0; pass < passes; pass++) {
      const before = number;
      for await (const feeds of this.#batches(pass, (count) => number + count <= first)) {
        if (number++ < first) continue;
        yield await this.#place(region, specs, feeds!, taken, signal);
      }
      // A pass without a batch would be followed by another one for ever.
      if (number === before) return;
    }
  }

  /** Batches of a pass; nothing is made of those that are passed over. */
  #batches(pass: number, isPassed: (count: number) => boolean): AsyncGenerator<Batch | undefined> {
    return this.#steps.shuffle === undefined ? this.#inOrder(isPassed) : this.#shuffled(pass, isPassed);
  }

  async *#inOrder(isPassed: (count: number) => boolean): AsyncGenerator<Batch | undefined> {
    const next = new BatchRows(this.#files.schema.specs, this.#options.batchSize);
    const batchOf = () => {
      const batch = next.take();
      return isPassed(1) ? undefined : batch;
    };
    for await (const { block, rows } of wantedRows(this.#files, this.#steps)) {
      for (let at = 0; at < rows.length; ) {
        at += next.add(block, at === 0 ? rows : rows.slice(at));
        if (next.isFull) yield batchOf();
      }
    }
    if (next.rows > 0) yield batchOf();
  }

  async *#shuffled(pass: number, isPassed: (count: number) => boolean): AsyncGenerator<Batch | undefined> {
    const pool = new RowPool(this.#files.schema.specs);
    const { batchSize } = this.#options;
    let waiting: number[] = [];
    const batchOf = (slots: readonly number[]): Batch | undefined => {
      if (!isPassed(1)) return { rows: slots.length, feeds: pool.take(slots) };
      pool.free(slots);
      return undefined;
    };
    for await (const slots of shuffledSlots(this.#files, this.#steps, pool, pass)) {
      for (const slot of slots) waiting.push(slot);
      let at = 0;
      for (; at + batchSize <= waiting.length; at += batchSize) yield batchOf(waiting.slice(at, at + batchSize));
      if (at > 0) waiting = waiting.slice(at);
    }
    if (waiting.length > 0) yield batchOf(waiting);
  }

  async #place(
    region: Region,
    schema: BatchSchema,
    batch: Batch,
    taken: () => number,
    signal: AbortSignal,
  ): Promise<number> {
    const bytes = bytesFor(schema, batch.rows, valueCountsOf(schema, batch.feeds));
    if (!region.fits(bytes)) {
      const hint = 'give smaller batches, f.ids a max, or the session more memory';
      const free = Math.floor(this.#options.bytes / (this.#options.ahead + 2));
      throw new MonolithError('ML_MEMORY', { name: BATCH_OF_FILES, bytes, free }, { hint });
    }
    let at = region.take(bytes, taken());
    while (at === undefined) {
      await setTimeout(1, undefined, { signal });
      at = region.take(bytes, taken());
    }
    writeBatch(this.#views, at, schema, batch);
    return at;
  }

  report(): unknown {
    const { forms, badRows, badRowErrors, cache } = this.#files.findings;
    return { forms: [...forms], badRows, cache, badRowErrors: badRowErrors.map(toWireError) };
  }
}

interface Batch {
  readonly rows: number;
  readonly feeds: readonly FeedData[];
}
