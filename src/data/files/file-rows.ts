/** @file Rows of data files of any format, file by file: the format follows from the name, or is said. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { CacheFound } from '../cache/block-cache.js';
import { type BadRowOptions, type BadRowsFound, badRowsOf } from './bad-rows.js';
import { CSV_OPTIONS, type CsvForm, type CsvOptions } from './csv-options.js';
import { dataTypeOf, FRAMING_OPTIONS, type FramingOptions } from './framing.js';
import type { DataRow } from './place.js';
import { readBytes, STDIN } from './read-bytes.js';

export const FORMATS = ['csv', 'jsonl', 'tfrecord', 'parquet', 'framed'] as const;
export type Format = (typeof FORMATS)[number];

export interface FileOptions extends CsvOptions, BadRowOptions {
  /**
   * Default: by the name, without `.gz` and the like: `.jsonl`, `.ndjson`, `.tfrecord`, `.parquet`, else CSV. `framed`
   * has to be said.
   */
  readonly format?: Format;
  /** What a framed file holds, with the spellings that configs have: `Instance`, `Example`, `ExampleBatch`. */
  readonly dataType?: string;
  /** Which parts the headers of a framed file have. */
  readonly framing?: FramingOptions;
  /** Of `count` workers the one that reads: it takes the files `index`, `index + count`, … Default: all. */
  readonly shard?: { readonly index: number; readonly count: number };
}

const ENDINGS: readonly (readonly [RegExp, Format])[] = [
  [/\.(?:jsonl|ndjson)$/i, 'jsonl'],
  [/\.tfrecords?$/i, 'tfrecord'],
  [/\.parquet$/i, 'parquet'],
];

/** What reading found out on the way. */
export interface Findings extends BadRowsFound {
  /** Of each file of cells. */
  readonly forms: Map<string, CsvForm>;
  /** What `Dataset.cache` did. */
  cache?: CacheFound | undefined;
}

const OWN_OPTIONS = ['format', 'badRows', 'badRowsMax', 'dataType', 'framing', 'shard'] as const;

export function checkFileOptions(options: FileOptions): void {
  checkOptions('Dataset.from', options, [...OWN_OPTIONS, ...CSV_OPTIONS]);
  const { format, badRows = 'stop' } = options;
  if (format !== undefined && !FORMATS.includes(format)) throw noChoice('format', format, FORMATS);
  if (!['stop', 'skip'].includes(badRows)) throw noChoice('badRows', badRows, ['stop', 'skip']);
  if (options.dataType !== undefined) dataTypeOf(options.dataType);
  if (options.framing !== undefined) checkOptions('Dataset.from framing', options.framing, FRAMING_OPTIONS);
  if (options.shard === undefined) return;
  const { index, count } = checkOptions('Dataset.from shard', options.shard, ['index', 'count']);
  if (Number.isInteger(index) && Number.isInteger(count) && index >= 0 && index < count) return;
  const reason = `shard ${String(index)} is none of ${String(count)}`;
  throw new MonolithError('ML_OPTION', { where: 'Dataset.from', option: 'shard', reason });
}

function noChoice(option: string, given: string, choices: readonly string[]): MonolithError {
  const hint = didYouMean(String(given), choices) ?? `there are ${choices.join(', ')}`;
  const reason = `${option} is not ${String(given)}`;
  return new MonolithError('ML_OPTION', { where: 'Dataset.from', option, reason }, { hint });
}

export function formatOf(file: string, { format }: FileOptions): Format {
  const name = file.replace(/\.(?:gz|gzip|zst|zz|snappy)$/i, '');
  return format ?? ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? 'csv';
}

/** Rows of the files, one file after the other, some hundred at a time. */
export async function* fileRows(
  files: readonly string[],
  options: FileOptions,
  findings: Findings,
): AsyncGenerator<readonly DataRow[]> {
  const onBadRow = badRowsOf(options, findings);
  for (const file of files) {
    const format = formatOf(file, options);
    if (format === 'parquet' && file === STDIN) {
      throw new MonolithError('ML_DATASET', {
        reason: 'Parquet cannot come from standard input: it is read from its end',
      });
    }
    // A decoder is loaded with the first file of its format.
    switch (format) {
      case 'csv':
        yield* (await import('./csv-rows.js')).csvRows(file, {
          options: csvOptionsOf(options),
          onBadRow,
          onForm: (form) => findings.forms.set(file, form),
        });
        break;
      case 'jsonl':
        yield* (await import('./json-rows.js')).jsonRows(file, onBadRow);
        break;
      case 'tfrecord':
        yield* (await import('./example-rows.js')).exampleRows(file, onBadRow);
        break;
      case 'parquet':
        yield* (await import('./parquet-rows.js')).parquetRows(file);
        break;
      case 'framed': {
        const { dataType = '', framing = {} } = options;
        const framed = { dataType: dataTypeOf(dataType), framing, onBadRow };
        yield* (await import('./framed-rows.js')).framedRows(file, readBytes(file), framed);
        break;
      }
      default:
        format satisfies never;
    }
  }
}

/** What of the options is about CSV. */
export function csvOptionsOf(options: FileOptions): CsvOptions {
  const own: readonly string[] = OWN_OPTIONS;
  return Object.fromEntries(Object.entries(options).filter(([name]) => !own.includes(name)));
}
