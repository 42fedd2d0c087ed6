/** @file Rows that a run is judged by: those it held out, read again from its files, or those of another file. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { Dataset } from '../data/dataset.js';
import type { FileOptions } from '../data/files/file-rows.js';
import type { DataRow } from '../data/files/place.js';
import { demoData, isDemo } from '../demo/demo-data.js';
import { allRows } from '../recipe/held-rows.js';
import { prepareTable } from '../recipe/prepared-table.js';
import { readTable, type TableGiven, type TableRead } from '../recipe/read-table.js';
import { labelName } from '../recipe/recipe-schema.js';
import { readEvents } from '../report/event-lines.js';
import type { JudgedRows } from './judged-rows.js';
import { type OpenRun, settingOf } from './open-run.js';
import { ownJudged, ownPast, ownRowsOf } from './own-run.js';

export interface RowsAsked extends Omit<FileOptions, 'shard'> {
  /** In place of the rows that the run held out. */
  readonly data?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function judgedRows(run: OpenRun, asked: RowsAsked): Promise<JudgedRows> {
  const { data } = asked;
  if (run.own !== undefined) return ownJudged(run.own, data, readingOf(run, asked), asked.signal);
  if (data !== undefined) {
    const { table } = await readRun(run, asked, data);
    const labels = table.floats(labelName(run.recipe));
    return { table, rows: allRows(table), labels, source: basename(data), averages: undefined, idColumns: [] };
  }
  const source = dataOf(run);
  const split = settingOf(run, 'split') as string | null;
  const evalData = settingOf(run, 'evalData') as string | null;
  const splitBy = split === null || split === 'time' || split === 'row' ? undefined : split;
  const read = await readRun(run, asked, source, {
    ...(splitBy !== undefined && { splitBy }),
    ...(evalData !== null && { evalData: placed(run, evalData) }),
  });
  const seed = Number(settingOf(run, 'seed') ?? 0);
  const given = { source: basename(source), split: split ?? undefined, seed };
  const { table, parts, averages, label, idColumns } = prepareTable(read, given, () => undefined);
  return {
    ...{ table, idColumns },
    rows: parts.test,
    labels: Float32Array.from(parts.test, (row) => label[row]!),
    source: `rows of ${basename(source)} that chose nothing`,
    averages: averages.predict(parts.test),
  };
}

/** The files that the run was trained on. */
export function dataOf(run: OpenRun): string {
  const data = settingOf(run, 'data');
  const known = typeof data === 'string' && data !== '-' ? placed(run, data) : undefined;
  if (known !== undefined && (/[*?[{]/.test(known) || isDemo(known) || existsSync(known))) return known;
  const reason = data === '-' ? 'it read standard input' : `its data ${String(known ?? data)} is no longer there`;
  const hint = '--data FILE gives rows of the same columns';
  throw new MonolithError('ML_FILE_READ', { file: run.dir, reason }, { hint });
}

/** Whether rows of `data` are those that the run was trained on, as far as the name of the file says. */
export function isTrainedOn(run: OpenRun, data: string): boolean {
  const known = settingOf(run, 'data');
  if (typeof known !== 'string' || known === '-' || data === '-') return false;
  return isDemo(known) ? known === data : resolve(placed(run, known)) === resolve(data);
}

/** A path of the run's command line, from the folder it was given in. */
const placed = ({ record }: OpenRun, path: string): string =>
  isAbsolute(path) || isDemo(path) || record === null ? path : join(record.folder, path);

/** Rows of files, or those of a demo that the last training of the run was given. */
export function rowsOfData(run: OpenRun, asked: RowsAsked, data: string): Dataset {
  if (run.own !== undefined) return ownRowsOf(run.own, data, readingOf(run, asked));
  return isDemo(data) ? Dataset.from(demoOf(run, data)) : Dataset.from(data, readingOf(run, asked));
}

/** The rows of the past: those that are asked for, else those that the run had. */
export function pastRows(run: OpenRun, asked: RowsAsked): Dataset {
  if (asked.data === undefined && run.own !== undefined) return ownPast(run.own);
  return rowsOfData(run, asked, asked.data ?? dataOf(run));
}

function demoOf(run: OpenRun, data: string): Iterable<DataRow> {
  const trained = readEvents(run.dir).filter(({ event }) => event === 'trained').length;
  return demoData(data, Math.max(0, trained - 1)).rows;
}

/** Rows of a file as the run saw them. */
export function readRun(
  run: OpenRun,
  asked: RowsAsked,
  data: string,
  more: Partial<TableGiven> = {},
): Promise<TableRead> {
  const { recipe, sides } = run;
  const options = readingOf(run, asked);
  return readTable({
    data: isDemo(data) ? demoOf(run, data) : data,
    ...{ recipe, options, kept: sides, source: basename(data), label: undefined, sides: [], over: {} },
    model: recipe.model,
    badRowsMax: options.badRowsMax ?? Number(settingOf(run, 'badRowsMax') ?? 0),
    ...(asked.signal && { signal: asked.signal }),
    ...more,
  });
}

/** How files are read: as it is said now, else as it was said to the run. */
export function readingOf(run: OpenRun, { data: _data, signal: _signal, ...said }: RowsAsked): FileOptions {
  const badRows = settingOf(run, 'badRows') === 'skip' ? 'skip' : 'stop';
  return { badRows, ...run.recipe.reading, ...said };
}
