/** @file Writes rows to a file, CSV, JSON lines, TFRecord of tf.Example or Parquet; it is there whole or not at all. */
import { MonolithError, messageOf } from '../../base/errors.js';
import { type FileSink, replaceFile } from '../../base/files/atomic-file.js';
import { didYouMean } from '../../base/suggest.js';
import { csvLine, csvText } from './csv-text.js';
import { cellIn, type DataRow } from './place.js';
import type { RowEncoder } from './row-encoder.js';

export const WRITTEN_FORMATS = ['csv', 'tsv', 'jsonl', 'tfrecord', 'parquet'] as const;
export type WrittenFormat = (typeof WRITTEN_FORMATS)[number];

/** The format of a file by its name; ML_FLAG where it says none. */
export function writtenFormat(file: string): WrittenFormat {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  const known = { ndjson: 'jsonl', tfrecords: 'tfrecord' }[ending] ?? ending;
  const found = WRITTEN_FORMATS.find((format) => format === known);
  if (found !== undefined) return found;
  const hint = didYouMean(known, WRITTEN_FORMATS) ?? `end it with one of .${WRITTEN_FORMATS.join(', .')}`;
  throw new MonolithError('ML_FLAG', { flag: '--out', reason: `${file} names no format that is written` }, { hint });
}

/** What makes bytes of rows. `columns` are all of them, known before the first row. */
export async function rowEncoder(format: WrittenFormat, columns: readonly string[]): Promise<RowEncoder> {
  switch (format) {
    case 'csv':
      return csvEncoder(columns, ',');
    case 'tsv':
      return csvEncoder(columns, '\t');
    case 'jsonl':
      return { block: (rows) => rows.map(jsonText).join('') };
    case 'tfrecord':
      return (await import('./write-examples.js')).exampleEncoder();
    case 'parquet':
      return (await import('./write-parquet.js')).parquetEncoder(columns);
    default:
      return format satisfies never;
  }
}

/** Writes blocks of rows; returns how many rows there were. */
export async function writeRows(file: string, blocks: AsyncIterable<readonly DataRow[]>): Promise<number> {
  const format = writtenFormat(file);
  let rows = 0;
  const write = async (sink: FileSink) => {
    const put = async (text: Uint8Array | string) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      if (bytes.length > 0) await sink.write(bytes);
    };
    let encoder: RowEncoder | undefined;
    let known: ReadonlySet<string> | undefined;
    for await (const block of blocks) {
      if (block.length === 0) continue;
      if (encoder === undefined) {
        const columns = columnsOf(block);
        encoder = await rowEncoder(format, columns);
        if (hasFixedColumns(format)) known = new Set(columns);
      } else if (known !== undefined) checkColumns(file, block, known);
      rows += block.length;
      await put(encoder.block(block));
    }
    if (encoder?.end !== undefined) await put(encoder.end());
  };
  const errorOf = (path: string, cause: unknown) =>
    cause instanceof MonolithError
      ? cause
      : new MonolithError('ML_OUTPUT', { reason: `${path}: ${messageOf(cause)}` }, { cause });
  await replaceFile(file, write, { errorOf });
  return rows;
}

const hasFixedColumns = (format: WrittenFormat): boolean => format !== 'jsonl' && format !== 'tfrecord';

/** ML_DATASET for a column that comes once the columns are written: it would be lost. */
function checkColumns(file: string, rows: readonly DataRow[], known: ReadonlySet<string>): void {
  const name = columnsOf(rows).find((one) => !known.has(one));
  if (name === undefined) return;
  const reason = `${file} has no column ${name}: it is not in the first rows, and comes later`;
  throw new MonolithError('ML_DATASET', { reason }, { hint: 'JSON lines and TFRecord take columns as they come' });
}

/** Names of the columns of some rows, in the order they come. */
export function columnsOf(rows: readonly DataRow[]): string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

function csvEncoder(columns: readonly string[], delimiter: string): RowEncoder {
  let isFirst = true;
  return {
    block: (rows) => {
      const head = isFirst ? csvLine(columns, delimiter) : '';
      isFirst = false;
      return (
        head +
        rows
          .map((row) =>
            csvLine(
              columns.map((name) => csvText(cellIn(row, name))),
              delimiter,
            ),
          )
          .join('')
      );
    },
  };
}

function jsonText(row: DataRow): string {
  const text = JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return ArrayBuffer.isView(value) ? Array.from(value as never as ArrayLike<unknown>) : value;
  });
  return `${text}\n`;
}
