/** @file `monolith data head`: the first rows of files, as they are read. */
import { visible } from '../../base/visible.js';
import { csvText } from '../../data/files/csv-text.js';
import { cellIn, type DataRow } from '../../data/files/place.js';
import { columnsOf } from '../../data/files/write-rows.js';
import type { CliIo } from '../io.js';
import { jsonRow } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { HeadFlags } from './data-options.js';
import { calledBy, noRows, openRows } from './open-data.js';

const CELL_MAX = 40;

export function runHeadCommand(files: string, flags: HeadFlags, io: CliIo): Promise<number> {
  return stoppable(io, async () => {
    const rows: DataRow[] = [];
    for await (const row of openRows(files, flags).take(flags.rows)) rows.push(row);
    if (rows.length === 0) throw noRows(calledBy(files));
    io.out.write(flags.json ? rows.map(jsonRow).join('') : tableText(rows));
    return EXIT_DONE;
  });
}

function tableText(rows: readonly DataRow[]): string {
  const columns = columnsOf(rows);
  const cells = rows.map((row) => columns.map((name) => cut(visible(csvText(cellIn(row, name))))));
  const lines = [columns.map(visible), ...cells];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

const cut = (text: string): string => (text.length > CELL_MAX ? `${text.slice(0, CELL_MAX - 1)}…` : text);
