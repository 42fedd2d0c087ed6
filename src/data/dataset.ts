/**
 * @file Rows of files, lists or streams, with what is done to them on the way: a description that is gone over anew by
 * each reader, so that every epoch begins again. Estimators take it for data; `for await` shows its rows.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { isFileSource, queuedRows } from './files/file-queue.js';
import { checkFileOptions, type FileOptions, type Findings, fileRows } from './files/file-rows.js';
import { matchFiles } from './files/patterns.js';
import { atPlaceOf, type DataRow } from './files/place.js';
import { STDIN } from './files/read-bytes.js';
import { BLOCK_ROWS, blocksOf, type DatasetGiven, isNames } from './given-rows.js';
import type { Row } from './row.js';
import { type Blocks, checkCount, checkFunction, noColumn } from './row-blocks.js';
import { type RowStep, ShuffleBuffer } from './row-step.js';
import { type Features, Schema } from './schema.js';
import { sideRows } from './side-rows.js';
import { type SplitOptions, splitBlocks } from './split-rows.js';
import type { Transform } from './transform/row-transform.js';
import { type TransformGiven, transformOf } from './transform/transform.js';

export type { DatasetGiven } from './given-rows.js';
export type { SplitOptions } from './split-rows.js';

export interface ShuffleOptions {
  /** Default: 0. Each pass has an order of its own. */
  readonly seed?: number;
}

export interface SideOptions {
  /** The column that both have. */
  readonly key: string;
  /** Columns to take over. Default: all. */
  readonly columns?: readonly string[];
}

/** A data set of files as plain data. */
export interface DescribedDataset {
  readonly files: readonly string[];
  readonly options: FileOptions;
  readonly steps: readonly RowStep[];
  /** Where to say what was found. */
  readonly findings: Findings;
  /** Where parsed rows are kept. */
  readonly cache: { readonly dir?: string | undefined } | undefined;
}

interface Origin<F extends Features> {
  readonly schema: Schema<F> | undefined;
  readonly findings: Findings;
  /** What files there are; empty of rows that come from elsewhere. */
  readonly files: readonly string[];
  readonly options: FileOptions;
  readonly cache?: { readonly dir?: string | undefined };
}

/**
 * Rows of files, lists or streams, to be shuffled, split, joined and trained on.
 *
 * ```ts
 * const ratings = Dataset.from('ratings.csv', schema).with('movies.csv', { key: 'movieId' });
 * const { train, test } = ratings.split({ test: 0.1, by: 'row' });
 * ```
 */
export class Dataset<R extends DataRow = DataRow, F extends Features = Features> implements AsyncIterable<R> {
  readonly #blocks: Blocks<R>;
  readonly #origin: Origin<F>;

  readonly #steps: readonly RowStep[] | undefined;

  private constructor(blocks: Blocks<R>, origin: Origin<F>, steps: readonly RowStep[] | undefined) {
    this.#blocks = blocks;
    this.#origin = origin;
    this.#steps = steps;
  }

  /** Rows of files, a list, an iterable, or a function that returns one; with a schema their columns are known. */
  static from<const F extends Features>(
    given: DatasetGiven<Row<F>>,
    schema: Schema<F>,
    options?: FileOptions,
  ): Dataset<Row<F> & DataRow, F>;
  static from<R extends DataRow = DataRow>(given: DatasetGiven<R>, options?: FileOptions): Dataset<R>;
  static from(given: DatasetGiven<DataRow>, second?: Schema<Features> | FileOptions, third?: FileOptions): Dataset {
    const schema = second instanceof Schema ? second : undefined;
    const options = (second instanceof Schema ? third : (second ?? third)) ?? {};
    checkFileOptions(options);
    const findings: Findings = { forms: new Map(), badRows: 0, badRowErrors: [] };
    if (isNames(given)) {
      const names = [given].flat();
      if (names.length === 0) throw new MonolithError('ML_DATASET', { reason: 'no files were named' });
      const { files: all, warnings } = names.includes(STDIN) ? { files: names, warnings: [] } : matchFiles(names);
      const { index, count } = options.shard ?? { index: 0, count: 1 };
      const files = all.filter((_, number) => number % count === index);
      for (const warning of warnings) process.emitWarning(warning, { code: 'ML_DATASET' });
      return new Dataset(() => fileRows(files, options, findings), { schema, findings, files, options }, []);
    }
    if (isFileSource(given)) {
      // Which files a reader gets is known to nobody beforehand: no other thread can be told.
      const { index: reader } = options.shard ?? { index: 0 };
      const blocks = () => queuedRows(given, reader, options, findings);
      return new Dataset(blocks, { schema, findings, files: [], options }, undefined);
    }
    return new Dataset((pass) => blocksOf(given, pass), { schema, findings, files: [], options }, undefined);
  }

