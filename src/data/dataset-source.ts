/**
 * @file Where the reader thread gets batches from: a module that it loads, and what the module is told.
 *
 * The reader knows no data set by name. One that is made up is written into memory once; one that is read from files
 * makes places there that are used again.
 */
import type { Arena } from '../memory/arena.js';
import type { Views } from '../memory/views.js';

export interface DatasetSize {
  readonly batchCount: number;
  readonly exampleCount: number;
}

/** A data set that was opened. */
export interface OpenDataset extends DatasetSize {
  /** Address of the batch with this number, counted over epochs; it is good until the places of batches came round. */
  batchAt(number: number): number;
}

/** A data set that was opened and whose batches come one after the other, such as those of files. */
export interface OpenStream extends DatasetSize {
  /**
   * Addresses of batches from the number `first` on. `taken` counts those that the consumer took since; what a batch
   * waits for ends with the signal.
   */
  stream(first: number, taken: () => number, signal: AbortSignal): AsyncGenerator<number>;
  /** What was found out on the way, as plain data. */
  report(): unknown;
}

export type Opened = OpenDataset | OpenStream;

/** What the module of a data set exports. Batches, or places for them, are taken from the arena. */
export interface DatasetModule<Options> {
  openDataset(views: Views, arena: Arena, options: Options): Opened | Promise<Opened>;
}

/**
 * Names a data set for the reader thread; survives `postMessage`.
 *
 * ```ts
 * const dataset = { module: new URL('./my-dataset.js', import.meta.url).href, options: { seed: 1 }, bytes: 1 << 20 };
 * ```
 */
export interface DatasetSource<Options = unknown> {
  /** Address of a `DatasetModule`. */
  readonly module: string;
  readonly options: Options;
  /** Memory that `openDataset` may take. */
  readonly bytes: number;
  /**
   * Batches that may wait, and as many again that may be in use, where their places are used again. Default: no end.
   */
  readonly ahead?: number;
}
