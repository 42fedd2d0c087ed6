/** @file `monolith import` of tables of the reference: what is in them, and their rows in the tables of a run. */
import { MonolithError } from '../base/errors.js';
import { type DumpedTable, dumpFolder, rowsOfDump, tablesOfDump } from '../sparse/files/dump-folder.js';
import { type DumpReport, importTableDump } from '../sparse/files/import-dump.js';
import { changeTables } from '../trained/import-rows.js';
import { openRun } from '../trained/open-run.js';
import type { ImportFlags } from './export-options.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';

/** Tells of every table, or puts them into those of a run. */
export async function runImportDump(dir: string, flags: ImportFlags, io: CliIo): Promise<number> {
  const { into, out, map, state } = flags;
  if (into === undefined) {
    if (out === undefined && map === undefined && !state) return tellTables(dir, flags, io);
    throw new MonolithError('ML_FLAG', { flag: 'import', reason: '--out, --map and --state go with --into RUN' });
  }
  if (out === undefined) {
    const hint = '--out runs/changed: a run is not changed in its place';
    throw new MonolithError('ML_FLAG', { flag: 'import', reason: '--into needs --out' }, { hint });
  }
  const run = await openRun(into);
  const { report, path } = await changeTables(run, out, async (tables, save) => {
    const found = await importTableDump(dir, tables, { ...(map && { rename: map }), state });
    if (found.imported.length === 0) throw noneFits(found);
    return { report: found, path: await save() };
  });
  if (flags.json) {
    io.out.write(jsonLine({ event: 'imported', ...report, path }));
    return EXIT_DONE;
  }
  const lines = [
    `${path}  from ${report.dir}`,
    ...report.imported.map(({ table, from, rows, added }) => {
      return `  set       ${table.padEnd(20)} ${rows} rows of ${from}, ${added} of them new`;
    }),
    ...report.untouched.map((table) => `  untouched ${table}`),
    ...report.skipped.map((table) => `  skipped   ${table}: the run has no table of this name; --map TABLE=${table}`),
  ];
  io.out.write(`${lines.join('\n')}\n`);
  return EXIT_DONE;
}

function noneFits({ skipped, untouched }: DumpReport): MonolithError {
  const reason = `the tables are ${untouched.join(', ')}, and it has ${skipped.slice(0, 10).join(', ') || 'none'}`;
  return new MonolithError(
    'ML_TABLE_UNKNOWN',
    { table: 'of the dump', reason },
    { hint: `--map ${untouched[0] ?? 'TABLE'}=${skipped[0] ?? 'NAME'}` },
  );
}

function tellTables(dir: string, { json }: ImportFlags, io: CliIo): number {
  const folder = dumpFolder(dir);
  const tables = tablesOfDump(folder).map(summaryOf);
  if (json) {
    io.out.write(jsonLine({ event: 'imported', folder, tables }));
    return EXIT_DONE;
  }
  const lines = tables.map(({ name, rows, dims, newest }) => {
    const size = `${rows} rows of ${dims.join(', ') || 'none'}`;
    return `  table ${name.padEnd(20)} ${size}, the newest of ${newest ?? 'no time'}`;
  });
  io.out.write(`${[folder, ...lines, 'read to the end: put them into a run with --into RUN --out DIR'].join('\n')}\n`);
  return EXIT_DONE;
}

/** Reads every row. Dimensions are listed as long as they are few: more are no table of one kind. */
function summaryOf(table: DumpedTable) {
  const dims = new Set<number>();
  let [rows, newestSec] = [0, 0];
  for (const { weights, timeSec } of rowsOfDump(table)) {
    rows++;
    if (dims.size < 8) dims.add(weights.length);
    newestSec = Math.max(newestSec, timeSec);
  }
  const isTime = newestSec > 0 && newestSec < 2 ** 40;
  return { name: table.name, rows, dims: [...dims], newest: isTime ? new Date(newestSec * 1000).toISOString() : null };
}