  /** The files it reads, after patterns; none where rows come from elsewhere. */
  get files(): readonly string[] {
    return this.#origin.files;
  }

  /** What its files turned out to be, and rows that were left out; complete once they have been read. */
  get findings(): Readonly<Findings> {
    return this.#origin.findings;
  }

  /** What a thread that reads files is told of the data set; undefined where it has functions of this program. */
  describe(): DescribedDataset | undefined {
    const { files, options, findings, cache } = this.#origin;
    return this.#steps === undefined ? undefined : { files, options, steps: this.#steps, findings, cache };
  }

  /**
   * Keeps what its files are parsed into in a file of `dir`, for the next epoch and the next run: see docs/data.md.
   * Rows and their order stay the same. Default: the folder `.monolith-cache` beside the first of them.
   */
  cache(dir?: string): Dataset<R, F> {
    if (dir !== undefined && (typeof dir !== 'string' || dir === '')) {
      throw new MonolithError('ML_OPTION', {
        where: 'Dataset.cache',
        option: 'dir',
        reason: 'it is the path of a folder',
      });
    }
    const { files } = this.#origin;
    if (files.length === 0 || files.includes(STDIN)) {
      const reason = `rows of ${files.length === 0 ? 'a program' : 'standard input'} cannot be known again: files can`;
      throw new MonolithError('ML_DATASET', { reason });
    }
    return new Dataset(this.#blocks, { ...this.#origin, cache: { dir } }, this.#steps);
  }

  /** Whether it was told to keep what it parses. */
  get isCached(): boolean {
    return this.#origin.cache !== undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<R> {
    for await (const rows of this.#blocks()) yield* rows;
  }

  /** Rows in lists of `size`; the last may be shorter. `pass` is the number of this pass, which decides shuffles. */
  async *batches(size: number, pass?: number): AsyncGenerator<R[]> {
    checkCount('batches', 'size', size);
    let waiting: R[] = [];
    for await (const rows of this.#blocks(pass)) {
      for (const row of rows) {
        waiting.push(row);
        if (waiting.length < size) continue;
        yield waiting;
        waiting = [];
      }
    }
    if (waiting.length > 0) yield waiting;
  }

  /** Other rows made of these. */
  map<To extends DataRow>(make: (row: R) => To): Dataset<To, F> {
    checkFunction('map', make);
    return this.#each((rows) => rows.map((row) => atPlaceOf(make(row), row)));
  }

  /** The rows that `keep` holds of. */
  filter(keep: (row: R) => boolean): Dataset<R, F> {
    checkFunction('filter', keep);
    return this.#each((rows) => rows.filter(keep));
  }

  /**
   * What a config of Monolith does to examples: a `TransformConfig` or its bytes, one of its parts such as
   * `{ filterByAction: { hasActions: [1] } }`, or a list of parts in order. `data.addLabel` makes labels of actions.
   */
  transform(config: TransformGiven | Transform): Dataset<DataRow, F> {
    const change = typeof config === 'function' ? config : transformOf(config);
    return this.#each<DataRow>((rows) =>
      rows.flatMap((row): readonly DataRow[] => {
        const changed = change(row);
        return changed === undefined ? [] : [changed];
      }),
    );
  }

  /** The first `count` rows. */
  take(count: number): Dataset<R, F> {
    checkCount('take', 'count', count);
    const blocks = this.#blocks;
    return this.#next(
      async function* (pass) {
        let left = count;
        for await (const rows of blocks(pass)) {
          yield rows.length > left ? rows.slice(0, left) : rows;
          left -= rows.length;
          if (left <= 0) return;
        }
      },
      { kind: 'take', count },
    );
  }

