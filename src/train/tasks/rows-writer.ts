/**
 * @file Rows of predictions as text: what `output_path` and `output_fields` of a MonolithBaseModel ask for.
 *
 * A row has the fields in their order, then the predictions by the names of their heads, between delimiters. Rows are
 * appended to `<output_path>/part-<worker, five digits>`. A field with several values has them between commas.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { FeedData } from '../../memory/batch.js';
import type { BatchListener, PredictedBatch } from '../estimator/estimator-model.js';

export interface RowsWriterOptions {
  /** Folder. */
  readonly path: string;
  /** Features to write beside predictions. */
  readonly fields: readonly string[];
  readonly delimiter: string;
  readonly workerIndex: number;
}

/** Writes the rows of each batch that is predicted. */
export class RowsWriter implements BatchListener {
  readonly #options: RowsWriterOptions;
  #file: FileHandle | undefined;

  constructor(options: RowsWriterOptions) {
    this.#options = options;
  }

  async batch(batch: PredictedBatch): Promise<void> {
    this.#file ??= await this.#opened();
    await this.#file.appendFile(rowsOf(batch, this.#options));
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #opened(): Promise<FileHandle> {
    const { path, workerIndex } = this.#options;
    const file = join(path, `part-${String(workerIndex).padStart(5, '0')}`);
    try {
      await mkdir(path, { recursive: true });
      return await open(file, 'a');
    } catch (cause) {
      const { message } = cause as Error;
      throw new MonolithError('ML_OUTPUT', { reason: `rows of predictions in ${file}: ${message}` }, { cause });
    }
  }
}

function rowsOf({ examples, features, heads }: PredictedBatch, { fields, delimiter }: RowsWriterOptions): string {
  const columns = fields.map((name) => featureColumn(name, features, examples));
  const names = Object.keys(heads).sort();
  const rows = Array.from({ length: examples }, (_, row) => {
    const predicted = names.map((name) => valuesAt(heads[name]!, row, examples));
    return `${[...columns.map((column) => column(row)), ...predicted].join(delimiter)}\n`;
  });
  return rows.join('');
}

function featureColumn(name: string, features: PredictedBatch['features'], rows: number): (row: number) => string {
  const feed = Object.hasOwn(features, name) ? features[name] : undefined;
  if (feed === undefined) {
    const reason = `output_fields names ${name}, which is no feature of the input`;
    const hint = didYouMean(name, Object.keys(features));
    throw new MonolithError('ML_TASK', { reason }, hint === undefined ? {} : { hint });
  }
  return (row) => featureAt(feed, row, rows);
}

function featureAt(feed: FeedData, row: number, rows: number): string {
  if (feed.kind === 'ragged') return [...feed.values.slice(feed.splits[row]!, feed.splits[row + 1]!)].join(',');
  if (feed.kind === 'dense') return valuesAt(feed.values, row, rows);
  const width = feed.values.length / rows;
  return [...feed.values.slice(row * width, (row + 1) * width)].join(',');
}

/** Numbers in the fewest digits that give the same float32. */
function valuesAt(values: Float32Array, row: number, rows: number): string {
  const width = values.length / rows;
  return [...values.subarray(row * width, (row + 1) * width)].map(shortest).join(',');
}

function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(Number(value.toPrecision(9)));
}
