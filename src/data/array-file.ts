/**
 * @file Batches straight from arrays in a file: each feed is one array of fixed-size rows, somewhere in the file.
 *
 * A batch is a run of neighbouring rows, so each of its arrays is one read into shared memory: nothing is parsed,
 * converted or copied again. Batches are made when they are asked for, in a ring of places that are used again.
 */

import { closeSync, readSync } from 'node:fs';
import { checkOptions } from '../base/check-options.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { type OpenedFile, openRegular } from '../base/files/read-file.js';
import type { Arena } from '../memory/arena.js';
import { type BatchSchema, bytesFor, layBatchOut, rowBytes } from '../memory/batch.js';
import type { Views } from '../memory/views.js';
import type { DatasetSize, DatasetSource, OpenDataset } from './dataset-source.js';

export interface ArrayFileOptions {
  readonly file: string;
  /** Feeds in the order of a batch: dense ones and ids. */
  readonly schema: BatchSchema;
  /** Where the array of each feed begins in the file, in bytes. */
  readonly offsets: readonly number[];
  /** Rows of every array. */
  readonly rows: number;
  readonly batchSize: number;
  /** Whether the rows after the last whole batch make a smaller one. Default: they are dropped. */
  readonly keepRemainder?: boolean;
}

/** Bytes of batches that wait to be used, and as many again of those in use. */
const AHEAD_BYTES = 16 << 20;
const AHEAD_MAX = 63;

export interface ArrayFilePlan extends DatasetSize {
  /** Batches that wait in the ring, and that may be in use, at most. */
  readonly ahead: number;
  /** One more than can wait and be in use: the one that is being read. */
  readonly places: number;
  readonly bytes: number;
}

/** Sizes of a stream over the file. Throws ML_DATASET for options that describe none. */
export function planArrayFile(options: ArrayFileOptions): ArrayFilePlan {
  const known = ['file', 'schema', 'offsets', 'rows', 'batchSize', 'keepRemainder'] as const;
  const { schema, offsets, rows, batchSize, keepRemainder = false } = checkOptions('arrayFileDataset', options, known);
  const ragged = schema.find(({ kind }) => kind === 'ragged');
  if (ragged !== undefined) throw refused(`its feed ${ragged.name} is ragged: rows of arrays are of one size`);
  if (offsets.length !== schema.length) throw refused(`${offsets.length} offsets for ${schema.length} feeds`);
  if (!(Number.isInteger(batchSize) && batchSize > 0)) throw refused(`the batch size is ${batchSize}`);
  const batchCount = keepRemainder ? Math.ceil(rows / batchSize) : Math.floor(rows / batchSize);
  if (batchCount === 0) throw refused(`${rows} rows make no batch of ${batchSize}`);
  const bytes = bytesFor(schema, batchSize, []);
  const ahead = Math.min(Math.max(Math.floor(AHEAD_BYTES / bytes), 2), AHEAD_MAX);
  const places = 2 * ahead + 1;
  const exampleCount = keepRemainder ? rows : batchCount * batchSize;
  return { batchCount, exampleCount, ahead, places, bytes: places * bytes };
}

/** Arrays of a file for the reader thread. Throws ML_DATASET for options that describe none. */
export function arrayFileDataset(options: ArrayFileOptions): DatasetSource<ArrayFileOptions> {
  const { bytes, ahead } = planArrayFile(options);
  return { module: import.meta.url, options, bytes, ahead };
}

/** What the reader thread calls. */
export function openDataset(views: Views, arena: Arena, options: ArrayFileOptions): OpenDataset {
  const file = new ArrayFile(views, arena, options);
  const { batchCount, exampleCount } = file.plan;
  return { batchCount, exampleCount, batchAt: (number) => file.batchAt(number) };
}

export class ArrayFile {
  readonly plan: ArrayFilePlan;
  readonly #options: ArrayFileOptions;
  readonly #views: Views;
  readonly #batchBytes: number;
  readonly #first: number;
  readonly #fd: number;

  /** Takes the places of the batches from the arena and opens the file. */
  constructor(views: Views, arena: Arena, options: ArrayFileOptions) {
    this.plan = planArrayFile(options);
    this.#options = options;
    this.#views = views;
    this.#batchBytes = this.plan.bytes / this.plan.places;
    this.#first = arena.alloc(this.plan.bytes, 'places of batches');
    this.#fd = open(options);
  }

  /** Reads the batch with this number, counted over epochs, into its place, and returns the address. */
  batchAt(number: number): number {
    const { schema, offsets, rows, batchSize, file } = this.#options;
    const at = this.#first + (number % this.plan.places) * this.#batchBytes;
    const row = (number % this.plan.batchCount) * batchSize;
    const count = Math.min(batchSize, rows - row);
    const pointers = layBatchOut(this.#views, at, schema, count);
    schema.forEach((feed, index) => {
      const size = rowBytes(feed);
      const bytes = count * size;
      let got = 0;
      while (got < bytes) {
        const position = offsets[index]! + row * size + got;
        const read = readSync(this.#fd, this.#views.u8, pointers[index]! + got, bytes - got, position);
        if (read === 0) throw refused(`${file} ends inside of ${feed.name}`);
        got += read;
      }
    });
    return at;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Opens the file if every array fits into it. */
function open({ file, schema, offsets, rows }: ArrayFileOptions): number {
  let opened: OpenedFile;
  try {
    opened = openRegular(file);
  } catch (cause) {
    throw new MonolithError('ML_DATASET', { reason: messageOf(cause) }, { cause });
  }
  const { fd, bytes: size } = opened;
  const beyond = schema.find((feed, index) => offsets[index]! + rows * rowBytes(feed) > size);
  if (beyond === undefined) return fd;
  closeSync(fd);
  throw refused(`${file} ends before ${rows} rows of ${beyond.name}`);
}

function refused(reason: string): MonolithError {
  return new MonolithError('ML_DATASET', { reason });
}