  /** The rows again and again, `times` times. */
  repeat(times: number): Dataset<R, F> {
    if (times !== Number.POSITIVE_INFINITY) checkCount('repeat', 'times', times);
    const blocks = this.#blocks;
    return this.#next(
      async function* (outer) {
        // As many numbers for each pass over all of it; without an end there is no second one.
        const first = outer === undefined || !Number.isFinite(times) ? 0 : outer * times;
        for (let pass = 0; pass < times; pass++) yield* blocks(outer === undefined ? undefined : first + pass);
      },
      { kind: 'repeat', times },
    );
  }

  /** Rows in another order in each pass: each is one of the `buffer` that are held at the time, at random. */
  shuffle(buffer: number, { seed = 0 }: ShuffleOptions = {}): Dataset<R, F> {
    checkCount('shuffle', 'buffer', buffer);
    const blocks = this.#blocks;
    let passes = 0;
    return this.#next(
      async function* (number) {
        const pass = number ?? passes++;
        const held = new ShuffleBuffer<R>(buffer, seed, pass);
        for await (const rows of blocks(pass)) {
          const out = held.push(rows);
          if (out.length > 0) yield out;
        }
        while (held.size > 0) yield held.rest(BLOCK_ROWS);
      },
      { kind: 'shuffle', buffer, seed },
    );
  }

  /**
   * Columns of a smaller table, held in memory, beside those of rows that have the same key. A row without a match has
   * none of them.
   */
  with(given: DatasetGiven<DataRow>, options: SideOptions): Dataset<R, F> {
    const { key, columns } = checkOptions('Dataset.with', options, ['key', 'columns']);
    let side: Promise<ReadonlyMap<string, DataRow>> | undefined;
    const read = () => {
      side ??= sideRows(Dataset.from(given as DatasetGiven<DataRow>), key, columns);
      return side;
    };
    const blocks = this.#blocks;
    return this.#next(async function* (pass) {
      const table = await read();
      for await (const rows of blocks(pass)) {
        if (rows.length > 0 && !(key in rows[0]!)) throw noColumn(rows[0]!, key);
        yield rows.map((row) => atPlaceOf({ ...table.get(String(row[key])), ...row }, row));
      }
    });
  }

  /** Two data sets that have no row in common: one to train on, one that is held out. */
  split(options: SplitOptions): { readonly train: Dataset<R, F>; readonly test: Dataset<R, F> } {
    const { train, test, steps } = splitBlocks(this.#blocks, this.#origin.schema, options);
    return { train: this.#next(train, steps?.[0]), test: this.#next(test, steps?.[1]) };
  }

  #each<To extends DataRow>(change: (rows: readonly R[]) => readonly To[]): Dataset<To, F> {
    const blocks = this.#blocks;
    const changed = async function* (pass?: number) {
      for await (const rows of blocks(pass)) yield change(rows);
    };
    return new Dataset<To, F>(changed, this.#origin, undefined);
  }

  /** With one more step; without it as plain data, no other thread can do what this one does. */
  #next(blocks: Blocks<R>, step?: RowStep): Dataset<R, F> {
    const steps = this.#steps === undefined || step === undefined ? undefined : [...this.#steps, step];
    return new Dataset(blocks, this.#origin, steps);
  }
}
