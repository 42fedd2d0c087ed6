/** @file Rows that a program gives: in a list, an iterable, or a function that returns one. */
import { MonolithError } from '../base/errors.js';
import type { FileSource } from './files/file-queue.js';
import type { DataRow } from './files/place.js';

export const BLOCK_ROWS = 512;

type Rows<R> = Iterable<R> | AsyncIterable<R>;
/** What a data set is made of: names of files or patterns of them, `-` for standard input, or rows. */
export type DatasetGiven<R> =
  | string
  | readonly string[]
  | readonly R[]
  | Rows<R>
  | FileSource
  | ((pass?: number) => Rows<R> | Promise<Rows<R>>);

/** Whether it names files. */
export function isNames(given: DatasetGiven<DataRow>): given is string | readonly string[] {
  return (
    typeof given === 'string' ||
    (Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string'))
  );
}

/** Rows of a program in lists of some hundred. */
export async function* blocksOf(
  given: Exclude<DatasetGiven<DataRow>, string | FileSource>,
  pass: number | undefined,
): AsyncGenerator<readonly DataRow[]> {
  const rows = (typeof given === 'function' ? await given(pass) : given) as Partial<
    Iterable<DataRow> & AsyncIterable<DataRow>
  >;
  if (rows?.[Symbol.asyncIterator] === undefined && rows?.[Symbol.iterator] === undefined) {
    throw new MonolithError('ML_DATASET', { reason: 'what it was given is neither files nor rows' });
  }
  let waiting: DataRow[] = [];
  if (rows[Symbol.asyncIterator] === undefined) {
    // To wait for each of the rows that are there costs more than to make them.
    for (const given of rows as Iterable<DataRow>) {
      waiting.push(isPromise(given) ? await given : given);
      if (waiting.length < BLOCK_ROWS) continue;
      yield waiting;
      waiting = [];
    }
    if (waiting.length > 0) yield waiting;
    return;
  }
  for await (const row of rows as AsyncIterable<DataRow>) {
    waiting.push(row);
    if (waiting.length < BLOCK_ROWS) continue;
    yield waiting;
    waiting = [];
  }
  if (waiting.length > 0) yield waiting;
}

const isPromise = (given: unknown): given is Promise<DataRow> =>
  typeof (given as Partial<PromiseLike<DataRow>> | null | undefined)?.then === 'function';
