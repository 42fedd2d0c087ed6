/** @file `monolith inspect`: what a checkpoint or the files of a table hold. Reads only. */
import { MonolithError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import { visible } from '../base/visible.js';
import { stepOfPrefix } from '../checkpoint/names.js';
import { wrapped } from '../checkpoint/verify-checkpoint.js';
import { isBundleDtype } from '../io/bundle-format.js';
import { slotOfFidV2 } from '../sparse/config/fid.js';
import { type Contents, readContents, type TableFiles } from './inspect-contents.js';
import type { InspectFlags } from './inspect-options.js';
import {
  type FoundRow,
  isNamed,
  type ScanOptions,
  type ScanResult,
  scanFiles,
  type TableReport,
} from './inspect-scan.js';
import { knownShape } from './inspect-segments.js';
import { findTarget, type InspectTarget } from './inspect-target.js';
import {
  denseLines,
  filterLines,
  idText,
  rowLines,
  rowParts,
  type ShownTable,
  slotLines,
  tableLines,
} from './inspect-text.js';
import type { CliIo } from './io.js';
import { jsonLine, snakeCaseDeep } from './json-line.js';
import { EXIT_DONE, EXIT_FAILED } from './report.js';
import { ScanProgress } from './scan-progress.js';
import { SIGNAL_EXIT } from './stop-signals.js';

/** Slots listed per table when nobody says how many. */
const SLOTS_TOP = 10;

/** Names in a hint. */
const NAMES_SHOWN = 4;

/** Prints what is at `path` and returns the exit code: 1 when an id was asked for that no table has. */
export async function runInspectCommand(path: string, flags: InspectFlags, io: CliIo): Promise<number> {
  const target = await findTarget(path);
  const contents = readContents(target);
  if (flags.id !== undefined) return showRow(target, contents, flags.id, flags, io);
  const tables = flags.quick ? quickTables(contents, flags) : (await readTables(contents, flags, io)).tables;
  const shown = { ...contents, ...(flags.table === undefined ? {} : { dense: [], filters: [] }) };
  if (flags.json) io.out.write(jsonLine(checkpointFields(target, shown, tables, flags)));
  else io.out.write(`${checkpointLines(target, shown, tables, flags).map(visible).join('\n')}\n`);
  return EXIT_DONE;
}

/** Reads all rows, or looks for one; a bar shows how far it is, and a signal ends the process at once. */
async function readTables(contents: Contents, flags: InspectFlags, io: CliIo): Promise<ScanResult> {
  const sets = contents.tables.filter((set) => mayHold(set, flags.table));
  const progress = new ScanProgress(
    io,
    sets.reduce((sum, set) => sum + set.bytes, 0),
  );
  const stopSignals = io.onSignal((signal) => {
    progress.close();
    io.exit(SIGNAL_EXIT[signal]);
  });
  const results: ScanResult[] = [];
  try {
    let before = 0;
    for (const set of sets) {
      const done = before;
      const options: ScanOptions = {
        table: flags.table,
        id: flags.id,
        onBytes: (bytes) => progress.update(done + bytes),
      };
      results.push(await scanFiles(set, options));
      before += set.bytes;
    }
    if (flags.id === undefined && flags.table === undefined) verifyDense(contents);
  } catch (error) {
    throw withQuickHint(error);
  } finally {
    progress.close();
    stopSignals();
  }
  const tables = results.flatMap((result) => result.tables);
  checkTable(flags.table, contents, tables);
  return { tables, found: results.flatMap((result) => result.found) };
}

/** Reads all there is once, for its checksums. */
export async function readAllRows(contents: Contents, io: CliIo): Promise<void> {
  await readTables(contents, { quick: false, slots: false, json: false, verbose: false }, io);
}

/** Tables that share files are known by name only when the files were read. */
function mayHold(set: TableFiles, table: string | undefined): boolean {
  return isNamed(set.name, table) || set.files.some((file) => file.metaPath !== null);
}

function checkTable(name: string | undefined, contents: Contents, found: readonly { name: string }[]): void {
  if (name === undefined || found.length > 0) return;
  const names = contents.tables.map((table) => table.name);
  const near = suggest(name, names);
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const all = names.length === 0 ? 'there are none' : `there are ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
  const hint = near === undefined ? all : `did you mean ${near}?`;
  throw new MonolithError('ML_FLAG', { flag: '--table', reason: `there is no table "${name}"` }, { hint });
}

/** Reads each variable once, for its checksum. */
function verifyDense({ bundle, dense }: Contents): void {
  if (bundle === null) return;
  for (const { name } of dense) {
    if (isBundleDtype(bundle.entry(name).dtype)) wrapped(`${bundle.prefix}.index`, () => bundle.read(name));
  }
}

function withQuickHint(error: unknown): unknown {
  if (!(error instanceof MonolithError) || error.code !== 'ML_CKPT_CORRUPT') return error;
  const hint = error.hint ?? '--quick shows what the checkpoint says it holds, without reading rows';
  return new MonolithError('ML_CKPT_CORRUPT', error.fields, { hint, cause: error.cause ?? error });
}

function quickTables(contents: Contents, flags: InspectFlags): ShownTable[] {
  const sets = contents.tables.filter((set) => isNamed(set.name, flags.table));
  checkTable(flags.table, contents, sets);
  return sets.map((set): ShownTable => {
    const segments = set.manifest === null ? [] : knownShape(set.manifest.segments).shown;
    const common = {
      name: set.name,
      segments,
      bytes: set.bytes,
      files: set.files.length,
      oldestSec: null,
      newestSec: null,
    };
    const rows = set.isWhole ? (set.manifest?.rowCount ?? null) : null;
    return rows === null ? { ...common, rows, slots: null } : { ...common, rows, slots: [] };
  });
}

function title({ path, prefix }: InspectTarget, { manifest }: Contents): string {
  if (prefix === null) return `files ${path}`;
  const about = [`step ${manifest?.step ?? stepOfPrefix(prefix)}`];
  if (manifest !== null) about.push(`model ${manifest.model}`);
  return `checkpoint ${path} (${about.join(', ')})`;
}

function checkpointLines(
  target: InspectTarget,
  contents: Contents,
  tables: readonly ShownTable[],
  { slots, top = SLOTS_TOP }: InspectFlags,
): string[] {
  const lines = [title(target, contents)];
  if (target.note !== null) lines.push(`note: ${target.note}`);
  if (contents.manifest === null && tables.length > 0) {
    lines.push('note: there is no manifest, so segments are those of the first row of each table');
  }
  if (slots) {
    for (const table of tables) if (table.slots !== null) lines.push(...slotLines(table, top));
    return lines;
  }
  lines.push(...denseLines(contents.dense), ...tables.flatMap(tableLines), ...filterLines(contents.filters));
  if (lines.length === 1) lines.push('nothing is in it');
  return lines;
}

function checkpointFields(
  target: InspectTarget,
  contents: Contents,
  tables: readonly ShownTable[],
  flags: InspectFlags,
): Record<string, unknown> {
  const { manifest, dense, filters } = contents;
  return {
    event: 'checkpoint',
    path: target.path,
    step: manifest?.step ?? (target.prefix === null ? null : stepOfPrefix(target.prefix)),
    model: manifest?.model ?? null,
    hasManifest: manifest !== null,
    dense,
    tables: snakeCaseDeep(tables.map((table) => tableFields(table, flags))),
    filters,
  };
}

function tableFields(table: ShownTable, { slots: all, top }: InspectFlags): Record<string, unknown> {
  const { slots, ...rest } = table;
  const bytesPerRow = table.rows === null || table.rows === 0 ? null : table.bytes / table.rows;
  return {
    ...rest,
    bytesPerRow,
    slotCount: slots?.length ?? null,
    slots: slots?.slice(0, top ?? (all ? undefined : SLOTS_TOP)) ?? null,
  };
}

async function showRow(
  target: InspectTarget,
  contents: Contents,
  id: bigint,
  flags: InspectFlags,
  io: CliIo,
): Promise<number> {
  const { found, tables } = await readTables(contents, flags, io);
  if (flags.json) io.out.write(jsonLine(rowFields(target, id, found)));
  else io.out.write(`${rowText(id, found, tables)}\n`);
  return found.length > 0 ? EXIT_DONE : EXIT_FAILED;
}

function rowText(id: bigint, found: readonly FoundRow[], tables: readonly TableReport[]): string {
  if (found.length === 0) return `${idText(id)} is in no table, of ${tables.length} that were read`;
  return [idText(id), ...found.flatMap(rowLines)].map(visible).join('\n');
}

function rowFields(target: InspectTarget, id: bigint, found: readonly FoundRow[]): Record<string, unknown> {
  const rows = found.map((row) => {
    const { table, file, record } = row;
    const { lastUpdateSec, weights } = row.row;
    return { table, file, record, last_update_sec: lastUpdateSec, weights: [...weights], segments: rowParts(row) };
  });
  return { event: 'row', path: target.path, id, slot: slotOfFidV2(id), found: rows };
}
