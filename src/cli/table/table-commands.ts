/** @file `monolith table export|import|nearest`: rows of a run's tables, out, in, and beside each other. */
import { MonolithError } from '../../base/errors.js';
import { Dataset } from '../../data/dataset.js';
import { csvText } from '../../data/files/csv-text.js';
import type { DataRow } from '../../data/files/place.js';
import { writeRows, writtenFormat } from '../../data/files/write-rows.js';
import type { HashTable } from '../../sparse/table/hash-table.js';
import { importRows } from '../../trained/import-rows.js';
import { type OpenRun, openRun } from '../../trained/open-run.js';
import { idOfValue, nearestRows, rowsOf, tableNamed, valuesOfIds } from '../../trained/run-tables.js';
import { Scorer } from '../../trained/scorer.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { checkThere, fileOptionsOf } from '../learn/table-run.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { TableExportFlags, TableImportFlags, TableNearestFlags } from './table-options.js';

const BLOCK_ROWS = 4096;

interface TableAtHand {
  readonly run: OpenRun;
  readonly name: string;
  readonly table: HashTable;
  /** Values of ids as the data has them. */
  readonly values: ReadonlyMap<bigint, string>;
}

async function withTable(
  dir: string,
  flags: { readonly table: string | null; readonly checkpoint: string | null },
  io: CliIo,
  body: (at: TableAtHand) => Promise<number>,
): Promise<number> {
  return stoppable(io, async (signal) => {
    const run = await openRun(dir, flags.checkpoint ?? undefined);
    const scorer = await Scorer.open(run.model, run.checkpoint, { threads: 1, signal });
    try {
      const [name, table] = tableNamed(scorer.tables, flags.table);
      return await body({ run, name, table, values: await valuesOfIds(run, name, { signal }) });
    } finally {
      await scorer.close();
    }
  });
}

export function runTableExport(dir: string, flags: TableExportFlags, io: CliIo): Promise<number> {
  const { out } = flags;
  if (out === null) {
    const hint = '--out rows.parquet, for example';
    throw new MonolithError('ML_FLAG', { flag: 'table export', reason: 'needs a file to write' }, { hint });
  }
  writtenFormat(out);
  return withTable(dir, flags, io, async ({ name, table, values }) => {
    const rows = await writeRows(out, exported(table, name, values));
    if (flags.json) io.out.write(jsonLine({ event: 'exported', table: name, rows, floats: table.dim, out }));
    else if (!flags.quiet) io.out.write(`${out}  ${rows.toLocaleString('en-US')} rows of ${table.dim} floats\n`);
    return EXIT_DONE;
  });
}

/** A row has its id, its value where that is known, and a column for each float. */
async function* exported(
  table: HashTable,
  name: string,
  values: ReadonlyMap<bigint, string>,
): AsyncGenerator<readonly DataRow[]> {
  let rows: DataRow[] = [];
  for (const { id, value, weights } of rowsOf(table, values)) {
    const floats = Array.from(weights, (weight, at): [string, number] => [`v${at}`, weight]);
    rows.push({ id: String(id), [name]: value ?? '', ...Object.fromEntries(floats) });
    if (rows.length < BLOCK_ROWS) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

export async function runTableNearest(dir: string, flags: TableNearestFlags, io: CliIo): Promise<number> {
  const { id: asked, top } = flags;
  if (asked === null) {
    const hint = '--id 318 names one';
    throw new MonolithError('ML_FLAG', { flag: 'table nearest', reason: 'needs an id' }, { hint });
  }
  return withTable(dir, flags, io, async ({ run, name, table, values }) => {
    const id = idOfValue(asked);
    // Rows of the models of tables begin with a bias, which says nothing of where a row points.
    const found = nearestRows(table, id, values, { top, first: table.dim > 1 ? 1 : 0 });
    if (found === undefined) {
      const reason = 'training never saw it';
      throw new MonolithError('ML_NOT_FOUND', { what: `${name} ${asked}`, reason });
    }
    const columns = flags.show === null ? [] : flags.show.split(',').map((column) => column.trim());
    const near = found.map((one) => ({ ...one, shown: shownOf(run, { [name]: one.value }, columns) }));
    if (flags.json) io.out.write(jsonLine({ event: 'nearest', table: name, id, near }));
    else {
      for (const { similarity, value, id: other, shown } of near) {
        const beside = Object.values(shown).map((cell) => csvText(cell));
        io.out.write(`${[similarity.toFixed(3), value ?? String(other), ...beside].join('  ')}\n`);
      }
    }
    return EXIT_DONE;
  });
}

function shownOf({ sides }: OpenRun, row: DataRow, columns: readonly string[]): Record<string, unknown> {
  const beside = (name: string) => sides.map((side) => side.beside(row)[name]).find((cell) => cell !== undefined);
  return Object.fromEntries(columns.map((name) => [name, beside(name)]));
}

export async function runTableImport(dir: string, flags: TableImportFlags, io: CliIo): Promise<number> {
  const { data, out } = flags;
  if (data === null || out === null) {
    const hint = '--data rows.parquet --out runs/changed';
    throw new MonolithError('ML_FLAG', { flag: 'table import', reason: 'needs --data and --out' }, { hint });
  }
  checkThere(data);
  return stoppable(io, async (signal) => {
    const run = await openRun(dir, flags.checkpoint ?? undefined);
    const found = await importRows(run, flags.table, out, async function* (dim) {
      for await (const rows of Dataset.from(data, fileOptionsOf(flags)).batches(BLOCK_ROWS)) {
        signal.throwIfAborted();
        yield blockOf(rows, dim, flags.table);
      }
    });
    if (flags.json) io.out.write(jsonLine({ event: 'imported', ...found }));
    else if (!flags.quiet) {
      const added = found.added > 0 ? `, ${found.added} of them new` : '';
      io.out.write(`${found.path}  ${found.rows.toLocaleString('en-US')} rows of ${found.table} set${added}\n`);
    }
    return EXIT_DONE;
  });
}

function blockOf(rows: readonly DataRow[], dim: number, name: string | null) {
  const ids = new BigInt64Array(rows.length);
  const floats = new Float32Array(rows.length * dim);
  for (const [at, row] of rows.entries()) {
    const named = name === null ? undefined : row[name];
    const key = named === undefined || named === '' ? row.id : named;
    const values = (row.values ?? Array.from({ length: dim }, (_, float) => row[`v${float}`])) as ArrayLike<unknown>;
    if (key === undefined || key === '' || values.length !== dim) throw noVector(row, dim, name);
    ids[at] = idOfValue(key);
    for (let float = 0; float < dim; float++) {
      const value = Number(values[float] ?? Number.NaN);
      if (!Number.isFinite(value)) throw noVector(row, dim, name);
      floats[at * dim + float] = value;
    }
  }
  return { ids, rows: floats };
}

function noVector(row: DataRow, dim: number, name: string | null): MonolithError {
  const columns = Object.keys(row).join(', ');
  const wanted = `${name ?? 'id'} and ${dim} numbers, v0 to v${dim - 1} or a list called values`;
  const reason = `a row needs ${wanted}; it has ${columns}`;
  return new MonolithError('ML_DATASET', { reason }, { hint: 'monolith table export shows what rows look like' });
}
