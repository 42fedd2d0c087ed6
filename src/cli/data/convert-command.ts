/** @file `monolith data convert`: rows of any files as one file of another format, numbers as numbers. */
import { MonolithError } from '../../base/errors.js';
import { cellIn, type DataRow, placeOf } from '../../data/files/place.js';
import { writeRows, writtenFormat } from '../../data/files/write-rows.js';
import { noColumn } from '../../recipe/label-plan.js';
import { typeOf } from '../../recipe/sniff-column.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { ConvertFlags } from './data-options.js';
import { calledBy, noRows, openRows, TableStats } from './open-data.js';

const BLOCK_ROWS = 8192;
/** Rows that say what columns are, in whole blocks. */
const LOOK_BLOCKS = 8;

export function runConvertCommand(files: string, flags: ConvertFlags, io: CliIo): Promise<number> {
  const { out } = flags;
  if (out === null) {
    const hint = '--out logs.parquet, for example';
    throw new MonolithError('ML_FLAG', { flag: 'data convert', reason: 'needs a file to write' }, { hint });
  }
  const format = writtenFormat(out);
  return stoppable(io, async (signal) => {
    const start = performance.now();
    const source = calledBy(files);
    const dataset = openRows(files, flags);
    const taken = flags.take === null ? dataset : dataset.take(flags.take);
    const isTyped = format === 'parquet' || format === 'tfrecord' || format === 'jsonl';
    const blocks = taken.batches(BLOCK_ROWS);
    const texts = flags.text?.split(',').map((name) => name.trim()) ?? [];
    const rows = await writeRows(out, isTyped ? typed(blocks, texts, source, signal) : blocks);
    if (rows === 0) throw noRows(source);
    const seconds = (performance.now() - start) / 1000;
    const { badRows } = dataset.findings;
    if (flags.json) io.out.write(jsonLine({ event: 'converted', source, out, rows, badRows, seconds }));
    else if (!flags.quiet) io.out.write(`${out}  ${rows.toLocaleString('en-US')} rows in ${seconds.toFixed(1)} s\n`);
    return EXIT_DONE;
  });
}

/** Rows whose numbers are numbers: the first blocks say which columns are. */
async function* typed(
  blocks: AsyncGenerator<DataRow[]>,
  texts: readonly string[],
  source: string,
  signal: AbortSignal,
): AsyncGenerator<readonly DataRow[]> {
  const stats = new TableStats();
  const head: DataRow[][] = [];
  while (head.length < LOOK_BLOCKS) {
    const { done, value } = await blocks.next();
    if (done === true) break;
    stats.add(value);
    head.push(value);
  }
  const names = [...stats.columns.keys()];
  for (const name of texts) if (!names.includes(name)) throw noColumn(name, names, source, (near) => `--text ${near}`);
  const kinds = [...stats.columns.values()].flatMap((column): [string, 'int' | 'num'][] => {
    const type = texts.includes(column.name) ? 'text' : typeOf(column);
    const isWhole = type === 'int' || (type === 'time' && column.integers === column.present);
    // A column that has texts for what is missing stays a text.
    if (column.nulls > 0 || column.arrays > 0) return [];
    return isWhole ? [[column.name, 'int']] : type === 'num' ? [[column.name, 'num']] : [];
  });
  const convert = (row: DataRow): DataRow => {
    const made: Record<string, unknown> = { ...row };
    for (const [name, kind] of kinds) made[name] = numberOf(row, name, kind);
    return made;
  };
  for (const rows of head.splice(0)) yield rows.map(convert);
  for await (const rows of blocks) {
    signal.throwIfAborted();
    yield rows.map(convert);
  }
}

function numberOf(row: DataRow, name: string, kind: 'int' | 'num'): unknown {
  const cell = cellIn(row, name);
  if (typeof cell !== 'string') return cell;
  const text = cell.trim();
  if (text === '') return undefined;
  if (kind === 'int' && /^[-+]?\d{1,19}$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  const value = Number(text);
  if (kind === 'num' && Number.isFinite(value)) return value;
  const what = kind === 'int' ? 'whole number' : 'number';
  const fields = {
    where: placeOf(row) ?? 'a row',
    row: 0,
    column: name,
    reason: `${JSON.stringify(cell)} is no ${what}`,
  };
  throw new MonolithError('ML_DATA', fields, { hint: `--text ${name} keeps the column as texts` });
}
