/** @file Rows as objects, from a list, an iterable or a function that returns one, as a source of batches. */
import { MonolithError } from '../base/errors.js';
import type { Mode } from '../graph/mode.js';
import type { PartialBatchData } from '../memory/batch.js';
import type { BatchMaker, BatchPass, MadeBatch } from './batch-pass.js';
import { MadeSource } from './made-source.js';

/** Turns rows into the arrays of a batch; `firstRow` is the number of the first one, for errors. */
export type EncodeRows<Row> = (rows: readonly Row[], firstRow: number) => PartialBatchData;
/** What turns rows into batches in a mode. */
export type EncoderIn<Row> = (mode: Mode) => EncodeRows<Row>;

/**
 * What rows come from. A function is called once for each pass, with its number, so that it may read a file again, or
 * shuffle.
 */
export type RowsGiven<Row> =
  | readonly Row[]
  | Iterable<Row>
  | AsyncIterable<Row>
  | ((pass: number) => Rows<Row> | Promise<Rows<Row>>);

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** Rows that come many at a time, as those of a `Dataset` do. */
export interface RowsInLists<Row> {
  batches(size: number, pass: number): AsyncIterable<readonly Row[]>;
}

export function rowSource<Row>(given: RowsGiven<Row>, encoderIn: EncoderIn<Row>): MadeSource<Row> {
  if (Array.isArray(given)) return listSource(given as readonly Row[], encoderIn);
  const once = typeof given !== 'function' && isRunning(given);
  const make = (batchSize: number, encode: EncodeRows<Row>): BatchMaker<Row> => ({
    once,
    pass: (number) => {
      const rows = typeof given === 'function' ? () => given(number) : () => given;
      return new RowPass((opened) => listsOf(opened, batchSize, number), rows, batchSize, encode);
    },
  });
  return new MadeSource(({ batchSize, mode }) => make(batchSize, encoderIn(mode)), { once });
}

function listSource<Row>(rows: readonly Row[], encoderIn: EncoderIn<Row>): MadeSource<Row> {
  const make = (batchSize: number, encode: EncodeRows<Row>): BatchMaker<Row> => ({
    once: false,
    batchCount: Math.ceil(rows.length / batchSize),
    pass: () => {
      let at = 0;
      return {
        next: () => {
          if (at >= rows.length) return undefined;
          const some = rows.slice(at, at + batchSize);
          at += some.length;
          return { data: encode(some, at - some.length), rows: some };
        },
        skip: (batches) => {
          at += batches * batchSize;
        },
      };
    },
  });
  return new MadeSource(({ batchSize, mode }) => make(batchSize, encoderIn(mode)), { counted: true });
}

/** Whether it is an iterator, such as a generator that was called, or a stream: it cannot be gone over again. */
function isRunning(given: Rows<unknown>): boolean {
  const { next, pipe } = given as { readonly next?: unknown; readonly pipe?: unknown };
  return typeof next === 'function' || typeof pipe === 'function';
}

/** Rows of a batch, none at the end. */
interface RowLists<Row> {
  take(): readonly Row[] | Promise<readonly Row[]>;
  close(): unknown;
}

/** A pass over rows, which are asked for when the first batch is. */
class RowPass<Row> implements BatchPass<Row> {
  readonly #listsOf: (rows: Rows<Row>) => RowLists<Row>;
  readonly #rows: () => Rows<Row> | Promise<Rows<Row>>;
  readonly #batchSize: number;
  readonly #encode: EncodeRows<Row>;
  #lists: RowLists<Row> | undefined;
  #read = 0;

  constructor(
    lists: (rows: Rows<Row>) => RowLists<Row>,
    rows: () => Rows<Row> | Promise<Rows<Row>>,
    batchSize: number,
    encode: EncodeRows<Row>,
  ) {
    this.#listsOf = lists;
    this.#rows = rows;
    this.#batchSize = batchSize;
    this.#encode = encode;
  }

  next(): MadeBatch<Row> | undefined | Promise<MadeBatch<Row> | undefined> {
    const rows = this.#take();
    return rows instanceof Promise ? rows.then((some) => this.#batchOf(some)) : this.#batchOf(rows);
  }

  async skip(batches: number): Promise<void> {
    for (let batch = 0; batch < batches; batch++) {
      const { length } = await this.#take();
      this.#read += length;
      if (length < this.#batchSize) return;
    }
  }

  close(): unknown {
    return this.#lists?.close();
  }

  #take(): readonly Row[] | Promise<readonly Row[]> {
    if (this.#lists !== undefined) return this.#lists.take();
    const rows = this.#rows();
    const begin = (opened: Rows<Row>) => {
      this.#lists = this.#listsOf(opened);
      return this.#lists.take();
    };
    return rows instanceof Promise ? rows.then(begin) : begin(rows);
  }

  #batchOf(rows: readonly Row[]): MadeBatch<Row> | undefined {
    this.#read += rows.length;
    return rows.length === 0 ? undefined : { data: this.#encode(rows, this.#read - rows.length), rows };
  }
}

function listsOf<Row>(rows: Rows<Row>, batchSize: number, pass: number): RowLists<Row> {
  const { batches } = (rows ?? {}) as Partial<RowsInLists<Row>>;
  if (typeof batches === 'function') return manyAtOnce(batches.call(rows, batchSize, pass));
  const found = rows as Partial<Iterable<Row> & AsyncIterable<Row>> | null | undefined;
  if (typeof found?.[Symbol.asyncIterator] === 'function') return oneByOneLater(rows as AsyncIterable<Row>, batchSize);
  if (typeof found?.[Symbol.iterator] === 'function') return oneByOne(rows as Iterable<Row>, batchSize);
  throw new MonolithError('ML_DATASET', { reason: 'the function that returns rows gave nothing to iterate over' });
}

function oneByOne<Row>(rows: Iterable<Row>, batchSize: number): RowLists<Row> {
  const iterator = rows[Symbol.iterator]();
  return {
    take: () => {
      const some: Row[] = [];
      while (some.length < batchSize) {
        const { done, value } = iterator.next();
        if (done === true) break;
        some.push(value);
      }
      return some;
    },
    close: () => iterator.return?.(),
  };
}

function oneByOneLater<Row>(rows: AsyncIterable<Row>, batchSize: number): RowLists<Row> {
  const iterator = rows[Symbol.asyncIterator]();
  return {
    take: async () => {
      const some: Row[] = [];
      while (some.length < batchSize) {
        const { done, value } = await iterator.next();
        if (done === true) break;
        some.push(value);
      }
      return some;
    },
    close: () => iterator.return?.(),
  };
}

/** One promise for many rows. */
function manyAtOnce<Row>(lists: AsyncIterable<readonly Row[]>): RowLists<Row> {
  const iterator = lists[Symbol.asyncIterator]();
  return {
    take: async () => {
      const { done, value } = await iterator.next();
      return done === true ? [] : value;
    },
    close: () => iterator.return?.(),
  };
}
